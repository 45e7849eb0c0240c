package instrument.runtime;

/**
 * The probes that injected code calls, each with the id of the method it is in. They record exactly, in one of
 * the ways that {@link ThreadState} has subclasses for, in the profile of this process. After a thread has met a method in a context, its probes allocate nothing, take no lock, do no
 * I/O and load no class. Entry probes let StackOverflowError through, having recorded nothing: the call overflowed. No
 * other failure reaches the program, but for ThreadDeath.
 */
public final class ProfilerRuntime {
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
            Probes.entry(id);
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
            Probes.constructor(id);
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
            Probes.exit(id);
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
            Probes.unwind(id);
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
            Probes.constructed(id);
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
            Probes.caught(id);
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
            state = CurrentThread.current();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state != null && !state.enterLibrary(id)) {
                SlowPath.enterLibrary(state, id);
            }
        } catch (Throwable e) {
            CurrentThread.entryFailed(state, e);
        }
    }

    /** It has returned. */
    public static void libraryExit(int id) {
        if (!Gate.isOpen()) {
            return;
        }
        ThreadState state = null;
        try {
            state = CurrentThread.current();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state != null && !state.exit(id)) {
                SlowPath.exitLibrary(state, id);
            }
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }
}
