import java.rmi.Remote;
import java.rmi.RemoteException;

/** What the processes of a storm call on each other. A serial number is that of one call, and is written down on both sides of it. */
public interface Storm extends Remote {
    /** The client is called back, with 2 more. */
    int CALLBACK = 1;
    /** The other server is called, with 1 more; it does the rest. */
    int NEXT = 2;
    /** It ends by {@link Refused}. */
    int REFUSE = 4;
    /** It ends by an exception that nobody has declared. */
    int FAIL = 8;

    long call(long serial, int what, Callback callback) throws RemoteException, Refused;

    /** A new object, which is gone already if {@code gone}. */
    Cell cell(long serial, boolean gone) throws RemoteException;

    /** An object that is called once. */
    interface Cell extends Remote {
        long hit(long serial) throws RemoteException;
    }

    /** Of the client. */
    interface Callback extends Remote {
        long back(long serial, boolean refuse) throws RemoteException, Refused;
    }

    /** What the method throws. */
    final class Refused extends Exception {
        private static final long serialVersionUID = 1;
    }
}
