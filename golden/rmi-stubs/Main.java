import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.lang.reflect.Method;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.server.Operation;
import java.rmi.server.RemoteCall;
import java.rmi.server.RemoteObject;
import java.rmi.server.RemoteRef;

/** Calls a stub and a skeleton whose reference is not the JDK's. */
public final class Main implements RemoteRef, RemoteCall, Remote {
    private static final long serialVersionUID = 1;
    private final boolean broken;

    private Main(boolean broken) {
        this.broken = broken;
    }

    public static void main(String[] args) throws Exception {
        Echo_Stub stub = new Echo_Stub(new Main(false));
        System.out.println(stub.old(3) + stub.echo(4) + stub.echo(-1));
        stub.loop(new Object[] {new int[] {2}});
        Echo_Stub broken = new Echo_Stub(new Main(true));
        for (int i = 0; i < 2; i++) {
            try {
                System.out.println(i == 0 ? broken.old(5) : broken.echo(6));
            } catch (Exception e) {
                System.out.println(e.getClass().getName());
            }
        }
        Main call = new Main(false);
        Echo_Skel skeleton = new Echo_Skel();
        skeleton.dispatch(call, call, 0, 5);
        try {
            skeleton.dispatch(call, call, 1, 6);
        } catch (RemoteException e) {
            System.out.println(e.getMessage());
        }
    }

    @Override
    public Object invoke(Remote object, Method method, Object[] arguments, long hash) throws Exception {
        if (broken) {
            throw new IllegalStateException("invoke");
        }
        return arguments[0];
    }

    @Override
    public RemoteCall newCall(RemoteObject object, Operation[] operations, int operation, long hash) {
        return this;
    }

    @Override
    public void invoke(RemoteCall call) {}

    @Override
    public void done(RemoteCall call) {}

    @Override
    public String getRefClass(ObjectOutput out) {
        return null;
    }

    @Override
    public int remoteHashCode() {
        return 1;
    }

    @Override
    public boolean remoteEquals(RemoteRef other) {
        return other == this;
    }

    @Override
    public String remoteToString() {
        return "";
    }

    @Override
    public void writeExternal(ObjectOutput out) {}

    @Override
    public void readExternal(ObjectInput in) {}

    @Override
    public ObjectOutput getOutputStream() throws IOException {
        if (broken) {
            throw new IOException("no stream");
        }
        return new ObjectOutputStream(new ByteArrayOutputStream());
    }

    @Override
    public void releaseOutputStream() {}

    @Override
    public ObjectInput getInputStream() {
        return null;
    }

    @Override
    public void releaseInputStream() {}

    @Override
    public ObjectOutput getResultStream(boolean success) {
        return null;
    }

    @Override
    public void executeCall() {}

    @Override
    public void done() {}
}
