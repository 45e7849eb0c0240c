package instrument.runtime;

import java.util.Arrays;

/**
 * Chains of callers that outlive the tree of their thread, each with a small number: what objects and waits refer to. All
 * threads share the table; whoever asks often keeps what it was told.
 */
final class Contexts {
    private static final int CHUNK = 1 << 14;
    private static final int IN_CHUNK = (CHUNK - Format.HEADER) / 8;

    private static long[] keys = new long[256];
    private static int[] table = new int[1024];
    private static Region chunk;
    private static int last;
    private static boolean full;

    private Contexts() {}

    /** The number of a context: a method's id + 1, or {@link Format#DEEPER}, under its caller. Where there is no room, the caller's. */
    static synchronized int of(int caller, int consumer) {
        long key = (long) consumer << 32 | caller;
        int i = hash(key);
        for (; table[i & table.length - 1] != 0; i++) {
            int number = table[i & table.length - 1];
            if (keys[number] == key) {
                return number;
            }
        }
        if (!room()) {
            return caller;
        }
        // The table may be a larger one now.
        for (i = hash(key); table[i & table.length - 1] != 0;) {
            i++;
        }
        last++;
        keys[last] = key;
        chunk.put(Format.HEADER_WORDS + (last - 1) % IN_CHUNK, key);
        table[i & table.length - 1] = last;
        return last;
    }

    /** The chain that ends in a context, innermost method first: id + 1 each. */
    static synchronized int[] chain(int context) {
        int[] chain = new int[16];
        int depth = 0;
        for (int at = context; at > 0 && at <= last; at = (int) keys[at]) {
            if (depth == chain.length) {
                chain = Arrays.copyOf(chain, 2 * depth);
            }
            chain[depth++] = (int) (keys[at] >>> 32);
        }
        return Arrays.copyOf(chain, depth);
    }

    /** Another recording begins. */
    static synchronized void renew() {
        keys = new long[256];
        table = new int[1024];
        chunk = null;
        last = 0;
        full = false;
    }

    private static int hash(long key) {
        return (int) (key * 0x9E3779B97F4A7C15L >>> 40);
    }

    private static boolean room() {
        if (full) {
            return false;
        }
        if (last % IN_CHUNK == 0) {
            Region fresh = Recording.file.allocate(CHUNK);
            if (fresh == null) {
                full = true;
                return false;
            }
            fresh.put(2, last + 1);
            fresh.publish(Format.CONTEXTS, 0);
            chunk = fresh;
        }
        if (last + 1 == keys.length) {
            keys = Arrays.copyOf(keys, 2 * keys.length);
        }
        if (4 * (last + 1) > 2 * table.length) {
            int[] larger = new int[2 * table.length];
            for (int number = 1; number <= last; number++) {
                int i = hash(keys[number]);
                while (larger[i & larger.length - 1] != 0) {
                    i++;
                }
                larger[i & larger.length - 1] = number;
            }
            table = larger;
        }
        return true;
    }
}
