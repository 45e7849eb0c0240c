package instrument.runtime;

/** Links as events of a thread: it makes one, or what it runs is on behalf of one, whose frame fits its own event only. */
final class LinkFrames {
    private LinkFrames() {}

    /** What follows runs on behalf of a link. A thread that is OUTSIDE goes in: links are made inside only. */
    static boolean enter(ThreadState state, int link) {
        if (state.isPaused() || state.isOld()) {
            return false;
        }
        if (state.mode == ThreadState.NEW) {
            state.arrive();
        }
        if (Running.isDue(state)) {
            Running.look(state);
        }
        if (state.mode == ThreadState.OUTSIDE) {
            state.goInside();
        }
        if (!state.begin(0)) {
            return false;
        }
        boolean room;
        try {
            room = state.pushLink(link);
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (!room) {
            state.stop();
            state.drop();
        }
        return room;
    }

    /** The end of {@link #enter}; frames above are unclosed, or aborted. */
    static void leave(ThreadState state, int link) {
        if (!state.begin(0)) {
            return;
        }
        try {
            int at = state.depth() - 1;
            while (at >= 0 && !state.isLink(state.frame(at), link)) {
                at--;
            }
            if (at < 0 && state.isPaused()) {
                return;
            }
            if ((at < 0 || state.arriving(at)) && state.arrived(Format.EVENT_LINK_LEFT, link) && at >= 0) {
                state.muted.endAbove(at);
                state.closeAbove(at);
                state.closeTop(Format.EXITS);
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        state.outside();
    }

    /** A link has been made here: a thread was started, or a task handed over. */
    static void made(ThreadState state, int link) {
        if (!state.isPaused() && state.begin(0)) {
            try {
                state.arrived(Format.EVENT_LINK_MADE, link);
            } finally {
                if (state.mode == ThreadState.BUSY) {
                    state.mode = state.live;
                }
            }
        }
    }

    /** Whether something is recorded here that a link can come from. */
    static boolean canMake(ThreadState state) {
        return state.mode == state.live && !state.isOld() && !state.isPaused() && state.depth() != 0 && Recording.settings.record != Settings.COUNTS;
    }

    /** The number of a link from here; 0: nothing is recorded here, or counts only. */
    static int make(ThreadState state, int kind) {
        if (!canMake(state)) {
            return 0;
        }
        // Without links the class may not be loaded yet: not from here, where what loads it would be recorded.
        int link = state.links == null ? 0 : Links.known(state, kind);
        if (link != 0) {
            return link;
        }
        state.mode = ThreadState.BUSY;
        try {
            link = Links.make(state, kind);
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (link != 0 && Recording.settings.record == Settings.TRACE) {
            made(state, link);
        }
        return link;
    }
}
