package instrument.runtime;

import java.util.Arrays;

/**
 * Calls into libraries, recorded where they are made, under ids of their own. Nothing tells of the end of such a call by an exception:
 * it is over when an event of a frame beneath it comes. So it has to be known which ids these are, in slow paths only; that is
 * learned from the calls, all threads together.
 */
final class LibraryCalls {
    /** From here on ids are those of {@link ValueNames}: no method has such a one, and a trace has room for them. */
    static final int FIRST_VALUE = 1 << Format.NUMBER_BITS - 1;
    private static volatile long[] ids = new long[64];

    private LibraryCalls() {}

    /** Whether a frame of the shadow stack is that of such a call. */
    static boolean isFrame(long frame) {
        return frame > 0 && has(Format.idPlusOne(frame) - 1);
    }

    static boolean has(int id) {
        if (isValue(id)) {
            return true;
        }
        long[] known = ids;
        int word = id >> 6;
        return word < known.length && (known[word] >>> id & 1) != 0;
    }

    /** Whether an id is that of a value, and of no method. */
    static boolean isValue(int id) {
        return id >>> Format.NUMBER_BITS - 1 == 1;
    }

    static synchronized void add(int id) {
        int word = id >> 6;
        long[] more = word < ids.length ? ids : Arrays.copyOf(ids, Math.max(2 * ids.length, word + 1));
        more[word] |= 1L << id;
        // Also when it is the same array: others see what is in it.
        ids = more;
    }
}
