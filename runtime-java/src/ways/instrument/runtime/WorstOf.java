package instrument.runtime;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/** The calls of a method that took longest in the whole process, each in a region of the file. A process that is killed while one takes the place of another may leave both. */
final class WorstOf {
    /** So many are kept of a method. */
    private static final int MOST = 10;
    /** And so many bytes of all methods together. */
    private static final long MOST_BYTES = 32L << 20;
    private static final AtomicLong BYTES = new AtomicLong();

    /** By id; null: none of the method's contexts was met. */
    private static volatile WorstOf[] all = {};

    /** Calls that took no longer are not among the worst. Others look without a lock. */
    volatile long least;
    private final long[] ns = new long[MOST];
    /** Null: there is none, or it found no room. */
    private final Region[] regions = new Region[MOST];

    private WorstOf() {}

    static synchronized WorstOf method(int id) {
        WorstOf[] known = all;
        if (id >= known.length) {
            known = Arrays.copyOf(known, Math.max(2 * known.length, id + 1));
        }
        if (known[id] == null) {
            known[id] = new WorstOf();
        }
        all = known;
        return known[id];
    }

    /** Another recording begins. */
    static synchronized void renew() {
        all = new WorstOf[0];
        BYTES.set(0);
    }

    static boolean hasRoom(int bytes) {
        return BYTES.get() + bytes <= MOST_BYTES;
    }

    /** Takes a call of this thread, in the place of the least bad one; null: it found no room. */
    synchronized void take(long took, Region region, int ordinal) {
        int at = 0;
        for (int i = 1; i < MOST; i++) {
            at = ns[i] < ns[at] ? i : at;
        }
        if (took <= ns[at]) {
            // Another thread was faster.
            if (region != null) {
                Recording.file.release(region);
            }
            return;
        }
        if (region != null) {
            BYTES.addAndGet(region.length);
            region.publish(Format.WORST_CALL, ordinal);
        }
        if (regions[at] != null) {
            BYTES.addAndGet(-regions[at].length);
            Recording.file.release(regions[at]);
        }
        regions[at] = region;
        ns[at] = took;
        long fewest = Long.MAX_VALUE;
        for (long of : ns) {
            fewest = Math.min(fewest, of);
        }
        least = fewest;
    }
}
