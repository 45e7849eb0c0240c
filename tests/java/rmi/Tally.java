import java.io.IOException;
import java.rmi.Remote;
import java.rmi.RemoteException;

/** What is called from other processes, and by the server itself. */
public interface Tally extends Remote {
    int add(int n) throws RemoteException;

    /** Calls {@link #add} twice, in its own process. */
    int twice(int n) throws RemoteException;

    void fail(String why) throws IOException;

    /** Calls itself until there is no stack left. */
    int deep(int n) throws RemoteException;

    /** Not in the class of the object. */
    default int inherited(int n) throws RemoteException {
        return add(n) + 1;
    }
}
