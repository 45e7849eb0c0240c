import java.lang.reflect.Method;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.UnexpectedException;
import java.rmi.server.Operation;
import java.rmi.server.RemoteCall;
import java.rmi.server.RemoteRef;
import java.rmi.server.RemoteStub;

/** As rmic made them: an operation of the first protocol and methods of the second. */
public final class Echo_Stub extends RemoteStub implements Remote {
    private static final Operation[] OPERATIONS = {new Operation("int old(int)")};
    private static final Method METHOD = null;

    Echo_Stub(RemoteRef ref) {
        super(ref);
    }

    int old(int n) throws RemoteException {
        try {
            RemoteCall call = ref.newCall(this, OPERATIONS, 0, 5L);
            try {
                call.getOutputStream().writeInt(n);
            } catch (java.io.IOException e) {
                throw new java.rmi.MarshalException("arguments", e);
            }
            ref.invoke(call);
            ref.done(call);
            return n;
        } catch (RemoteException e) {
            throw e;
        } catch (Exception e) {
            throw new UnexpectedException("undeclared", e);
        }
    }

    int echo(int n) throws Exception {
        return n < 0 ? n : (Integer) ref.invoke(this, METHOD, new Object[] {n}, 7L);
    }

    /** Branches lead to its first instruction. */
    void loop(Object[] counter) throws Exception {
        do {
            ref.invoke(this, METHOD, counter, 8L);
        } while (((int[]) counter[0])[0]-- > 0);
    }
}
