package instrument.runtime;

import java.nio.charset.Charset;

/**
 * The threads that have regions in the file, and the start of recording. When there are many threads, those that ended
 * are added up by pool ({@link EndedThreads}) and their regions used again, so that a million short threads need no more room than
 * those alive at one time. A trace stays where it is.
 */
final class Threads {
    /** As {@link Settings#keptThreads}, of virtual threads: there is one for each task, often without a name. */
    private static final int KEPT_VIRTUAL = 16;
    /** Threads looked at for each thread that comes: dead ones cannot pile up. */
    private static final int SWEEP = 4;
    private static final Object LOCK = new Object();

    /** What the user chose; null until the first event. */
    static volatile Settings settings;
    /** It is a calling context tree. Known a little earlier than the other settings. */
    static volatile boolean recordsTree;
    /** Null: recording is off, or did not start yet. */
    static volatile ProfileFile file;
    /** Why there is none, if it could not be created. */
    static volatile String refusal;
    /** Set in a thread that reads the settings. */
    private static final ThreadLocal<Thread> CONFIGURING = new ThreadLocal<Thread>();
    private static boolean started;
    /** Remote calls are recorded. */
    static volatile boolean hasRemoteCalls;
    private static boolean complained;

    private static ThreadState[] states = new ThreadState[64];
    private static volatile ThreadTable table = new ThreadTable();
    private static int count;
    private static int hand;
    /** Of these, virtual ones. */
    private static int virtual;
    private static int ordinals;
    /** Threads that have recorded something so far. */
    private static int attached;

    private Threads() {}

    /** Another recording begins. */
    static void renew() {
        synchronized (LOCK) {
            settings = null;
            file = null;
            started = false;
            hasRemoteCalls = false;
            complained = false;
            states = new ThreadState[64];
            table = new ThreadTable();
            count = 0;
            hand = 0;
            virtual = 0;
            ordinals = 0;
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

    /** Reads the settings if nobody did; false: this thread is about to. Code of the program's class loader may run. */
    static boolean configured() {
        if (settings != null) {
            return true;
        }
        if (CONFIGURING.get() != null) {
            return false;
        }
        CONFIGURING.set(Thread.currentThread());
        try {
            Settings read = new Settings();
            long[] roots = read.roots == null ? null : Roots.find(read.roots);
            // Not under the lock: to load a class may take one of a class loader.
            recordsTree = read.record == Settings.TREE;
            TreeProbes.setUp();
            Gate.set();
            synchronized (LOCK) {
                if (settings == null) {
                    if (roots != null) {
                        Roots.publish(roots);
                    }
                    settings = read;
                }
            }
            ThreadState nowhere = newState(null);
            nowhere.mode = ThreadState.OFF;
            LocalState.nowhere = nowhere;
        } finally {
            CONFIGURING.remove();
        }
        return true;
    }

    /** A state of the one kind that this process uses. */
    static ThreadState newState(Thread owner) {
        switch (settings.record) {
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
        if (thread == Mapper.helper) {
            // Who holds the lock may be waiting for it.
            return newState(thread);
        }
        if (LocalState.resumesVirtual(thread)) {
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
        byte[] name = utf8(thread.getName(), Format.THREAD_NAME);
        state.isVirtual = JavaThreads.isVirtual(thread);
        synchronized (LOCK) {
            for (int i = 0; i < SWEEP && count > 0; i++) {
                sweep();
            }
            if (count == states.length) {
                states = java.util.Arrays.copyOf(states, 2 * count);
            }
            state.ordinal = ordinals + 1;
            state.link = ThreadLinks.fetch(thread);
            if (!state.allocateRegions(Format.THREAD)) {
                state.stop();
                return false;
            }
            state.header.put(Format.HEADER, name, name.length);
            state.header.put(Format.THREAD_EXTRA, name.length);
            ordinals++;
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

    /** As much of a text as there is room for, in bytes. */
    static byte[] utf8(String name, int room) {
        Charset utf8 = Charset.forName("UTF-8");
        byte[] bytes = name.getBytes(utf8);
        for (int end = Math.min(name.length(), room); bytes.length > room; end--) {
            bytes = name.substring(0, end).getBytes(utf8);
        }
        return bytes;
    }

    /** Whether a thread keeps its own row after it ended. */
    private static boolean isKept(ThreadState state) {
        // Objects refer to the threads that made them.
        boolean fits = !state.isVirtual || virtual <= KEPT_VIRTUAL || settings.biographies;
        return fits && count <= settings.keptThreads;
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
            state.foldInto(sum);
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

    /** The number of a sum of ended threads. Under the lock. */
    static int nextOrdinal() {
        return ++ordinals;
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

    /** Opens the file, if that was not done; false: nothing is recorded. */
    static boolean start() {
        boolean first = false;
        synchronized (LOCK) {
            if (!started) {
                if (settings.record != Settings.OFF) {
                    try {
                        file = Privileged.open(settings);
                        first = true;
                    } catch (Throwable e) {
                        if (ThreadStop.is(e)) {
                            // The thread ends; another one begins anew.
                            throw (Error) e;
                        }
                        String cure = !Privileged.managed()
                            ? ""
                            : ". There is a security manager: grant the program's jar java.security.AllPermission in its policy"
                                + " file, or start the program as it was with `instrument run`";
                        refusal = e + cure;
                        Log.say("cannot create the profile, nothing is recorded: " + refusal);
                    }
                }
                if (file == null) {
                    Gate.close();
                    ThreadState.recording = ThreadState.NEVER;
                }
                started = true;
            }
        }
        if (first) {
            // Code of the program's class loader may run, so no lock is held.
            file.write(Format.PROPERTIES, Host.properties(settings));
            try {
                Host.copyIdMaps(file);
            } catch (Exception e) {
                Log.say("the profile has no id map: " + e);
            }
            PatchedJdk.check(settings);
            warmUp();
            Lifetime.start(file, settings);
            if (ThreadState.roots != null) {
                Gate.watch();
                // From now on who is inside keeps it open.
                Gate.count(-1);
            }
        }
        return file != null;
    }

    /**
     * Uses once what a probe may need later, so that nothing is loaded or linked in one when the stack is nearly full. The
     * thread is inside the runtime: its probes do nothing.
     */
    private static void warmUp() {
        Throwable throwable = new Throwable();
        throwable.getStackTrace();
        ThreadStop.is(throwable);
        ClassNames.of(new Object());
        HandOver.wrap((Runnable) null);
        Regions.end(0);
        Bytecodes.methodExit(0, 0);
        Bytecodes.methodUnwind(0, 0);
        Bytecodes.pending(0, 0);
        Lines.counters(0, 0, 0);
        ProfilerRuntime.methodExit(0);
        ProfilerRuntime.methodUnwind(0);
        ProfilerRuntime.superReturned(0);
        ProfilerRuntime.exceptionCaught(0);
        ThreadState scratch = scratch(null);
        if (scratch != null) {
            Rehearsal.run(scratch);
        }
    }

    /** A state whose regions no reader sees; null: there is no room. */
    static ThreadState scratch(Thread owner) {
        ThreadState scratch = newState(owner);
        return scratch.allocateRegions(Format.FREE) ? scratch : null;
    }

    /** Says once why a thread is no longer recorded. */
    static void complain(Throwable reason) {
        if (!complained) {
            complained = true;
            Log.say("recording stopped in a thread: " + reason.getClass().getName());
        }
    }
}
