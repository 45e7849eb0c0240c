import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.RMISocketFactory;
import java.rmi.server.UnicastRemoteObject;

/**
 * StormClient PORT INDEX THREADS CALLS [FIRST_LOCAL_PORT]: each thread makes its calls to the servers "a" and "b" in turn. Call k of
 * thread t of client i has the serial i * 1,000,000 + t * 10,000 + k. With a local port, ports are used again as soon as they can be.
 */
public final class StormClient {
    private StormClient() {}

    public static void main(String[] args) throws Exception {
        final int port = Integer.parseInt(args[0]);
        final int index = Integer.parseInt(args[1]);
        final int calls = Integer.parseInt(args[3]);
        if (args.length > 4) {
            RMISocketFactory.setSocketFactory(new FewPorts(Integer.parseInt(args[4])));
        }
        final Storm.Callback callback = new Storm.Callback() {
            @Override
            public int back(int serial) {
                return serial;
            }
        };
        UnicastRemoteObject.exportObject(callback, 0);
        Registry registry = LocateRegistry.getRegistry("127.0.0.1", port);
        final Storm[] servers = {(Storm) registry.lookup("a"), (Storm) registry.lookup("b")};
        Thread[] threads = new Thread[Integer.parseInt(args[2])];
        final int[] wrong = new int[1];
        for (int t = 0; t < threads.length; t++) {
            final int first = index * 1_000_000 + t * 10_000;
            threads[t] = new Thread("storm-" + t) {
                @Override
                public void run() {
                    for (int k = 0; k < calls; k++) {
                        try {
                            one(servers[k % 2], first + k, k % 3 == 0 ? callback : null);
                        } catch (Exception e) {
                            e.printStackTrace();
                            synchronized (wrong) {
                                wrong[0]++;
                            }
                        }
                    }
                }
            };
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(wrong[0] + " wrong");
        System.exit(0);
    }

    private static void one(Storm server, int serial, Storm.Callback callback) throws Exception {
        String outcome;
        try {
            outcome = Integer.toString(server.cell(serial, callback).hit(serial));
        } catch (Storm.Refused e) {
            outcome = "refused";
        } catch (IllegalArgumentException e) {
            outcome = "seven";
        }
        String expected = serial % 5 == 0 ? "refused" : serial % 7 == 0 ? "seven" : Integer.toString(serial);
        if (!outcome.equals(expected)) {
            throw new IllegalStateException(serial + ": " + outcome);
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
                    if (tries == 200) {
                        throw new BindException(e.toString());
                    }
                }
            }
        }

        @Override
        public ServerSocket createServerSocket(int port) throws IOException {
            return new ServerSocket(port);
        }
    }
}
