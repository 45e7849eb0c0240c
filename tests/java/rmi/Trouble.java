import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.rmi.Remote;
import java.rmi.RemoteException;

/** Calls that fail, each in its own way. */
public interface Trouble extends Remote {
    void take(Object value) throws RemoteException;

    /** Takes two seconds. */
    int slow(byte[] data) throws RemoteException;

    /** A new object. */
    Trouble other() throws RemoteException;

    /** The object is gone while it is called. */
    int leave() throws RemoteException;

    /** Calls back; then every fourth one is refused by an exception that nobody has declared. */
    int back(Back back, int value) throws RemoteException;

    /** Of a client. */
    interface Back extends Remote {
        int back(int value) throws RemoteException;
    }

    /** Cannot be read. */
    final class Unreadable implements Serializable {
        private static final long serialVersionUID = 1;

        private void readObject(ObjectInputStream in) throws IOException {
            throw new IOException("unreadable");
        }
    }
}
