package instrument.runtime;

/**
 * The probes that injected code calls, each with the id of the method it is in. They record exactly, in one of
 * the ways that {@link ThreadState} has subclasses for, in the profile of this process. After a thread has met a method in a context, its probes allocate nothing, take no lock, do no
 * I/O and load no class. Entry probes let StackOverflowError through, having recorded nothing: the call overflowed. No
 * other failure reaches the program, but for ThreadDeath.
 */
public final class ProfilerRuntime {
    private static final LocalState LOCAL = new LocalState();

    // Any thread may write these at any time; whatever is read belongs to the thread that it says.
    static ThreadState first;
    private static ThreadState second;
    // While there is a state on trial.
    private static ThreadState ownState;
    private static ThreadState ownFirst;
    /** Its recording. */
    private static int trial;

    private ProfilerRuntime() {}

    // The probes of a tree are methods of TreeProbes, which HotSpot calls; all others it makes a part of their callers. To ask whether an id is negative, which none is,
    // costs nothing there, and makes these methods larger than the 35 bytes that C1 makes a part of each caller: a program would take a sixth longer to start. (As
    // <= -1 it takes one byte more than as < 0, which is needed.)

    /** A method was called; its frame is ready at once. */
    public static void methodEntry(int id) {
        if (id <= -1 || !Gate.isOpen(id)) {
            return;
        }
        if (Gate.isSet() && TreeProbes.USED) {
            TreeProbes.entry(id);
        } else {
            entry(id);
        }
    }

    /** A constructor was called; its frame is pending until {@link #superReturned}. */
    public static void constructorEntry(int id) {
        if (id <= -1 || !Gate.isOpen(id)) {
            return;
        }
        if (Gate.isSet() && TreeProbes.USED) {
            TreeProbes.constructor(id);
        } else {
            constructor(id);
        }
    }

    /** A method or constructor is about to return. */
    public static void methodExit(int id) {
        if (id <= -1 || !Gate.isOpen()) {
            return;
        }
        if (Gate.isSet() && TreeProbes.USED) {
            TreeProbes.exit(id);
        } else {
            exit(id);
        }
    }

    /** An exception is about to leave a method, or a constructor after its super(). */
    public static void methodUnwind(int id) {
        if (id <= -1 || !Gate.isOpen()) {
            return;
        }
        if (Gate.isSet() && TreeProbes.USED) {
            TreeProbes.other(id, TreeProbes.UNWIND);
        } else {
            unwind(id);
        }
    }

    /** The super() or this() of a constructor has returned. */
    public static void superReturned(int id) {
        if (id <= -1 || !Gate.isOpen()) {
            return;
        }
        if (Gate.isSet() && TreeProbes.USED) {
            TreeProbes.other(id, TreeProbes.SUPER_RETURNED);
        } else {
            constructed(id);
        }
    }

    /** A handler of the method itself is about to run: every frame above is gone. */
    public static void exceptionCaught(int id) {
        if (id <= -1 || !Gate.isOpen()) {
            return;
        }
        if (Gate.isSet() && TreeProbes.USED) {
            TreeProbes.other(id, TreeProbes.CAUGHT);
        } else {
            caught(id);
        }
    }

    /** A method of a library is about to be called. */
    public static void libraryEnter(int id) {
        if (!Gate.isOpen(id)) {
            return;
        }
        StackReserve.frame();
        ThreadState state = null;
        try {
            state = current();
            if (state == null) {
                state = newState();
            }
            if (state != null && !state.enterLibrary(id)) {
                LibraryCalls.enter(state, id);
            }
        } catch (Throwable e) {
            entryFailed(state, e);
        }
    }

    /** It has returned. */
    public static void libraryExit(int id) {
        if (!Gate.isOpen()) {
            return;
        }
        ThreadState state = null;
        try {
            state = current();
            if (state == null) {
                state = newState();
            }
            if (state != null && !state.exit(id)) {
                LibraryCalls.exit(state, id);
            }
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it.
        } catch (Throwable e) {
            failed(state, e);
        }
    }

    // ---- what the probes do ----

    // What is a part of each method that has probes is only what a thread does that has a place, and whose event needs nothing. All else is in SlowProbes, and has handlers of
    // its own: where nothing is called, the handlers here are no code.

    static void entry(int id) {
        StackReserve.frame();
        ThreadState state = null;
        boolean done;
        try {
            state = placed();
            done = state != null && state.enter(id);
        } catch (Throwable e) {
            entryFailed(state, e);
            return;
        }
        if (!done) {
            SlowProbes.entry(state, id, 0);
        }
    }

    static void constructor(int id) {
        StackReserve.frame();
        ThreadState state = null;
        boolean done;
        try {
            state = placed();
            done = state != null && state.enterConstructor(id);
        } catch (Throwable e) {
            entryFailed(state, e);
            return;
        }
        if (!done) {
            SlowProbes.entry(state, id, Format.PENDING);
        }
    }

