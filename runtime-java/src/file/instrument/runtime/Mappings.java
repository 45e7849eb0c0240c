package instrument.runtime;

import java.nio.ByteBuffer;

/** Mappings that the agent makes, where there is one: they go with the recording, and wait for no garbage collection. */
final class Mappings {
    /** There is such an agent. */
    static volatile boolean here;

    private Mappings() {}

    /** The native methods are registered. */
    static void registered(byte[] nothing) {
        here = true;
    }

    /** Maps a part of a profile, which may lie behind its end, if it has this nonce; null: it cannot be mapped so. */
    static native ByteBuffer map(byte[] path, long nonce, long offset, int length);

    /** All of them are of a recording that is over, and whose file is so long. What was mapped is memory of zeros then, for who writes still. */
    static native void end(long length);
}
