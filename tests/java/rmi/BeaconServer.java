import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;

/**
 * BeaconServer PORT NAME NEXT [MS]: "end" is the last one, and the one that has the registry. Each call asks a slow database for MS. Ends when its
 * standard input does.
 */
public final class BeaconServer extends UnicastRemoteObject implements Beacon {
    private static final long serialVersionUID = 1;
    private static long slow;
    private final int port;
    private final String next;

    private BeaconServer(int port, String next) throws RemoteException {
        this.port = port;
        this.next = next;
    }

    @Override
    public int remoteFoo(int serial, int depth) throws RemoteException {
        int mine = work(serial);
        if (slow > 0) {
            query();
        }
        if (serial < 0) {
            hang();
        }
        if (next.equals("end")) {
            return mine + depth;
        }
        try {
            Beacon beacon = (Beacon) LocateRegistry.getRegistry("127.0.0.1", port).lookup(next);
            return mine + beacon.remoteFoo(serial, depth + 1);
        } catch (java.rmi.NotBoundException e) {
            throw new RemoteException(next, e);
        }
    }

    /** Never returns. */
    private static void hang() {
        System.out.println("hangs");
        while (true) {
            try {
                Thread.sleep(1000);
            } catch (InterruptedException e) {
                // Goes on.
            }
        }
    }

    private static void query() {
        try {
            Thread.sleep(slow);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int work(int serial) {
        return serial % 7;
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        slow = args.length > 3 ? Long.parseLong(args[3]) : 0;
        Registry registry = args[2].equals("end")
            ? LocateRegistry.createRegistry(port)
            : LocateRegistry.getRegistry("127.0.0.1", port);
        registry.rebind(args[1], new BeaconServer(port, args[2]));
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }
}
