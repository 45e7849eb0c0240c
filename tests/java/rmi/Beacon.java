import java.rmi.Remote;
import java.rmi.RemoteException;

/** Passes a call on to the next one. */
public interface Beacon extends Remote {
    int remoteFoo(int serial, int depth) throws RemoteException;
}
