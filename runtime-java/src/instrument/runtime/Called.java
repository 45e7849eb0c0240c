package instrument.runtime;

/**
 * The probes of a calling context tree. They are called: HotSpot does not make them a part of the methods that have probes. The code of a tree's probes is so large that
 * a program with thousands of hot methods would no longer fit the processor's caches, and compilers would take twice as long for it; even programs with few hot methods
 * are faster so. (Counts are not: their probes are small.)
 *
 * <p>HotSpot makes no method a part of its callers that has more than 325 bytes of code (its flag {@code FreqInlineSize}). So each of these has as many, in the table of a
 * switch that is never reached, since no id is negative.
 */
final class Called {
    /** Whether these are used. A constant to the compiler, since it belongs to a class that is set up when the settings have been read. */
    static final boolean PROBES = Threads.recordsTree;

    static final int UNWIND = 1;
    static final int SUPER_RETURNED = 2;
    static final int CAUGHT = 3;

    private Called() {}

    /** Before any probe looks at this class. Of several recordings the first one decides. */
    static void setUp() {}

    static void entry(int id) {
        if (id < 0) {
            switch (id) {
                case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
                case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
                default:
            }
        }
        StackReserve.frame();
        ThreadState state = null;
        try {
            state = ProfilerRuntime.current();
            if (state == null) {
                state = ProfilerRuntime.newState();
            }
            if (state != null && !state.enter(id)) {
                SlowPath.enter(state, id, 0, null);
            }
        } catch (Throwable e) {
            ProfilerRuntime.entryFailed(state, e);
        }
    }

    static void constructor(int id) {
        if (id < 0) {
            switch (id) {
                case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
                case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
                default:
            }
        }
        StackReserve.frame();
        ThreadState state = null;
        try {
            state = ProfilerRuntime.current();
            if (state == null) {
                state = ProfilerRuntime.newState();
            }
            if (state != null && !state.enterConstructor(id)) {
                SlowPath.enter(state, id, Format.PENDING, null);
            }
        } catch (Throwable e) {
            ProfilerRuntime.entryFailed(state, e);
        }
    }

    static void exit(int id) {
        if (id < 0) {
            switch (id) {
                case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
                case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
                default:
            }
        }
        ThreadState state = null;
        try {
            state = ProfilerRuntime.current();
            if (state == null) {
                state = ProfilerRuntime.newState();
            }
            if (state != null && !state.exit(id)) {
                SlowPath.close(state, id, Format.EXITS, null);
            }
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
        } catch (Throwable e) {
            ProfilerRuntime.failed(state, e);
        }
    }

    /** The rarer events. */
    static void other(int id, int event) {
        if (event == SUPER_RETURNED) {
            ProfilerRuntime.constructed(id);
            return;
        }
        if (event == UNWIND) {
            ProfilerRuntime.unwind(id);
            return;
        }
        if (event == CAUGHT) {
            ProfilerRuntime.caught(id);
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }
}
