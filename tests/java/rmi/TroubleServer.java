import java.rmi.NoSuchObjectException;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.util.ArrayList;
import java.util.List;

/** TroubleServer PORT: has a registry with a proxy and with a stub that was written by hand. Ends when its standard input does. */
public final class TroubleServer implements Trouble {
    private static final List<Trouble> ALL = new ArrayList<>();

    @Override
    public void take(Object value) {}

    @Override
    public int slow(byte[] data) {
        long until = System.nanoTime() + 4_000_000_000L;
        while (until - System.nanoTime() > 0) {
            Thread.yield();
        }
        return data.length;
    }

    @Override
    public synchronized Trouble other() throws RemoteException {
        TroubleServer other = new TroubleServer();
        ALL.add(other);
        return (Trouble) UnicastRemoteObject.exportObject(other, 0);
    }

    @Override
    public int leave() throws NoSuchObjectException {
        UnicastRemoteObject.unexportObject(this, true);
        return 7;
    }

    @Override
    public int back(Back back, int value) throws RemoteException {
        int again = back.back(value);
        if (value % 4 == 3) {
            throw new IllegalArgumentException(Integer.toString(again));
        }
        return again;
    }

    @SuppressWarnings("deprecation")
    public static void main(String[] args) throws Exception {
        Registry registry = LocateRegistry.createRegistry(Integer.parseInt(args[0]));
        registry.rebind("trouble", new TroubleServer().other());
        EchoImpl echo = new EchoImpl();
        registry.rebind("echo", UnicastRemoteObject.exportObject(echo));
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        // Until here it is held.
        System.out.println(echo.echo(0));
        System.exit(0);
    }
}
