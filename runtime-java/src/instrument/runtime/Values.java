package instrument.runtime;

/**
 * Calls that are split by a value: each text of a statement that is sent to a database is a call of its own, with an id that is given when the
 * text is met first (see {@link ValueNames}). They are frames as {@link LibraryCalls} are: nothing tells of the end of one that an exception leaves.
 *
 * <p>Drivers and what is wrapped around them make such calls, too: of those within each other only the outermost one is told of. It counts as
 * open for as long as its frame is where it was, so one that an exception has left is not waited for.
 */
public final class Values {
    /** What {@link #valueLeft} gets where nothing was opened. */
    private static final int NONE = -1;

    private Values() {}

    /** A statement is about to run. */
    public static int statementText(String text) {
        return enter(text, null, false);
    }

    /** The same; what follows the text says nothing of it. */
    public static int statementText(String text, int keys) {
        return enter(text, null, false);
    }

    /** The same. */
    public static int statementText(String text, Object columns) {
        return enter(text, null, false);
    }

    /** A prepared statement is about to run. */
    public static int statementRun(Object statement) {
        return enter(null, statement, false);
    }

    /** A batch is about to run. */
    public static int batchRun(Object statement) {
        return enter(null, statement, true);
    }

    /** What was opened under this number has returned. */
    public static void valueLeft(int id) {
        if (id != NONE) {
            ProfilerRuntime.libraryExit(id);
        }
    }

    /** A statement was prepared. */
    public static void statementPrepared(Object statement, String text) {
        learn(statement, text, false);
    }

    /** A statement is about to be added to a batch. */
    public static void statementBatched(Object statement, String text) {
        learn(statement, text, true);
    }

    private static int enter(String text, Object statement, boolean isBatch) {
        if (!Gate.isOpen() || text == null && statement == null) {
            return NONE;
        }
        StackReserve.frame();
        ThreadState state = null;
        int id = NONE;
        try {
            state = ready();
            if (state != null) {
                int mode = state.mode;
                // What is called of the JDK may have been rewritten, too.
                state.mode = ThreadState.BUSY;
                try {
                    int open = open(state);
                    if (open == NONE || open == ValueNames.unknown()) {
                        id = statement == null ? ValueNames.of(text).id() : StatementTexts.id(statement, isBatch);
                        // There may be many layers, none of which knows the text.
                        id = id == open ? NONE : id;
                    }
                } finally {
                    if (state.mode == ThreadState.BUSY) {
                        state.mode = mode;
                    }
                }
            }
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            ProfilerRuntime.failed(state, e);
            return NONE;
        }
        if (id != NONE) {
            ProfilerRuntime.libraryEnter(id);
            int top = state.depth() - 1;
            if (top >= 0 && Format.idPlusOne(state.frame(top)) == id + 1) {
                state.openValue = id;
                state.openValueAt = top;
            }
        }
        return id;
    }

    private static void learn(Object statement, String text, boolean isBatch) {
        if (statement == null || text == null) {
            return;
        }
        ThreadState state = null;
        try {
            state = ready();
            if (state == null) {
                return;
            }
            int mode = state.mode;
            state.mode = ThreadState.BUSY;
            try {
                StatementTexts.put(statement, ValueNames.of(text), isBatch);
            } finally {
                if (state.mode == ThreadState.BUSY) {
                    state.mode = mode;
                }
            }
        } catch (StackOverflowError e) {
            // The text stays unknown.
        } catch (Throwable e) {
            ProfilerRuntime.failed(state, e);
        }
    }

    /** The state of a thread that records; null: it does not, or is inside the runtime. */
    private static ThreadState ready() {
        ThreadState state = ProfilerRuntime.fresh();
        if (state == null) {
            state = ProfilerRuntime.newState();
        }
        if (state == null || state.isOld()) {
            return null;
        }
        if (state.mode == ThreadState.NEW && !state.isPaused()) {
            state.arrive();
        }
        return state.mode == state.live || state.mode == ThreadState.OUTSIDE ? state : null;
    }

    /** The id of the outermost such call that is open. */
    private static int open(ThreadState state) {
        int at = state.openValueAt;
        int id = state.openValue;
        return id != NONE && at < state.depth() && Format.idPlusOne(state.frame(at)) == id + 1 ? id : NONE;
    }
}
