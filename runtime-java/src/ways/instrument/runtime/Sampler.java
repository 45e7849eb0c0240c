package instrument.runtime;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * {@link Samples} where there is no agent: a thread of our own looks at each recorded thread about a thousand times a second. What it sees are the
 * thread's {@link Sampled mark} and whether the thread runs; nothing is asked of the thread, and no thread is stopped.
 *
 * <p>Looks take at most a share of one processor. With more threads than can be looked at in that time each is looked at less often; a sample
 * then stands for more of its CPU time.
 */
final class Sampler {
    /** Of a period, by so much a pause is longer or shorter, so that no period of the program keeps step: one part in so many. */
    private static final int JITTER = 5;
    /** The looks may take one part in so many of the time. */
    private static final int SHARE = 20;
    /** Threads of one look; then others have their turn. */
    private static final int MOST = 256;
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private static final Object LOCK = new Object();
    // Guarded by the lock.
    private static Sampled[] all = new Sampled[16];
    private static int count;

    /** There is only the processor on which a look takes place: no thread runs meanwhile. */
    private static boolean isAlone;
    // Of the thread that looks.
    private static boolean looks;
    /** Its CPU time after the look before. */
    private static long before;
    private static int hand;
    private static long random;

    private Sampler() {}

    /** The current thread is looked at from now on. */
    static void add(Sampled one) {
        synchronized (LOCK) {
            if (count == all.length) {
                all = Arrays.copyOf(all, 2 * count);
            }
            all[count++] = one;
        }
    }

    /** No thread is looked at any more. When this returns nothing is written into the file. */
    static void end() {
        finish();
        synchronized (LOCK) {
            for (int i = 0; i < count; i++) {
                all[i].leave();
                all[i] = null;
            }
            count = 0;
        }
    }

    /** The CPU time of every thread up to now goes into the file. */
    static void finish() {
        if (CpuClock.isOpen()) {
            for (Sampled one : known()) {
                one.finish(Pauses.goesOn());
            }
        }
    }

    /** Looks until the recording with this number is over. */
    static void run(int session) {
        for (long ns = step(session); ns >= 0; ns = step(session)) {
            LockSupport.parkNanos(ns);
        }
    }

    /** Looks once. Gives ns until the next look; below 0: the recording with this number is over, or nothing can be seen. */
    static long step(int session) {
        // Somebody may have interrupted all threads that there are: then it would not wait.
        Thread.interrupted();
        if (!looks) {
            // Code of the JDK that is called from here may have been rewritten.
            CurrentThread.leaveOut();
            if (!CpuClock.start()) {
                return -1;
            }
            isAlone = Runtime.getRuntime().availableProcessors() == 1;
            looks = true;
            before = CpuClock.now();
        }
        if (session != Recording.number || Recording.isOver()) {
            looks = false;
            return -1;
        }
        Sampled last = look();
        long took = CpuClock.now() - before;
        before += took;
        if (last != null) {
            last.tookLook(took);
        }
        random = random * GOLDEN + 1;
        long jitter = (random >>> 33) % (2 * Sampled.PERIOD / JITTER) - Sampled.PERIOD / JITTER;
        return Math.max(Sampled.PERIOD + jitter, SHARE * took);
    }

    /** Looks at threads whose turn it is. Gives one of them; null: there is none. */
    private static Sampled look() {
        Sampled[] known = known();
        Sampled last = null;
        for (int i = Math.min(known.length, MOST); i > 0; i--) {
            hand = hand + 1 < known.length ? hand + 1 : 0;
            Sampled one = known[hand];
            if (one.look(Pauses.goesOn(), isAlone)) {
                last = one;
            } else {
                remove(one);
            }
        }
        return last;
    }

    private static Sampled[] known() {
        synchronized (LOCK) {
            return Arrays.copyOf(all, count);
        }
    }

    private static void remove(Sampled one) {
        synchronized (LOCK) {
            for (int i = 0; i < count; i++) {
                if (all[i] == one) {
                    all[i] = all[--count];
                    all[count] = null;
                    return;
                }
            }
        }
    }
}
