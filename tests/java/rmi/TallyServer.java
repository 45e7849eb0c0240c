import java.io.FileNotFoundException;
import java.io.IOException;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.server.UnicastRemoteObject;

/** TallyServer PORT: calls its own object, before it is ready and as long as it runs. Ends when its standard input does. */
public final class TallyServer implements Tally {
    private int sum;

    private TallyServer() {}

    @Override
    public synchronized int add(int n) {
        sum += n;
        return n;
    }

    @Override
    public int twice(int n) {
        return add(n) + add(n);
    }

    @Override
    public void fail(String why) throws IOException {
        try {
            add(1);
        } finally {
            refuse(why);
        }
    }

    private static void refuse(String why) throws IOException {
        if (why.isEmpty()) {
            throw new RemoteException("nothing");
        }
        throw new FileNotFoundException(why);
    }

    @Override
    public int deep(int n) {
        return deep(n + 1) + 1;
    }

    private void callLocally() {
        for (int i = 0; i < 100; i++) {
            add(i);
            twice(i);
            try {
                fail("local");
            } catch (IOException e) {
                sum--;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        final TallyServer server = new TallyServer();
        server.callLocally();
        Thread local = new Thread() {
            @Override
            public void run() {
                while (true) {
                    server.callLocally();
                    try {
                        sleep(1);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        };
        local.setDaemon(true);
        local.start();
        LocateRegistry.createRegistry(port).rebind("tally", UnicastRemoteObject.exportObject(server, 0));
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }
}
