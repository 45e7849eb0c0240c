package instrument.runtime;

/**
 * Events that the fast paths do not take: the first of a thread, those that need room, those during or after a pause, and those that
 * belong to another frame than the topmost. Which frame that is says {@link ThreadState}. See {@link NotInlined} for the last parameters.
 */
final class SlowPath {
    private SlowPath() {}

    /** A method or, with the pending bit, a constructor is entered. Lets StackOverflowError and ThreadDeath through. */
    static void enter(ThreadState known, int id, long pendingBit, NotInlined none) {
        ThreadState state = known.isOld() ? CurrentThread.renewed(known) : known;
        int entering = pendingBit == 0 ? 0 : 1;
        if (state.doubted != 0 && state.mode == state.live) {
            state.settle(state.alive(entering));
        }
        state.unwatch();
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
            if (!Recording.isRoot(id) && state.muted.isEmpty()) {
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
                state.watch();
            }
        }
    }

    /** Whether pending constructors may be gone. An entry tells which are there if it is in a new context or under a suspect one, or if there are too many of them. */
    private static boolean isDoubtful(ThreadState state, int id, int entering) {
        if (entering != 0 && state.pending >= state.pendingLimit) {
            return true;
        }
        int depth = state.depth();
        boolean topIsPending = depth > state.beneath() && state.frame(depth - 1) < 0;
        return topIsPending && state.muted.isEmpty() && (state.isNew(id) || isSuspect(state.frame(depth - 1))) && !Constructors.isOnTop(state, entering);
    }

    private static boolean isSuspect(long frame) {
        return Constructors.isSuspect(Format.idPlusOne(frame) - 1);
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
        state.watch();
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
                Constructors.returned(id);
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        state.outside();
        state.watch();
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
        state.watch();
    }

    /** What {@link ThreadState#enterLibrary} does not take. Lets StackOverflowError and ThreadDeath through. */
    static void enterLibrary(ThreadState state, int id) {
        learnLibrary(state, id);
        enter(state, id, 0, null);
    }

    /** The end of a call into a library. */
    static void exitLibrary(ThreadState state, int id) {
        learnLibrary(state, id);
        close(state, id, Format.EXITS, null);
    }

    private static void learnLibrary(ThreadState state, int id) {
        int before = state.mode;
        if (before == ThreadState.BUSY || before == ThreadState.OFF || LibraryCalls.has(id)) {
            return;
        }
        state.mode = ThreadState.BUSY;
        try {
            LibraryCalls.add(id);
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = before;
            }
        }
    }

    /** Ends the doubt about pending constructors. */
    private static void settle(ThreadState state, boolean mayBeThere) {
        state.unwatch();
        if (state.doubted != 0 && state.mode == state.live) {
            state.settle(mayBeThere ? state.alive(0) : null);
        }
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
        if (at < 0 && Recording.roots != null) {
            // A method below the root goes on: the root and all above it are gone. Or it is one of those that began before the recording.
            state.abandon();
            state.muted.endAbove(state.beneath() - 1);
        } else if (at < 0 && (state.isPaused() || isLeftover(state))) {
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

    /**
     * For a thread on whose shadow stack an event fits no frame: whether it may be of a call that began in an earlier recording. Those are the
     * oldest frames of a thread, so no recorded call that could end is open then.
     */
    private static boolean isLeftover(ThreadState state) {
        if (Recording.number == 0) {
            return false;
        }
        for (int i = 0; i < state.depth(); i++) {
            if (state.frame(i) > 0) {
                return false;
            }
        }
        return true;
    }
}
