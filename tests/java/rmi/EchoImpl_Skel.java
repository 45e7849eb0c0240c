import java.rmi.MarshalException;
import java.rmi.Remote;
import java.rmi.UnmarshalException;
import java.rmi.server.Operation;
import java.rmi.server.RemoteCall;
import java.rmi.server.Skeleton;
import java.rmi.server.SkeletonMismatchException;

@SuppressWarnings("deprecation")
public final class EchoImpl_Skel implements Skeleton {
    @Override
    public Operation[] getOperations() {
        return EchoImpl_Stub.OPERATIONS.clone();
    }

    @Override
    public void dispatch(Remote object, RemoteCall call, int operation, long hash) throws Exception {
        if (hash != EchoImpl_Stub.HASH) {
            throw new SkeletonMismatchException("interface hash mismatch");
        }
        Object argument;
        try {
            java.io.ObjectInput in = call.getInputStream();
            argument = operation == 0 ? (Object) in.readInt() : in.readObject();
        } catch (java.io.IOException e) {
            throw new UnmarshalException("error unmarshalling arguments", e);
        } finally {
            call.releaseInputStream();
        }
        EchoImpl server = (EchoImpl) object;
        int result = 0;
        if (operation == 0) {
            result = server.echo((Integer) argument);
        } else {
            server.take(argument);
        }
        try {
            java.io.ObjectOutput out = call.getResultStream(true);
            if (operation == 0) {
                out.writeInt(result);
            }
        } catch (java.io.IOException e) {
            throw new MarshalException("error marshalling return", e);
        }
    }
}
