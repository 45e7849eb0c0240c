import java.rmi.MarshalException;
import java.rmi.RemoteException;
import java.rmi.UnexpectedException;
import java.rmi.UnmarshalException;
import java.rmi.server.Operation;
import java.rmi.server.RemoteCall;
import java.rmi.server.RemoteRef;
import java.rmi.server.RemoteStub;

/** As rmic made them: a call whose arguments cannot be written is given up without a word to the JDK. */
@SuppressWarnings("deprecation")
public final class EchoImpl_Stub extends RemoteStub implements Echo {
    private static final long serialVersionUID = 2;
    static final long HASH = 77;
    static final Operation[] OPERATIONS = {new Operation("int echo(int)"), new Operation("void take(java.lang.Object)")};

    public EchoImpl_Stub(RemoteRef ref) {
        super(ref);
    }

    @Override
    public int echo(int value) throws RemoteException {
        try {
            RemoteCall call = ref.newCall(this, OPERATIONS, 0, HASH);
            try {
                call.getOutputStream().writeInt(value);
            } catch (java.io.IOException e) {
                throw new MarshalException("error marshalling arguments", e);
            }
            ref.invoke(call);
            try {
                return call.getInputStream().readInt();
            } catch (java.io.IOException e) {
                throw new UnmarshalException("error unmarshalling return", e);
            } finally {
                ref.done(call);
            }
        } catch (RuntimeException | RemoteException e) {
            throw e;
        } catch (Exception e) {
            throw new UnexpectedException("undeclared checked exception", e);
        }
    }

    @Override
    public void take(Object value) throws RemoteException {
        try {
            RemoteCall call = ref.newCall(this, OPERATIONS, 1, HASH);
            try {
                call.getOutputStream().writeObject(value);
            } catch (java.io.IOException e) {
                throw new MarshalException("error marshalling arguments", e);
            }
            ref.invoke(call);
            ref.done(call);
        } catch (RuntimeException | RemoteException e) {
            throw e;
        } catch (Exception e) {
            throw new UnexpectedException("undeclared checked exception", e);
        }
    }
}
