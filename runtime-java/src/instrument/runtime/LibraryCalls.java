package instrument.runtime;

import java.util.Arrays;

/**
 * Which ids stand for calls into libraries, as far as one was made. Nothing tells of the end of such a call by an exception: it is
 * over when an event of a frame beneath it comes. Looked at in slow paths only, and where a call is new.
 */
final class LibraryCalls {
    private static volatile long[] ids = new long[64];

    private LibraryCalls() {}

    static boolean has(int id) {
        long[] ids = LibraryCalls.ids;
        int word = id >> 6;
        return word < ids.length && (ids[word] >>> id & 1) != 0;
    }

    static synchronized void add(int id) {
        int word = id >> 6;
        long[] more = word < ids.length ? ids : Arrays.copyOf(ids, Math.max(2 * ids.length, word + 1));
        more[word] |= 1L << id;
        // Also when it is the same array: others see what is in it.
        ids = more;
    }
}
