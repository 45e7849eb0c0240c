import java.rmi.NotBoundException;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** StormServer PORT NAME OTHER [registry]: OTHER is the server that it calls. Ends when its standard input does, and tells what it did. */
public final class StormServer extends UnicastRemoteObject implements Storm {
    private static final long serialVersionUID = 1;
    private static final Queue<Cell> CELLS = new ConcurrentLinkedQueue<>();
    private final transient Registry registry;
    private final String other;
    private transient Storm next;

    private StormServer(Registry registry, String other) throws RemoteException {
        this.registry = registry;
        this.other = other;
    }

    @Override
    public long call(long serial, int what, Callback callback) throws RemoteException, Refused {
        StormLog.served(serial);
        if ((what & NEXT) != 0) {
            return next().call(StormLog.made(serial + 1), what & ~NEXT, callback) - 1;
        }
        if ((what & CALLBACK) != 0) {
            callback.back(StormLog.made(serial + 2), (what & REFUSE) != 0);
        }
        if ((what & REFUSE) != 0) {
            throw new Refused();
        }
        if ((what & FAIL) != 0) {
            throw new IllegalArgumentException("failed");
        }
        return serial;
    }

    private synchronized Storm next() throws RemoteException {
        try {
            if (next == null) {
                next = (Storm) registry.lookup(other);
            }
            return next;
        } catch (NotBoundException e) {
            throw new RemoteException(other, e);
        }
    }

    @Override
    public Cell cell(long serial, boolean gone) throws RemoteException {
        StormLog.served(serial);
        OneCell cell = new OneCell();
        Cell stub = (Cell) UnicastRemoteObject.exportObject(cell, 0);
        if (gone) {
            UnicastRemoteObject.unexportObject(cell, true);
        } else {
            // Nothing else has it until its client has told the collector.
            CELLS.add(cell);
        }
        return stub;
    }

    private static final class OneCell implements Cell {
        @Override
        public long hit(long serial) {
            StormLog.served(serial);
            return serial;
        }
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        Registry registry = args.length > 3
            ? LocateRegistry.createRegistry(port)
            : LocateRegistry.getRegistry("127.0.0.1", port);
        registry.rebind(args[1], new StormServer(registry, args[2]));
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        StormLog.print();
        System.exit(0);
    }
}
