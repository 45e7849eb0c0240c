import java.rmi.Remote;
import java.rmi.RemoteException;

/** Hands out objects that are called once each, so that the number of a call is that of its object. */
public interface Storm extends Remote {
    Cell cell(int serial, Callback callback) throws RemoteException;

    /** One object, called once. */
    interface Cell extends Remote {
        int hit(int serial) throws RemoteException, Refused;
    }

    /** Of the client. */
    interface Callback extends Remote {
        int back(int serial) throws RemoteException;
    }

    /** What the method throws. */
    final class Refused extends Exception {
        private static final long serialVersionUID = 1;
    }
}
