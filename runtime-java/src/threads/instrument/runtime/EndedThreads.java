package instrument.runtime;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The sums of threads that ended and have no rows of their own any more: one for each pool, as {@code pool-1-thread-*}, one for each context that
 * started threads without a name, and one for all the others. There is an end to their number. Guarded by the lock of {@link Threads}.
 */
final class EndedThreads {
    /** Up to so many sums the last number of a name becomes a star, and contexts have sums of their own. */
    private static final int POOLS = 64;
    /** Up to so many every number of a name does; then a thread belongs to the others. */
    private static final int MOST = 128;

    private static final byte[] NO_NAME = {};
    private static ThreadState others;
    private static final ThreadState[] SUMS = new ThreadState[MOST];
    private static final byte[][] NAMES = new byte[MOST][];
    private static int count;

    private EndedThreads() {}

    /** The sum that an ended thread is to be added to; null: there is no room for a new one. */
    static ThreadState of(ThreadState state) {
        byte[] name = nameOf(state);
        if (name.length > 0) {
            byte[] pool = pool(name, false);
            int at = find(pool, 0);
            if (at < 0 && count >= POOLS) {
                pool = pool(name, true);
                at = find(pool, 0);
            }
            if (at >= 0 || count < MOST) {
                return at >= 0 ? SUMS[at] : add(pool, 0);
            }
        } else if (state.link != 0) {
            int at = find(NO_NAME, state.link);
            if (at >= 0 || count < POOLS) {
                return at >= 0 ? SUMS[at] : add(NO_NAME, state.link);
            }
        }
        if (others == null) {
            ThreadState sum = Recorder.get().newState(null);
            others = sum.allocateRegions(Format.ENDED) ? sum : null;
        }
        return others;
    }

    /** Another recording begins. */
    static void renew() {
        others = null;
        Arrays.fill(SUMS, null);
        Arrays.fill(NAMES, null);
        count = 0;
    }

    private static byte[] nameOf(ThreadState state) {
        byte[] name = new byte[(int) state.header.get(Format.THREAD_EXTRA)];
        ByteBuffer body = state.header.body();
        body.get(name);
        return name;
    }

    private static int find(byte[] name, int link) {
        for (int i = 0; i < count; i++) {
            if (SUMS[i].link == link && Arrays.equals(NAMES[i], name)) {
                return i;
            }
        }
        return -1;
    }

    private static ThreadState add(byte[] name, int link) {
        ThreadState sum = Recorder.get().newState(null);
        sum.ordinal = ++Recording.threads;
        if (!sum.allocateRegions(Format.ENDED)) {
            return null;
        }
        if (link != 0) {
            Links.use(link);
        }
        sum.link = link;
        sum.header.put(Format.ENDED_NAME, name, name.length);
        sum.header.put(Format.ENDED_NAME_LENGTH, name.length);
        sum.header.put(Format.THREAD_LINK, link);
        SUMS[count] = sum;
        NAMES[count++] = name;
        return sum;
    }

    /**
     * A name with a star in the place of its last number, or of all. A number that a letter follows is part of a word. No longer than there
     * is room for.
     */
    private static byte[] pool(byte[] name, boolean all) {
        byte[] pool = new byte[name.length];
        int length = pool.length;
        int end = name.length;
        boolean done = false;
        // From the end to the beginning, and so is the result.
        while (end > 0) {
            int begin = end;
            while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') {
                begin--;
            }
            if (begin < end && !done && !isLetter(end < name.length ? name[end] : 0)) {
                pool[--length] = '*';
                done = !all;
                end = begin;
            } else {
                do {
                    pool[--length] = name[--end];
                } while (end > begin);
            }
        }
        int to = Math.min(pool.length, length + Format.ENDED_NAME_ROOM);
        // Not within a character of UTF-8.
        while (to < pool.length && (pool[to] & 0xc0) == 0x80) {
            to--;
        }
        return Arrays.copyOfRange(pool, length, to);
    }

    private static boolean isLetter(int c) {
        return c < 0 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
    }
}
