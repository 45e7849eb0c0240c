package instrument.runtime;

import java.nio.ByteBuffer;

/** What the agent's heap profiler does for the recorder. The native methods are there if {@link #here} is set. */
final class HeapAgent {
    // Bits of what {@link #made} gives.
    static final int KNOWN = 1;
    static final int NO_ROOM = 2;
    static final int WANTS_OBJECTS = 4;
    static final int WANTS_COLLECTIONS = 8;

    /** Set by the agent before the recorder begins. */
    static boolean here;

    private HeapAgent() {}

    /** The native methods are registered. */
    static void registered(byte[] nothing) {
        here = true;
    }

    /** Whether objects of a class are to be recorded; its name as {@code Class.getTypeName()} gives it. */
    static native boolean follows(String type);

    /** Bytes of an object, header and padding included. */
    static native long size(Object object);

    /** Begins the biography of an object. If it may have one already it is asked: that takes as long as to begin one. */
    static native int made(Object object, int type, int thread, int context, int units, boolean ask);

    /** Hands over room for records. */
    static native boolean room(int kind, ByteBuffer body, long first);
}
