package instrument.runtime;

/**
 * The probes of code that counts the instructions which it executes: ends of calls as in {@link ProfilerRuntime}, with a count. It is added to
 * the topmost frame that the end belongs to; a call that is not recorded is not counted. Traces have no place for counts.
 */
public final class Bytecodes {
    private Bytecodes() {}

    /** A method or constructor that has executed so many instructions is about to return. */
    public static void methodExit(int id, int count) {
        exit(id, count);
    }

    /** The same of a method with loops. */
    public static void methodExit(int id, long count) {
        exit(id, count);
    }

    private static void exit(int id, long count) {
        if (!Gate.isOpen()) {
            return;
        }
        ThreadState state = null;
        try {
            state = CurrentThread.current();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state != null) {
                if (!state.executed(id + 1, count)) {
                    addSlowly(state, id, id + 1, count, null);
                }
                if (!state.exit(id)) {
                    SlowPath.close(state, id, Format.EXITS, null);
                }
            }
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** An exception is about to leave a method that has executed so many instructions, or a constructor after its super(). */
    public static void methodUnwind(int id, int count) {
        unwind(id, count);
    }

    /** The same of a method with loops. */
    public static void methodUnwind(int id, long count) {
        unwind(id, count);
    }

    private static void unwind(int id, long count) {
        if (!Gate.isOpen()) {
            return;
        }
        ThreadState state = null;
        try {
            state = CurrentThread.current();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state != null) {
                if (!state.executed(id + 1, count)) {
                    addSlowly(state, id, id + 1, count, null);
                }
                if (!state.unwind(id)) {
                    SlowPath.close(state, id, Format.UNWINDS, null);
                }
            }
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** A constructor is about to execute so many instructions before its {@code super()} has returned. */
    public static void pending(int id, int count) {
        if (!Gate.isOpen()) {
            return;
        }
        ThreadState state = null;
        try {
            state = CurrentThread.current();
            if (state != null && !state.executed(id + 1 | 0x80000000, count)) {
                addSlowly(state, id, id + 1 | 0x80000000, count, null);
            }
        } catch (StackOverflowError e) {
            // Not a single call from here. These instructions are not counted.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** Adds to the topmost frame with this upper half. */
    static void addSlowly(ThreadState state, int id, int upper, long count, NotInlined none) {
        // A call that began during a pause is not recorded.
        if (state.isOld() || state.muted.find(upper, 0xffffffff) >= 0 || !state.begin(id)) {
            return;
        }
        boolean room = true;
        try {
            int at = state.depth() - 1;
            while (at >= 0 && (int) (state.frame(at) >>> 32) != upper) {
                at--;
            }
            if (at >= 0) {
                room = state.bytecodes.addNew(state.header, state.ordinal, state.consumerOf(state.frame(at)), count);
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (!room) {
            state.stop();
            state.drop();
        }
    }
}
