package instrument.runtime;

import java.nio.charset.Charset;

/**
 * The threads that have regions in the file, and the start of recording. When there are many threads, those that ended
 * are folded into one accumulator and their regions used again, so that a million short threads need no more room than
 * those alive at one time.
 */
final class Threads {
    /** Up to this many threads keep a row of their own after they ended. */
    private static final int KEPT = 256;
    /** Threads looked at for each thread that comes: dead ones cannot pile up. */
    private static final int SWEEP = 4;
    private static final Object LOCK = new Object();

    /** Null: recording is off, or did not start yet. */
    static volatile ProfileFile file;
    private static boolean started;
    private static boolean complained;

    private static ThreadState[] states = new ThreadState[64];
    private static int count;
    private static int hand;
    private static int ordinals;
    private static ThreadState ended;

    private Threads() {}

    /** Gives the current thread its regions; false: it will not be recorded, and its mode says why. */
    static boolean attach(ThreadState state) {
        if (!started()) {
            start();
        }
        if (file == null) {
            state.mode = ThreadState.OFF;
            return false;
        }
        Thread thread = Thread.currentThread();
        // Only final methods of Thread are called: the others may be the program's.
        byte[] name = nameOf(thread);
        synchronized (LOCK) {
            for (int i = 0; i < SWEEP && count > KEPT; i++) {
                sweep();
            }
            if (count == states.length) {
                states = java.util.Arrays.copyOf(states, 2 * count);
            }
            state.ordinal = ordinals + 1;
            if (!state.allocateRegions(Format.THREAD)) {
                state.stop();
                return false;
            }
            ordinals++;
            states[count++] = state;
        }
        state.header.put(Format.HEADER, name, name.length);
        state.header.put(Format.THREAD_EXTRA, name.length);
        return true;
    }

    private static byte[] nameOf(Thread thread) {
        String name = thread.getName();
        int room = Format.THREAD_LENGTH - Format.HEADER;
        Charset utf8 = Charset.forName("UTF-8");
        byte[] bytes = name.getBytes(utf8);
        for (int end = Math.min(name.length(), room); bytes.length > room; end--) {
            bytes = name.substring(0, end).getBytes(utf8);
        }
        return bytes;
    }

    /** Looks at one thread; folds it if it ended. */
    private static void sweep() {
        hand = hand + 1 < count ? hand + 1 : 0;
        ThreadState state = states[hand];
        Thread thread = state.thread.get();
        if (thread != null && thread.isAlive()) {
            return;
        }
        if (ended == null) {
            ThreadState sum = new ThreadState(null);
            if (!sum.allocateRegions(Format.ENDED)) {
                return;
            }
            ended = sum;
        }
        states[hand] = states[--count];
        states[count] = null;
        state.foldInto(ended);
    }

    private static boolean started() {
        synchronized (LOCK) {
            return started;
        }
    }

    /** Opens the file. Code of the program's class loader may run, so no lock is held around it. */
    private static void start() {
        Settings settings = new Settings();
        boolean first = false;
        synchronized (LOCK) {
            if (!started) {
                if (settings.recording) {
                    try {
                        file = new ProfileFile(settings);
                        first = true;
                    } catch (Throwable e) {
                        Log.say("cannot create the profile, nothing is recorded: " + e);
                    }
                }
                started = true;
            }
        }
        if (first) {
            try {
                byte[] properties = Host.properties().getBytes("UTF-8");
                file.write(Format.PROPERTIES, properties, properties.length);
                Host.copyIdMaps(file);
                warmUp();
            } catch (Exception e) {
                Log.say("the profile has no id map: " + e);
            }
        }
    }

    /**
     * Uses once what a probe may need later, so that nothing is loaded or linked in one when the stack is nearly full. The
     * thread is inside the runtime: its probes do nothing.
     */
    private static void warmUp() {
        new Throwable().getStackTrace();
        ClassNames.number(Object.class);
        ProfilerRuntime.methodExit(0);
        ProfilerRuntime.methodUnwind(0);
        ProfilerRuntime.superReturned(0);
        ProfilerRuntime.exceptionCaught(0);
        ThreadState scratch = new ThreadState(null);
        if (scratch.allocateRegions(Format.THREAD)) {
            scratch.header.hide();
            scratch.exercise();
        }
    }

    /** Says once why a thread is no longer recorded. */
    static void complain(Throwable reason) {
        if (!complained) {
            complained = true;
            Log.say("recording stopped in a thread: " + reason.getClass().getName());
        }
    }
}