    static void exit(int id) {
        ThreadState state = null;
        boolean done;
        try {
            state = placed();
            done = state != null && state.exit(id);
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            failed(state, e);
            return;
        }
        if (!done) {
            SlowProbes.end(state, id, Format.EXITS);
        }
    }

    static void unwind(int id) {
        ThreadState state = null;
        boolean done;
        try {
            state = placed();
            done = state != null && state.unwind(id);
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            failed(state, e);
            return;
        }
        if (!done) {
            SlowProbes.end(state, id, Format.UNWINDS);
        }
    }

    static void constructed(int id) {
        ThreadState state = null;
        boolean done;
        try {
            state = placed();
            done = state != null && state.superReturned(id);
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            failed(state, e);
            return;
        }
        if (!done) {
            SlowProbes.other(state, id, true);
        }
    }

    static void caught(int id) {
        ThreadState state = null;
        boolean done;
        try {
            state = placed();
            done = state != null && state.caught(id);
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            failed(state, e);
            return;
        }
        if (!done) {
            SlowProbes.other(state, id, false);
        }
    }

    static void entryFailed(ThreadState state, Throwable failure) {
        if (failure instanceof StackOverflowError) {
            throw (StackOverflowError) failure;
        }
        failed(state, failure);
    }

    /**
     * The state of the current thread; null: nobody has read the settings. ThreadLocal.get is half of what a probe costs, so two threads are looked
     * up by identity first; one that keeps missing takes a place. Weak references: a place keeps no thread alive.
     */
    static ThreadState current() {
        ThreadState state = placed();
        return state == null ? unplaced(Thread.currentThread()) : state;
    }

    /** The same if the thread has a place, else null. */
    private static ThreadState placed() {
        Thread thread = Thread.currentThread();
        ThreadState state = first;
        if (state != null && Owner.is(state, thread)) {
            return state;
        }
        state = second;
        return state != null && Owner.is(state, thread) ? state : null;
    }

    /** The state of the current thread, which has no place. */
    static ThreadState unplaced(Thread thread) {
        ThreadState state = LOCAL.of(thread);
        if (state != null && (state.misses++ & 0xffff) == 0) {
            place(state);
        }
        return state;
    }

    /** What {@link #current} gives once the settings are read; null: this thread is about to read them, its events are not recorded. */
    static ThreadState newState() {
        if (!Threads.configured()) {
            return null;
        }
        ThreadState state = LOCAL.make(Thread.currentThread());
        if (state != null && state.misses++ == 0) {
            place(state);
        }
        return state;
    }

    /** As {@link #current}, for whoever is not in a hurry: never the state of a recording that is over. */
    static ThreadState fresh() {
        ThreadState state = current();
        return state == null || !state.isOld() ? state : renewed(state);
    }

    /** The state of the current thread in this recording, in the place of the one that it had in an earlier one. */
    static ThreadState renewed(ThreadState old) {
        ThreadState state = Session.isOver() || !Threads.configured() ? null : LOCAL.make(Thread.currentThread());
        if (state == null) {
            return LocalState.nowhere;
        }
        state.owner = Owner.of(Thread.currentThread());
        if (first == old) {
            first = state;
        }
        if (second == old) {
            second = state;
        }
        return state;
    }

    /** No thread has a place any more. */
    static void renew() {
        first = null;
        second = null;
    }

    /** A new state takes a place that is free, one that keeps missing takes the first. */
    private static void place(ThreadState state) {
        if (state == LocalState.nowhere) {
            return;
        }
        state.owner = Owner.of(Thread.currentThread());
        if (isFree(first)) {
            first = state;
        } else if (isFree(second)) {
            second = state;
        } else if (state.misses > 1) {
            second = first;
            first = state;
        }
    }

    /** Never records the current thread, which is our own. */
    static void leaveOut() {
        if (Threads.configured()) {
            ThreadState state = Threads.newState(Thread.currentThread());
            state.mode = ThreadState.OFF;
            LOCAL.put(state);
        }
    }

    /**
     * Puts a state on trial in the place of that of the current thread, and in the place that is looked at first; null: puts
     * back what was there.
     */
    static void onTrial(ThreadState state) {
        if (state != null) {
            Gate.count(state.session, 1);
            trial = state.session;
            ownState = LOCAL.state();
            ownFirst = first;
            LOCAL.put(state);
            state.owner = Owner.of(Thread.currentThread());
            first = state;
        } else {
            first = ownFirst;
            LOCAL.put(ownState);
            Gate.count(trial, -1);
        }
    }

    private static boolean isFree(ThreadState place) {
        return place == null || place.thread.get() == null;
    }

    /** Ends the recording of a thread; only ThreadDeath goes on. */
    static void failed(ThreadState state, Throwable failure) {
        boolean death = false;
        try {
            death = ThreadStop.is(failure);
            if (death) {
                if (state != null) {
                    state.mend();
                }
            } else {
                if (state != null) {
                    state.stop();
                    state.drop();
                }
                Threads.complain(failure);
            }
        } catch (Throwable e) {
            // Nothing is left to try.
        }
        if (death) {
            throw (Error) failure;
        }
    }
}
