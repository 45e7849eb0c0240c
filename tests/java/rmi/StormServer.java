import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** StormServer PORT NAME [registry]. Says which object has which number; ends when its standard input does. */
public final class StormServer extends UnicastRemoteObject implements Storm {
    private static final long serialVersionUID = 1;
    private static final Pattern NUMBER = Pattern.compile("objID:\\[[^\\]]*?(-?\\d+)\\]");

    private StormServer() throws RemoteException {}

    @Override
    public Cell cell(int serial, Callback callback) throws RemoteException {
        OneCell cell = new OneCell(serial, callback);
        Matcher number = NUMBER.matcher(cell.toString());
        if (!number.find()) {
            throw new RemoteException(cell.toString());
        }
        synchronized (System.out) {
            System.out.println("cell " + serial + " " + number.group(1));
        }
        return cell;
    }

    private static final class OneCell extends UnicastRemoteObject implements Cell {
        private static final long serialVersionUID = 1;
        private final int serial;
        private final transient Callback callback;

        OneCell(int serial, Callback callback) throws RemoteException {
            this.serial = serial;
            this.callback = callback;
        }

        @Override
        public int hit(int serial) throws RemoteException, Refused {
            if (serial != this.serial) {
                throw new IllegalStateException(serial + " for " + this.serial);
            }
            if (serial % 5 == 0) {
                throw new Refused();
            }
            if (serial % 7 == 0) {
                throw new IllegalArgumentException("seven");
            }
            return callback == null ? serial : callback.back(serial);
        }
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        Registry registry = args.length > 2
            ? LocateRegistry.createRegistry(port)
            : LocateRegistry.getRegistry("127.0.0.1", port);
        registry.rebind(args[1], new StormServer());
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        System.exit(0);
    }
}
