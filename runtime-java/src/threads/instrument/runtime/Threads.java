package instrument.runtime;

/**
 * The threads that have regions in the file. When there are many threads, those that ended
 * are added up by pool ({@link EndedThreads}) and their regions used again, so that a million short threads need no more room than
 * those alive at one time. A trace stays where it is.
 */
final class Threads {
    /** As {@link Settings#keptThreads}, of virtual threads: there is one for each task, often without a name. */
    private static final int KEPT_VIRTUAL = 16;
    /** Threads looked at for each thread that comes: dead ones cannot pile up. */
    private static final int SWEEP = 4;
    static final Object LOCK = new Object();

    private static ThreadState[] states = new ThreadState[64];
    private static volatile ThreadTable table = new ThreadTable();
    private static int count;
    private static int hand;
    /** Of these, virtual ones. */
    private static int virtual;
    /** Threads that have recorded something so far. */
    private static int attached;

    private Threads() {}

    /** Another recording begins. */
    static void renew() {
        synchronized (LOCK) {
            Recording.renew();
            states = new ThreadState[64];
            table = new ThreadTable();
            count = 0;
            hand = 0;
            virtual = 0;
            attached = 0;
        }
    }

    /** Whether a thread is inside the runtime, on a slow path. */
    static boolean isAnyBusy() {
        synchronized (LOCK) {
            for (int i = 0; i < count; i++) {
                Thread thread = states[i].thread.get();
                if (states[i].mode == ThreadState.BUSY && thread != null && thread.isAlive()) {
                    return true;
                }
            }
            return false;
        }
    }

    /** A state of the one kind that this process uses. */
    static ThreadState newState(Thread owner) {
        switch (Recording.settings.record) {
            case Settings.TREE:
                return TreeState.create(owner);
            case Settings.TRACE:
                return TraceState.create(owner);
            case Settings.SAMPLES:
                // Of a program with probes, too.
                ThreadState inert = CountsState.create(owner);
                inert.mode = ThreadState.OFF;
                return inert;
            default:
                return CountsState.create(owner);
        }
    }

    /** The state of the current thread, which has none in its thread locals; a new one unless it has lost them. */
    static ThreadState stateOf(Thread thread) {
        // Who holds the lock may be waiting for the helper; and code of the JDK that it calls may have been rewritten.
        if (thread == Mapper.helper || LocalState.resumesVirtual(thread)) {
            ThreadState off = newState(thread);
            off.mode = ThreadState.OFF;
            return off;
        }
        if (table.lacks(thread)) {
            return newState(thread);
        }
        synchronized (LOCK) {
            ThreadState known = table.find(thread);
            if (known != null) {
                return known;
            }
        }
        return newState(thread);
    }

    /** Gives the current thread its regions; false: it will not be recorded, and its mode says why. */
    static boolean attach(ThreadState state) {
        Thread thread = Thread.currentThread();
        // Only final methods of Thread are called: the others may be the program's.
        byte[] name = Region.utf8(thread.getName(), Format.THREAD_NAME);
        state.isVirtual = LocalState.isVirtual(thread);
        synchronized (LOCK) {
            for (int i = 0; i < SWEEP && count > 0; i++) {
                sweep();
            }
            if (count == states.length) {
                states = java.util.Arrays.copyOf(states, 2 * count);
            }
            state.ordinal = Recording.threads + 1;
            state.link = ThreadLinks.fetch(thread);
            if (!state.allocateRegions(Format.THREAD)) {
                state.stop();
                return false;
            }
            state.header.put(Format.HEADER, name, name.length);
            state.header.put(Format.THREAD_EXTRA, name.length);
            Recording.threads++;
            attached++;
            virtual += state.isVirtual ? 1 : 0;
            states[count++] = state;
            table.add(state, thread);
        }
        state.attached();
        state.header.put(Format.THREAD_START, Clock.now());
        state.header.put(Format.THREAD_LINK, state.link);
        if (JavaThreads.on) {
            JavaThreads.attached(state);
        }
        return true;
    }

    /** Whether a thread keeps its own row after it ended. */
    private static boolean isKept(ThreadState state) {
        // Objects refer to the threads that made them.
        boolean fits = !state.isVirtual || virtual <= KEPT_VIRTUAL || Recording.settings.biographies;
        return fits && count <= Recording.settings.keptThreads;
    }

    /** Looks at one thread; folds it if it ended and there are many. */
    private static void sweep() {
        hand = hand + 1 < count ? hand + 1 : 0;
        ThreadState state = states[hand];
        if (!seenToEnd(state) || state.folds() && isKept(state)) {
            return;
        }
        ThreadState sum = state.folds() ? EndedThreads.of(state) : null;
        if (state.folds() && sum == null) {
            return;
        }
        Lines.ended(state);
        virtual -= state.isVirtual ? 1 : 0;
        states[hand] = states[--count];
        states[count] = null;
        table.remove(state);
        if (state.folds()) {
            state.header.put(Format.THREAD_FOLDED_INTO, sum.ordinal);
            if (state.foldInto(sum)) {
                Links.folded(state, null, sum.ordinal);
                Regions.folded(state, sum);
                state.folded(sum);
            }
        }
    }

    private static boolean seenToEnd(ThreadState state) {
        Thread thread = state.thread.get();
        if (thread != null && thread.isAlive()) {
            return false;
        }
        if (state.header.get(Format.THREAD_END) == 0) {
            state.header.put(Format.THREAD_END, Clock.now());
        }
        state.isInside(false);
        return true;
    }

    /** What all threads have counted of their lines. */
    static LineTable lines() {
        synchronized (LOCK) {
            LineTable sum = Lines.sumOfEnded();
            for (int i = 0; i < count; i++) {
                states[i].lines.addTo(sum);
            }
            return sum;
        }
    }

    /** How many threads have recorded something so far. */
    static int attached() {
        synchronized (LOCK) {
            return attached;
        }
    }

    /** Writes when threads ended. */
    static void markEnded() {
        Running.forgetEnded();
        synchronized (LOCK) {
            for (int i = 0; i < count; i++) {
                seenToEnd(states[i]);
            }
        }
    }

    /** A state whose regions no reader sees; null: there is no room. */
    static ThreadState scratch(Thread owner) {
        ThreadState scratch = newState(owner);
        return scratch.allocateRegions(Format.FREE) ? scratch : null;
    }
}
