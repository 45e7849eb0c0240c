package instrument.runtime;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls of a method that are kept in the whole process, each in a region of the file: those with the largest keys. The key of a call is how long it took, which leaves the worst ones, or
 * drawn at random, which leaves a sample in which each call is as likely as any other. A process that is killed while one takes the place of another may leave both.
 */
final class WorstOf {
    /** So many are kept of a method; and so many bytes of all methods together. */
    private static final int WORST = 10;
    private static final long WORST_BYTES = 32L << 20;
    /** The same of those that are drawn. */
    private static final int DRAWN = 50;
    private static final long DRAWN_BYTES = 16L << 20;
    private static final AtomicLong WORST_TAKEN = new AtomicLong();
    private static final AtomicLong DRAWN_TAKEN = new AtomicLong();

    /** By id; null: none of the method's contexts was met. */
    private static volatile WorstOf[] all = {};

    /** Calls with no larger key are not kept. Others look without a lock. */
    volatile long least;
    /** Those of the same method that are drawn; null: these are. */
    final WorstOf drawn;
    private final long[] keys;
    /** Null: there is none, or it found no room. */
    private final Region[] regions;
    private final AtomicLong taken;
    private final long bytes;

    private WorstOf(WorstOf drawn, int most, AtomicLong taken, long bytes) {
        this.drawn = drawn;
        keys = new long[most];
        regions = new Region[most];
        this.taken = taken;
        this.bytes = bytes;
    }

    static synchronized WorstOf method(int id) {
        WorstOf[] known = all;
        if (id >= known.length) {
            known = Arrays.copyOf(known, Math.max(2 * known.length, id + 1));
        }
        if (known[id] == null) {
            WorstOf drawn = new WorstOf(null, DRAWN, DRAWN_TAKEN, DRAWN_BYTES);
            known[id] = new WorstOf(drawn, WORST, WORST_TAKEN, WORST_BYTES);
        }
        all = known;
        return known[id];
    }

    /** Another recording begins. */
    static synchronized void renew() {
        all = new WorstOf[0];
        WORST_TAKEN.set(0);
        DRAWN_TAKEN.set(0);
    }

    /** Takes a call of this thread, in the place of the one with the least key. */
    synchronized void take(long key, WorstCall call, long ns, long end, long flags, int ordinal) {
        int at = 0;
        for (int i = 1; i < keys.length; i++) {
            at = keys[i] < keys[at] ? i : at;
        }
        if (key <= keys[at]) {
            // Another thread was faster.
            return;
        }
        Region before = regions[at];
        // What it displaces makes room for it, if only once it is there.
        long room = bytes - taken.get() + (before == null ? 0 : before.length);
        Region region = call.write(ns, end, drawn == null ? flags | Format.WORST_DRAWN : flags, room);
        if (region == null && drawn == null) {
            // Without the calls that take much room the others would be no sample.
            giveUp();
            return;
        }
        if (region != null) {
            taken.addAndGet(region.length);
            region.publish(Format.WORST_CALL, ordinal);
        }
        release(at);
        regions[at] = region;
        keys[at] = key;
        long fewest = Long.MAX_VALUE;
        for (long of : keys) {
            fewest = Math.min(fewest, of);
        }
        least = fewest;
    }

    private void giveUp() {
        least = Long.MAX_VALUE;
        for (int i = 0; i < keys.length; i++) {
            keys[i] = Long.MAX_VALUE;
            release(i);
        }
    }

    private void release(int at) {
        if (regions[at] != null) {
            taken.addAndGet(-regions[at].length);
            Recording.file.release(regions[at]);
            regions[at] = null;
        }
    }
}
