import java.rmi.Remote;
import java.rmi.server.Operation;
import java.rmi.server.RemoteCall;
import java.rmi.server.Skeleton;
import java.rmi.server.SkeletonMismatchException;

public final class Echo_Skel implements Skeleton {
    @Override
    public void dispatch(Remote object, RemoteCall call, int operation, long hash) throws Exception {
        if (hash != 5) {
            throw new SkeletonMismatchException("hash");
        }
        synchronized (object) {
            System.out.println("dispatched " + operation);
        }
    }

    @Override
    public Operation[] getOperations() {
        return null;
    }
}
