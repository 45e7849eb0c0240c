package instrument.runtime;

/**
 * Events that the fast paths do not take: the first of a thread, those that need room, those during or after a pause, and those that
 * belong to another frame than the topmost. Which frame that is says {@link ThreadState}. See {@link NotInlined} for the last parameters.
 */
final class SlowPath {
    private SlowPath() {}

    /** A method or, with the pending bit, a constructor is entered. Lets StackOverflowError and ThreadDeath through. */
    static void enter(ThreadState known, int id, long pendingBit, NotInlined none) {
        ThreadState state = known.isOld() ? ProfilerRuntime.renewed(known) : known;
        int entering = pendingBit == 0 ? 0 : 1;
        if (state.doubted != 0 && state.mode == state.live) {
            state.settle(state.alive(entering));
        }
        if (state.isPaused()) {
            state.muted.begin(id, pendingBit);
            return;
        }
        if (state.mode == ThreadState.NEW) {
            state.arrive();
        }
        if (Running.isDue(state)) {
            Running.look(state);
        }
        if (state.mode == ThreadState.OUTSIDE) {
            if (!ThreadState.isRoot(id) && state.muted.isEmpty()) {
                return;
            }
            state.goInside();
        }
        if (!state.begin(id)) {
            return;
        }
        boolean room;
        try {
            if (pendingBit != 0) {
                Constructors.learn(state, id);
            }
            if (isDoubtful(state, id, entering)) {
                state.sweep(entering);
                state.covered();
            }
            room = state.reserve(id);
            if (Entered.wanted && !state.onTrial && !LibraryCalls.isValue(id)) {
                Entered.note(id);
            }
        } finally {
            // Not a call: there may be no stack left for one.
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (!room) {
            state.stop();
            state.drop();
        } else {
            state.enterReserved(id, pendingBit);
            if (pendingBit != 0) {
                state.pending++;
            }
        }
    }

    /** Whether pending constructors may be gone. An entry tells which are there if it is in a new context, or if there are too many of them. */
    private static boolean isDoubtful(ThreadState state, int id, int entering) {
        if (entering != 0 && state.pending >= state.pendingLimit) {
            return true;
        }
        int depth = state.depth();
        boolean topIsPending = depth > state.beneath() && state.frame(depth - 1) < 0;
        return topIsPending && state.muted.isEmpty() && state.isNew(id) && !Constructors.isOnTop(state, entering);
    }

    /** Exit and unwind. */
    static void close(ThreadState state, int id, int column, NotInlined none) {
        if (state.isOld()) {
            return;
        }
        // These belong to ready frames, which are beneath.
        settle(state, false);
        int place = state.muted.find(id + 1, 0xffffffff);
        if (place >= 0) {
            state.muted.truncate(place);
            state.covered();
            return;
        }
        if (!state.begin(id)) {
            return;
        }
        try {
            int at = match(state, column + Format.EVENT_EXIT - Format.EXITS, id, id + 1, 0xffffffff);
            if (at >= 0) {
                state.closeAbove(at);
                state.closeTop(column);
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (column == Format.UNWINDS) {
            state.thrown();
        }
        state.outside();
    }

    static void superReturned(ThreadState state, int id, NotInlined none) {
        if (state.isOld()) {
            return;
        }
        settle(state, state.isDoubted(id));
        int place = state.muted.find(id + 1 | 0x80000000, 0xffffffff);
        if (place >= 0) {
            state.muted.ready(place);
            state.covered();
            return;
        }
        if (!state.begin(id)) {
            return;
        }
        try {
            int at = match(state, Format.EVENT_SUPER_RETURNED, id, id + 1 | 0x80000000, 0xffffffff);
            if (at >= 0) {
                state.closeAbove(at);
                state.setFrame(at, state.frame(at) & ~Format.PENDING);
                state.pending--;
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        state.outside();
    }

    static void caught(ThreadState state, int id, NotInlined none) {
        if (state.isOld()) {
            return;
        }
        settle(state, state.isDoubted(id));
        if (state.muted.find(id + 1, 0x7fffffff) >= 0) {
            state.covered();
            return;
        }
        if (!state.begin(id)) {
            return;
        }
        try {
            int at = match(state, Format.EVENT_CAUGHT, id, id + 1, 0x7fffffff);
            if (at >= 0) {
                state.closeAbove(at);
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        state.outside();
    }

    /** An object was made. */
    static void allocated(ThreadState known, Object object) {
        ThreadState state = known.isOld() ? ProfilerRuntime.renewed(known) : known;
        if (state.isPaused() || !state.begin(0)) {
            return;
        }
        boolean room;
        try {
            room = HeapProxy.biographies && !begins(state, object) || state.allocate(object);
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (!room) {
            state.stop();
            state.drop();
        } else if (state.missed != 0) {
            state.dropMissed();
        }
    }

    /** Ends the doubt about pending constructors. */
    private static void settle(ThreadState state, boolean mayBeThere) {
        if (state.doubted != 0 && state.mode == state.live) {
            state.settle(mayBeThere ? state.alive(0) : null);
        }
    }

    /** Begins the biography of an object. False: it has one, or is not to have one. */
    private static boolean begins(ThreadState state, Object object) {
        ClassNames.Entry type = ClassNames.of(object);
        return type.number != 0 && HeapEvents.begin(object, type, state);
    }

    /**
     * The place of the topmost frame that an event fits: whose upper half is this, in the bits of the mask. -1: there is none,
     * which is dealt with.
     */
    private static int match(ThreadState state, long eventKind, int id, int upper, int mask) {
        int at = state.depth() - 1;
        while (at >= 0 && ((int) (state.frame(at) >>> 32) & mask) != upper) {
            at--;
        }
        if (at < 0 && ThreadState.roots != null) {
            // A method below the root goes on: the root and all above it are gone. Or it is one of those that began before the recording.
            state.abandon();
            state.muted.endAbove(state.beneath() - 1);
        } else if (at < 0 && (state.isPaused() || Session.isLeftover(state))) {
            return -1;
        } else if (at >= 0 && !state.arriving(at) || !state.arrived(eventKind, id)) {
            return -1;
        } else if (at >= 0) {
            state.muted.endAbove(at);
        } else if (!state.unmatched(id)) {
            state.stop();
            state.drop();
        }
        return at;
    }
}
