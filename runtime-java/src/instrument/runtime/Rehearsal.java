package instrument.runtime;

/**
 * Takes every path of the recorder once, so that nothing is loaded or linked in a probe when the stack is nearly full: on
 * regions that no reader sees.
 */
final class Rehearsal {
    private Rehearsal() {}

    /** The state is given back. */
    static void run(ThreadState state) {
        state.tryOut();
        for (int id = 0; id < 100; id++) {
            state.enterSlowly(id, id == 0 ? 0 : Format.PENDING);
        }
        state.superReturnedSlowly(98);
        state.caughtSlowly(97);
        state.superReturned(97);
        state.superReturnedSlowly(97);
        state.exit(97);
        state.closeSlowly(0, Format.UNWINDS);
        state.closeSlowly(0, Format.UNWINDS);
        state.enterSlowly(1, 0);
        state.exit(1);
        // No method has this id.
        LibraryCalls.add(0);
        state.enterSlowly(1, 0);
        state.enterSlowly(0, 0);
        state.caughtSlowly(1);
        state.enterLibrary(0);
        state.closeSlowly(0, Format.EXITS);
        state.enterSlowly(0, 0);
        state.closeSlowly(1, Format.EXITS);
        state.allocated(new Object());
        state.enterLink(1);
        state.linkMade(1);
        state.leaveLink(1);
        state.takeOut(1);
        state.mute(2, 0);
        state.enterSlowly(1, 0);
        state.mute(3, Format.PENDING);
        state.superReturnedSlowly(3);
        state.closeSlowly(2, Format.EXITS);
        state.release();
    }
}
