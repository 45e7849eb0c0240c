import java.io.Serializable;
import java.rmi.Remote;
import java.rmi.RemoteException;

/** What the hand-written stub and skeleton are for. */
public interface Echo extends Remote {
    int echo(int value) throws RemoteException;

    void take(Object value) throws RemoteException;

    /** Cannot be written. */
    final class Unwritable implements Serializable {
        private static final long serialVersionUID = 1;
        private final Object nothing = new Object();

        @Override
        public String toString() {
            return nothing.toString();
        }
    }
}
