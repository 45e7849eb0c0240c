import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.rmi.NoSuchObjectException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMISocketFactory;
import java.rmi.server.UnicastRemoteObject;

/**
 * StormClient PORT INDEX THREADS CALLS [FIRST_LOCAL_PORT]: each thread makes its calls to the servers "a" and "b" in turn, and tells what it
 * did. Connections that have not been used for a moment are given up; with a local port, ports are used again as soon as they can be.
 */
public final class StormClient {
    private final Storm[] servers;
    private final Registry registry;
    private final Storm.Callback callback;
    private int wrong;

    private StormClient(int port) throws Exception {
        registry = LocateRegistry.getRegistry("127.0.0.1", port);
        servers = new Storm[] {(Storm) registry.lookup("a"), (Storm) registry.lookup("b")};
        callback = new Back();
        UnicastRemoteObject.exportObject(callback, 0);
    }

    private static final class Back implements Storm.Callback {
        @Override
        public long back(long serial, boolean refuse) throws Storm.Refused {
            StormLog.served(serial);
            if (refuse) {
                throw new Storm.Refused();
            }
            return serial;
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 4) {
            RMISocketFactory.setSocketFactory(new FewPorts(Integer.parseInt(args[4])));
        }
        final StormClient client = new StormClient(Integer.parseInt(args[0]));
        final int calls = Integer.parseInt(args[3]);
        Thread[] threads = new Thread[Integer.parseInt(args[2])];
        for (int t = 0; t < threads.length; t++) {
            final long first = (Long.parseLong(args[1]) * 100 + t) * 1_000_000;
            threads[t] = new Thread("storm-" + t) {
                @Override
                public void run() {
                    for (int k = 0; k < calls; k++) {
                        client.one(k, first + 10L * k);
                    }
                }
            };
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(client.wrong + " wrong");
        StormLog.print();
        System.exit(0);
    }

    private void one(int k, long serial) {
        Storm server = servers[k % 2];
        int what = (k % 4 == 1 ? Storm.CALLBACK : k % 4 == 2 ? Storm.NEXT : k % 8 == 3 ? Storm.NEXT | Storm.CALLBACK : 0)
            | (k % 5 == 0 ? Storm.REFUSE : k % 7 == 0 ? Storm.FAIL : 0);
        String expected = k % 5 == 0 ? "refused" : k % 7 == 0 ? "failed" : Long.toString(serial);
        String outcome;
        try {
            outcome = Long.toString(server.call(StormLog.made(serial), what, callback));
        } catch (Storm.Refused e) {
            outcome = "refused";
        } catch (IllegalArgumentException e) {
            outcome = e.getMessage();
        } catch (Exception e) {
            outcome = e.toString();
        }
        tell(expected, outcome);
        try {
            if (k % 32 == 31) {
                boolean gone = k % 64 == 63;
                Storm.Cell cell = server.cell(StormLog.made(serial + 4), gone);
                try {
                    outcome = Long.toString(cell.hit(StormLog.made(serial + 5)));
                } catch (NoSuchObjectException e) {
                    outcome = "gone";
                }
                tell(gone ? "gone" : Long.toString(serial + 5), outcome);
            }
            if (k % 100 == 0) {
                tell("2", Integer.toString(registry.list().length));
            }
            if (k % 50 == 49) {
                // Connections are given up meanwhile.
                Thread.sleep(40);
            }
        } catch (Exception e) {
            tell("nothing", e.toString());
        }
    }

    private synchronized void tell(String expected, String outcome) {
        if (!outcome.equals(expected)) {
            wrong++;
            System.err.println(outcome + " instead of " + expected);
        }
    }

    /** Connects from a dozen local ports. */
    private static final class FewPorts extends RMISocketFactory {
        private final int first;
        private int next;

        FewPorts(int first) {
            this.first = first;
        }

        @Override
        public Socket createSocket(String host, int port) throws IOException {
            for (int tries = 0;; tries++) {
                Socket socket = new Socket();
                try {
                    socket.setReuseAddress(true);
                    // Closed at once: the port is free again.
                    socket.setSoLinger(true, 0);
                    synchronized (this) {
                        next = (next + 1) % 12;
                        socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), first + next));
                    }
                    socket.connect(new InetSocketAddress(host, port));
                    return socket;
                } catch (IOException e) {
                    socket.close();
                    if (tries == 2000) {
                        throw new BindException(e.toString());
                    }
                    if (tries % 12 == 11) {
                        pause();
                    }
                }
            }
        }

        /** All ports are taken; who has them may be waiting for the processor. */
        private static void pause() throws IOException {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }

        @Override
        public ServerSocket createServerSocket(int port) throws IOException {
            return new ServerSocket(port);
        }
    }
}
