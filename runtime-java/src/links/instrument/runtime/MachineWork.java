package instrument.runtime;

/**
 * What the virtual machine does in the middle of a method, in code of the JDK: it loads a class, or links an invokedynamic
 * instruction. That time is no part of the method's own, so it has a link frame, of a link that nobody made. The agent puts the
 * probes of a code region into that code; their number says what it is.
 *
 * <p>There is a frame only where a recorded call is open: the time of others is nobody's. One within another has a frame of its own.
 */
final class MachineWork {
    /** The number of the first of its regions. All of them are negative: numbers of regions that users name are not. */
    private static final int FIRST = Integer.MIN_VALUE;
    /** The kinds of their links, in the order of their numbers. */
    private static final int[] KINDS = {Links.CLASS_LOADING, Links.DYNAMIC_LINKING};
    /** Their links; 0: not made yet. Written under the lock of the class. */
    private static final int[] LINKS = new int[KINDS.length];

    private MachineWork() {}

    /** Whether a region is the machine's. */
    static boolean is(int number) {
        return number < 0;
    }

    static void begin(int number) {
        ThreadState state = CurrentThread.fresh();
        if (state == null || state.mode != state.live || state.isPaused() || state.depth() == 0
            || Recording.settings.record == Settings.COUNTS) {
            return;
        }
        StackReserve.frame();
        int link = LINKS[number - FIRST];
        if (link == 0) {
            state.mode = ThreadState.BUSY;
            try {
                link = make(number - FIRST);
            } finally {
                if (state.mode == ThreadState.BUSY) {
                    state.mode = state.live;
                }
            }
        }
        if (link != 0) {
            LinkFrames.enter(state, link);
        }
    }

    static void end(int number) {
        ThreadState state = CurrentThread.fresh();
        int link = LINKS[number - FIRST];
        if (state == null || link == 0 || state.mode != state.live) {
            return;
        }
        for (int at = state.depth() - 1; at >= 0; at--) {
            if (state.isLink(state.frame(at), link)) {
                LinkFrames.leave(state, link);
                return;
            }
        }
    }

    /** Another recording begins. */
    static synchronized void renew() {
        java.util.Arrays.fill(LINKS, 0);
    }

    /** 0: there is no room. */
    private static synchronized int make(int which) {
        if (LINKS[which] == 0) {
            LINKS[which] = Links.unmade(KINDS[which]);
        }
        return LINKS[which];
    }
}
