package instrument.runtime;

import java.io.IOException;
import java.io.ObjectOutput;
import java.rmi.server.ObjID;
import java.rmi.server.RemoteRef;
import java.rmi.server.UID;

/** Reads what an ObjID, a UID or a reference consists of: it lets them write themselves, which is the one way that is public. */
final class RemoteIds implements ObjectOutput {
    /** Object number. */
    long number;
    long time;
    int unique;
    int count;
    /** Of a reference. */
    String host;
    int port;

    /** Where a reference leads to; false: it is none to a host. */
    boolean readReference(Object reference) throws IOException {
        host = null;
        if (reference instanceof RemoteRef) {
            ((RemoteRef) reference).writeExternal(this);
        }
        return host != null;
    }

    /** False: it is none. */
    boolean readObjID(Object id) throws IOException {
        if (id instanceof ObjID) {
            ((ObjID) id).write(this);
            return true;
        }
        return false;
    }

    /** False: it is none. */
    boolean readUID(Object id) throws IOException {
        if (id instanceof UID) {
            ((UID) id).write(this);
            return true;
        }
        return false;
    }

    @Override
    public void writeLong(long v) {
        // Of an ObjID the number comes first, then the time.
        number = time;
        time = v;
    }

    @Override
    public void writeInt(int v) {
        // Of a reference the port comes first.
        port = unique;
        unique = v;
    }

    @Override
    public void writeShort(int v) {
        count = v & 0xffff;
    }

    @Override
    public void writeUTF(String s) {
        host = s;
    }

    // What follows is not called, or nothing that is wanted.

    @Override
    public void writeObject(Object o) {}

    @Override
    public void write(int b) {}

    @Override
    public void write(byte[] b) {}

    @Override
    public void write(byte[] b, int offset, int length) {}

    @Override
    public void writeBoolean(boolean v) {}

    @Override
    public void writeByte(int v) {}

    @Override
    public void writeChar(int v) {}

    @Override
    public void writeFloat(float v) {}

    @Override
    public void writeDouble(double v) {}

    @Override
    public void writeBytes(String s) {}

    @Override
    public void writeChars(String s) {}


    @Override
    public void flush() {}

    @Override
    public void close() {}
}
