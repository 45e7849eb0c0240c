package instrument.runtime;

/**
 * What the probes of {@link ProfilerRuntime} do where a thread has something to record.
 *
 * <p>Only what a thread does that has a place, and whose event needs nothing, is a part of each method that has probes. All else is in {@link SlowProbes}, and has handlers of
 * its own: where nothing is called, the handlers here are no code.
 */
final class Probes {
    private Probes() {}

    static void entry(int id) {
        StackReserve.frame();
        ThreadState state = null;
        boolean done;
        try {
            state = CurrentThread.placed();
            done = state != null && (state.enter(id) || Gate.mutes() && state.muted.entered(id, 0));
        } catch (Throwable e) {
            CurrentThread.entryFailed(state, e);
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
            state = CurrentThread.placed();
            done = state != null && (state.enterConstructor(id) || Gate.mutes() && state.muted.entered(id, Format.PENDING));
        } catch (Throwable e) {
            CurrentThread.entryFailed(state, e);
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
            state = CurrentThread.placed();
            done = state != null && (state.exit(id) || Gate.mutes() && state.muted.ended(id));
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
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
            state = CurrentThread.placed();
            done = state != null && (state.unwind(id) || Gate.mutes() && state.muted.ended(id));
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
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
            state = CurrentThread.placed();
            done = state != null && (state.superReturned(id) || Gate.mutes() && state.muted.superReturned(id));
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
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
            state = CurrentThread.placed();
            done = state != null && (state.caught(id) || Gate.mutes() && state.muted.caught(id));
        } catch (StackOverflowError e) {
            // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            return;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return;
        }
        if (!done) {
            SlowProbes.other(state, id, false);
        }
    }
}
