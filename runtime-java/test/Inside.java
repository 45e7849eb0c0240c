package instrument.runtime;

/** Lets test programs use what other parts of the runtime use. */
public final class Inside {
    private Inside() {}

    /** Only these methods and what they call are recorded. To be called before the first probe. */
    public static void roots(int... ids) {
        long[] roots = new long[4];
        for (int id : ids) {
            roots[id >> 6] |= 1L << id;
        }
        ThreadState.roots = roots;
    }

    public static boolean enterLink(int link) {
        return LinkFrames.enter(state(), link);
    }

    public static void leaveLink(int link) {
        LinkFrames.leave(state(), link);
    }

    public static void linkMade(int link) {
        LinkFrames.made(state(), link);
    }

    /** Pauses or resumes recording. */
    public static void pause(boolean on) {
        Pauses.set(on);
    }

    public static int contextNode() {
        return state().contextNode();
    }

    private static ThreadState state() {
        ThreadState state = ProfilerRuntime.current();
        return state != null ? state : ProfilerRuntime.newState();
    }
}
