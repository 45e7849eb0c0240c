package instrument.runtime;

import java.util.concurrent.locks.AbstractOwnableSynchronizer;

/**
 * What the agent calls when a thread cannot go on because of a monitor, and when it goes on. The thread may have monitors of the
 * program: nothing here takes a lock, waits, or loads a class. What the recorder waits for itself is not recorded.
 */
final class Monitors {
    /** Locks of the JDK, which wait for whoever has them; other synchronizers without an owner are no locks. */
    private static final String LOCKS = "java.util.concurrent.locks.Reentrant";

    private Monitors() {}

    /** Loads and links what a callback needs. */
    static void warmUp() {
        int[] none = new int[0];
        Wait wait = new Wait(Wait.WAITING, 0, 0, 0, none, 0, new Chain(0, none), Wait.NOT_PARKED);
        wait.cancel();
        NoteWriter.leave(wait);
        begin(Wait.WAITING, none, 0, 0, 0, now());
        end(Wait.WAITING, false);
        parking(none);
    }

    /** The current thread does not wait, whatever it was about to do. */
    static void forget() {
        ThreadState state = CurrentThread.fresh();
        if (state != null && state.wait != null) {
            ((Wait) state.wait).cancel();
            state.wait = null;
        }
    }

    /** The clock of the profile. */
    static long now() {
        return Clock.now();
    }

    /** Numbers of a thread (upper half) and a monitor, as the agent gives them; 0: the thread is the recorder's. */
    private static native long numbers(Thread thread, Object monitor);

    /** The number of the thread that has a lock; 0: nobody has it. */
    private static native int lockOwner(Object synchronizer);

    /** The state of the current thread; null: its waits are not recorded. */
    private static ThreadState waiting() {
        ThreadState state = CurrentThread.fresh();
        if (state == null) {
            state = CurrentThread.newState();
        }
        boolean recorded = state != null && state.mode != ThreadState.BUSY && state.mode != ThreadState.OFF && !state.isPaused();
        return recorded ? state : null;
    }

    /** The current thread is about to park because of this. */
    static void parking(Object blocker) {
        try {
            ThreadState state = waiting();
            if (state == null) {
                return;
            }
            long clock = now();
            long numbers = numbers(Thread.currentThread(), blocker);
            int thread = (int) (numbers >>> 32);
            if (thread == 0 || isOwn(blocker.getClass())) {
                return;
            }
            boolean ownable = blocker instanceof AbstractOwnableSynchronizer;
            int owner = ownable ? lockOwner(blocker) : 0;
            // A lock that readers have, or that was given back just now, has no owner.
            boolean contended = owner != 0 || ownable && blocker.getClass().getName().startsWith(LOCKS);
            record(state, contended ? Wait.CONTENDED : Wait.WAITING, blocker, (int) numbers, thread, 0, clock, owner);
        } catch (Throwable e) {
            Recording.file.drop();
        }
    }

    /** It goes on. */
    static void parked() {
        long clock = now();
        try {
            ThreadState state = CurrentThread.fresh();
            Wait wait = state == null || state.mode == ThreadState.BUSY ? null : (Wait) state.wait;
            if (wait != null && wait.parks()) {
                state.wait = null;
                wait.end(clock, false);
            }
        } catch (Throwable e) {
            Recording.complain(e);
        }
    }

    /** The current thread is about to wait. Monitor and thread have the numbers that the agent gave them. */
    static void begin(int kind, Object monitor, int number, int thread, long timeout, long clock) {
        try {
            ThreadState state = waiting();
            if (state == null) {
                return;
            }
            // Without the monitor Object.wait throws, and does not say so to the agent.
            if (kind == Wait.WAITING && !Thread.holdsLock(monitor)) {
                return;
            }
            // What the recorder itself waits for, before this thread is BUSY.
            if (isOwn(monitor instanceof Class ? (Class<?>) monitor : monitor.getClass())) {
                return;
            }
            // The end of the process waits for our own hook.
            if (monitor instanceof Thread && OwnThreads.isOwn((Thread) monitor)) {
                return;
            }
            record(state, kind, monitor, number, thread, timeout, clock, Wait.NOT_PARKED);
        } catch (Throwable e) {
            Recording.file.drop();
        }
    }

    private static void record(
        ThreadState state, int kind, Object monitor, int number, int thread, long timeout, long clock, int owner) {
        if (state.wait != null) {
            // Its end did not come.
            ((Wait) state.wait).cancel();
            state.wait = null;
        }
        int mode = state.mode;
        state.mode = ThreadState.BUSY;
        try {
            JavaThreads.met(state, thread, clock);
            Chain chain = mode == state.live ? state.chain() : null;
            Wait wait = new Wait(kind, thread, clock, number, monitor, timeout, chain, owner);
            if (NoteWriter.leave(wait)) {
                state.wait = wait;
            }
        } finally {
            state.mode = mode;
        }
    }

    /** Whether a class is the recorder's. The name of a class is made once, and the classes of the recorder are of few loaders. */
    private static boolean isOwn(Class<?> type) {
        return type.getClassLoader() == Monitors.class.getClassLoader() && type.getName().startsWith("instrument.runtime.");
    }

    /** The current thread goes on. */
    static void end(int kind, boolean timedOut) {
        long clock = now();
        try {
            ThreadState state = CurrentThread.fresh();
            Wait wait = state == null || state.mode == ThreadState.BUSY ? null : (Wait) state.wait;
            if (wait != null && wait.kind == kind && !wait.parks()) {
                state.wait = null;
                wait.end(clock, timedOut);
            }
        } catch (Throwable e) {
            Recording.complain(e);
        }
    }

    /** The process ends; so many calls could not be made for want of stack. */
    static void finish(int missed) {
        NoteWriter.finish();
        for (int i = 0; i < missed; i++) {
            Recording.file.drop();
        }
    }
}
