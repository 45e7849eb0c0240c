package instrument.runtime;

import java.io.IOException;
import java.io.ObjectOutput;
import java.rmi.server.ObjID;
import java.rmi.server.UID;

/** Reads the numbers that an ObjID or a UID consists of: it lets them write themselves, which is the one way that is public. */
final class RemoteIds implements ObjectOutput {
    /** Object number. */
    long number;
    long time;
    int unique;
    int count;

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
        unique = v;
    }

    @Override
    public void writeShort(int v) {
        count = v & 0xffff;
    }

    // What follows is not called.

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
    public void writeUTF(String s) {}

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
