package instrument.runtime;

import java.util.Arrays;

/** The methods whose calls have their durations kept: see {@link Durations}. */
final class Kept {
    /** The threshold of a method without one, in ns. */
    static final long NO_THRESHOLD = Long.MAX_VALUE;

    /** Thresholds by id; 0: durations of the method are not kept. */
    private static volatile long[] thresholds = {};
    /** How often methods were added that may have been called before. */
    private static volatile int additions;

    private Kept() {}

    /** ns; 0: durations of the consumer of a node are not kept. */
    static long threshold(int consumer) {
        long[] known = thresholds;
        int id = consumer - 1;
        return id >= 0 && id < known.length ? known[id] : 0;
    }

    /** From now on durations of this method are kept. Others look at the array without a lock. */
    static synchronized void add(int id, long threshold) {
        long[] known = thresholds;
        if (id >= known.length) {
            known = Arrays.copyOf(known, Math.max(2 * known.length, id + 1));
        }
        // Of two patterns that match the smaller threshold tells more.
        known[id] = known[id] == 0 ? threshold : Math.min(known[id], threshold);
        // Also where it is the same array: others see what was written before.
        thresholds = known;
    }

    /** Methods were added that may have been called before: each thread looks for contexts that it has of them. */
    static synchronized void added() {
        additions++;
    }

    static int additions() {
        return additions;
    }

    /** Another recording begins. */
    static synchronized void renew() {
        thresholds = new long[0];
        additions = 0;
    }
}
