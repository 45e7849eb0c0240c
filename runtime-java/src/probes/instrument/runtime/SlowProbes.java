package instrument.runtime;

/**
 * The probes as a thread runs them that has no place in {@link ProfilerRuntime}, or whose event the fast paths do not take. HotSpot calls these methods, and makes them a
 * part of no other: as in {@link TreeProbes}, each has more code than it allows for that. A part of the probes of a tree, they made these a fifth slower.
 *
 * <p>The states that they are given are those of threads that have a place, or null.
 */
final class SlowProbes {
    private SlowProbes() {}

    /** A method or, with the pending bit, a constructor was called. */
    static void entry(ThreadState placed, int id, long pendingBit) {
        if (id >= 0) {
            ThreadState state = placed;
            try {
                state = state == null ? own() : state;
                if (state != null && state.muted.entered(id, pendingBit)) {
                    return;
                }
                if (state != null && !(pendingBit == 0 ? state.enter(id) : state.enterConstructor(id))) {
                    SlowPath.enter(state, id, pendingBit, null);
                }
                endOfProbe(state);
            } catch (Throwable e) {
                CurrentThread.entryFailed(state, e);
            }
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }

    /** A call ended in the way that has this column. */
    static void end(ThreadState placed, int id, int column) {
        if (id >= 0) {
            ThreadState state = placed;
            try {
                state = state == null ? own() : state;
                if (state != null && state.muted.ended(id)) {
                    return;
                }
                if (state != null && !(column == Format.EXITS ? state.exit(id) : state.unwind(id))) {
                    SlowPath.close(state, id, column, null);
                }
                endOfProbe(state);
            } catch (StackOverflowError e) {
                // Not a single call from here. The frame stays open until an outer one closes it as unclosed.
            } catch (Throwable e) {
                CurrentThread.failed(state, e);
            }
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }

    /** The super() of a constructor returned, or a handler of a method is about to run. */
    static void other(ThreadState placed, int id, boolean superReturned) {
        if (id >= 0) {
            ThreadState state = placed;
            try {
                state = state == null ? own() : state;
                if (state == null || (superReturned ? state.muted.superReturned(id) : state.muted.caught(id))) {
                    return;
                }
                if (superReturned && !state.superReturned(id)) {
                    SlowPath.superReturned(state, id, null);
                } else if (!superReturned && !state.caught(id)) {
                    SlowPath.caught(state, id, null);
                }
                endOfProbe(state);
            } catch (StackOverflowError e) {
                // As in end.
            } catch (Throwable e) {
                CurrentThread.failed(state, e);
            }
            return;
        }
        switch (id) {
            case -1: case -5: case -9: case -13: case -17: case -21: case -25: case -29: case -33: case -37: case -41:
            case -45: case -49: case -53: case -57: case -61: case -65: case -69: case -73: case -77: case -81: return;
            default:
        }
    }

    private static void endOfProbe(ThreadState state) {
        if (state != null) {
            state.endOfProbe();
        }
    }

    /** The state of the current thread, which has no place; null: its events are not recorded. */
    private static ThreadState own() {
        ThreadState state = CurrentThread.unplaced(Thread.currentThread());
        return state == null ? CurrentThread.newState() : state;
    }
}
