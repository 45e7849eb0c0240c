package instrument.runtime;

/** Which methods were entered, if the agent asks: what they call is rewritten only then. */
final class Entered {
    /** The agent asks. */
    static volatile boolean wanted;
    private static long[] seen = new long[16];
    private static int[] fresh = new int[64];
    private static int count;

    private Entered() {}

    /** A method has a record of its own, or one in another context. */
    static synchronized void note(int id) {
        int word = id >>> 6;
        if (word >= seen.length) {
            long[] more = new long[Math.max(2 * seen.length, word + 1)];
            System.arraycopy(seen, 0, more, 0, seen.length);
            seen = more;
        }
        if ((seen[word] & 1L << id) != 0) {
            return;
        }
        seen[word] |= 1L << id;
        if (count == fresh.length) {
            int[] more = new int[2 * count];
            System.arraycopy(fresh, 0, more, 0, count);
            fresh = more;
        }
        fresh[count++] = id;
    }

    /** The ids of those that were entered since this was called, four bytes each. */
    static synchronized byte[] take() {
        wanted = true;
        byte[] ids = new byte[4 * count];
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < 4; j++) {
                ids[4 * i + j] = (byte) (fresh[i] >> 8 * (3 - j));
            }
        }
        count = 0;
        return ids;
    }

    /** Another recording begins. */
    static synchronized void renew() {
        wanted = false;
        seen = new long[16];
        count = 0;
    }
}
