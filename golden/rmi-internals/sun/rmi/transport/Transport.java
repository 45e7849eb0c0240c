package sun.rmi.transport;

import java.io.ObjectInput;
import java.rmi.server.ObjID;
import java.rmi.server.RemoteCall;

/** Has what is looked for in the JDK's class of this name, with every way out. */
abstract class Transport {
    abstract ObjectInput input(RemoteCall call);

    public boolean serviceCall(RemoteCall call) {
        ObjID id;
        try {
            id = ObjID.read(input(call));
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
        synchronized (this) {
            if (id.hashCode() == 0) {
                return false;
            }
        }
        return true;
    }
}
