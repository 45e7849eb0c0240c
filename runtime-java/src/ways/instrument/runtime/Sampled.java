package instrument.runtime;

import java.lang.ref.WeakReference;

/**
 * A thread that {@link Sampler} looks at. A look is a sample only while the thread runs: so one that waits has none. Each sample stands for the same part of
 * the thread's CPU time, also where looks come late: one that stood for more would make few looks appear as certain as many.
 *
 * <p>Whether a thread runs is not to be asked for; but if it does its CPU time advances between two questions. Other threads read the mark without any
 * order: it is one word, which has what belongs together.
 */
final class Sampled {
    // Bits of a mark beside the number of a node.
    /** A probe runs. */
    static final long PROBE = 1L << 63;
    /** The thread is not recorded any more. */
    static final long LOST = 1L << 62;

    /** ns of CPU time between two samples. */
    static final long PERIOD = 1000000;

    /** What made the samples, in the word of the region: see the format. */
    private static final long SOURCE_THREAD = 3;
    /** A thread that was not seen to run is asked again after so many looks at the latest. */
    private static final int LONGEST_REST = 64;
    /** A thread that has run so many in a hundred of the time since the last look runs, too, if the look itself has taken its processor. */
    private static final int ALWAYS = 90;

    private final WeakReference<Thread> thread;
    /** Number of the thread. */
    private final long id;
    private final Words words;
    /** Index of the first word of its region of samples. */
    private final int region;
    private final long began = System.nanoTime();

    // Guarded by this object.
    /** Its region belongs to others. */
    private boolean hasLeft;
    /** CPU time that belongs to nobody: before the first event, and in pauses; -1: not asked yet. */
    private long base = -1;
    /** CPU time at the last question, and when that was. */
    private long cpu;
    private long asked;

    // Of the thread that looks.
    private long lastMark;
    /** Looks before the thread is asked again. */
    private int rest;
    private int nextRest;

    /** Of the current thread. The number: as the virtual machine has it; none above 0: it has to be asked. */
    Sampled(Thread thread, long number, Words words, int region) {
        this.thread = new WeakReference<Thread>(thread);
        id = number <= 0 ? thread.getId() : number;
        this.words = words;
        this.region = region;
        put(Format.SAMPLES_PERIOD, PERIOD);
        put(Format.SAMPLES_SOURCE, SOURCE_THREAD);
    }

    /** False: the thread has ended, or is not to be looked at any more. */
    boolean look(boolean isPaused, boolean isAlone) {
        Thread thread = this.thread.get();
        if (thread == null || !thread.isAlive()) {
            return false;
        }
        long mark = words.get(region + Format.MARK);
        boolean canRun = canRun(thread);
        if (rest > 0 && (!canRun || mark == lastMark)) {
            rest--;
            return true;
        }
        lastMark = mark;
        long before = cpu;
        long since = asked;
        if (!ask(isPaused)) {
            return false;
        }
        long ran = cpu - before;
        if (isPaused || before == 0) {
            return true;
        }
        mark = words.get(region + Format.MARK);
        if (canRun && ran > 0 && (isAlone || 100 * ran >= ALWAYS * (asked - since) || CpuClock.of(id) > cpu)) {
            rest = 0;
            nextRest = 0;
            return count(mark);
        }
        nextRest = Math.min(2 * nextRest + 1, LONGEST_REST);
        rest = nextRest;
        return true;
    }

    /** Whether it may be running, as far as the virtual machine knows. */
    private static boolean canRun(Thread thread) {
        try {
            return thread.getState() == Thread.State.RUNNABLE;
        } catch (Throwable e) {
            // The program's own class says otherwise.
            return true;
        }
    }

    /** Asks for the CPU time, and writes it. False: there is none. */
    private synchronized boolean ask(boolean isPaused) {
        long now = CpuClock.of(id);
        if (hasLeft || now < 0) {
            return false;
        }
        asked = System.nanoTime();
        if (base < 0) {
            // It has run for no longer than it has been known.
            base = Math.max(0, now - (asked - began));
        } else if (isPaused) {
            base += now - cpu;
        }
        cpu = now;
        put(Format.SAMPLES_CPU, now - base);
        return true;
    }

    private synchronized boolean count(long mark) {
        if (hasLeft) {
            return false;
        }
        int node = (int) mark & Format.NODE_MASK;
        if ((mark & PROBE) != 0) {
            add(region + Format.SAMPLES_IN_PROBES, 1);
        } else if ((mark & LOST) != 0) {
            add(region + Format.SAMPLES_UNKNOWN, 1);
        } else if (node == 0) {
            add(region + Format.SAMPLES_IN_NO_CALL, 1);
        } else {
            add(TreeNodes.place(node) + Format.NODE_SAMPLES, 1);
        }
        return true;
    }

    /** A look has taken so many ns of CPU time. */
    synchronized void tookLook(long ns) {
        if (!hasLeft) {
            add(region + Format.SAMPLES_HANDLER, ns);
        }
    }

    /** Nothing follows. */
    void finish(boolean isPaused) {
        ask(isPaused);
    }

    /** Its region is about to belong to others. */
    synchronized void leave() {
        hasLeft = true;
    }

    private void put(int word, long value) {
        words.put(region + word, value);
    }

    private void add(int index, long more) {
        words.put(index, words.get(index) + more);
    }
}
