package instrument.runtime;

/**
 * The probes of code that counts the instructions which it executes. Each comes right before the end of the call that it tells of, which is
 * that of the topmost frame of its id; a call that is not recorded is not counted. Traces have no place for these counts.
 */
public final class Bytecodes {
    private Bytecodes() {}

    /** A call is about to end that has executed so many instructions. */
    public static void executed(int id, int count) {
        add(id, id + 1, count);
    }

    /** The same of a method with loops. */
    public static void executed(int id, long count) {
        add(id, id + 1, count);
    }

    /** A constructor is about to execute so many instructions before its {@code super()} has returned. */
    public static void pending(int id, int count) {
        add(id, id + 1 | 0x80000000, count);
    }

    /** Adds to the topmost frame with this upper half. */
    private static void add(int id, int upper, long count) {
        if (!Gate.isOpen()) {
            return;
        }
        ThreadState state = null;
        try {
            state = ProfilerRuntime.current();
            if (state != null && !state.executed(upper, count)) {
                addSlowly(state, id, upper, count, null);
            }
        } catch (StackOverflowError e) {
            // Not a single call from here. What this call has executed is not counted.
        } catch (Throwable e) {
            ProfilerRuntime.failed(state, e);
        }
    }

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
                room = state.bytecodes.addNew(state, state.consumerOf(state.frame(at)), count);
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
