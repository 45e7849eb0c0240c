package instrument.runtime;

/**
 * Takes every path of the recorder once, so that nothing is loaded or linked in a probe when the stack is nearly full: on
 * regions that no reader sees.
 */
final class Warmup {
    private Warmup() {}

    /** The state is given back. */
    static void run(ThreadState state) {
        state.tryOut();
        for (int id = 0; id < 100; id++) {
            SlowPath.enter(state, id, id == 0 ? 0 : Format.PENDING, null);
        }
        Bytecodes.addSlowly(state, 98, 99 | 0x80000000, 1, null);
        state.executed(99 | 0x80000000, 1);
        SlowPath.superReturned(state, 98, null);
        SlowPath.caught(state, 97, null);
        state.superReturned(97);
        SlowPath.superReturned(state, 97, null);
        state.exit(97);
        SlowPath.close(state, 0, Format.UNWINDS, null);
        SlowPath.close(state, 0, Format.UNWINDS, null);
        SlowPath.enter(state, 1, 0, null);
        state.exit(1);
        SlowPath.enter(state, 1, 0, null);
        // No method has this id.
        SlowPath.enterLibrary(state, 0);
        SlowPath.caught(state, 1, null);
        state.enterLibrary(0);
        SlowPath.exitLibrary(state, 0);
        SlowPath.enter(state, 0, 0, null);
        SlowPath.close(state, 1, Format.EXITS, null);
        HeapProxy.slowly(state, new Object());
        LinkFrames.enter(state, 1);
        LinkFrames.made(state, 1);
        LinkFrames.leave(state, 1);
        state.takeOut(1);
        state.warmUpDurations();
        state.muted.begin(2, 0);
        SlowPath.enter(state, 1, 0, null);
        state.muted.begin(3, Format.PENDING);
        SlowPath.superReturned(state, 3, null);
        SlowPath.close(state, 2, Format.EXITS, null);
        state.release();
    }
}
