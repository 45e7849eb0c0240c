package instrument.runtime;

/**
 * Calls that are split by a value: each text of a statement that is sent to a database is a call of its own, and so is each address that is asked,
 * and each file, with an id that is given when the value is met first (see {@link ValueNames}). They are frames as {@link LibraryCalls} are: nothing
 * tells of the end of one that an exception leaves.
 *
 * <p>Drivers, clients and what is wrapped around them make such calls, too: of those of a room within each other only the outermost one is told of. It
 * counts as open for as long as its frame is where it was, so one that an exception has left is not waited for.
 */
public final class Values {
    /** What {@link #valueLeft} gets where nothing was opened. */
    private static final int NONE = -1;

    // Rooms; {@link ThreadState#VALUE_ROOMS} is their number.
    private static final int STATEMENTS = 0;
    private static final int MADE = 1;
    private static final int SERVED = 2;
    private static final int FILES = 3;

    // What is given.
    private static final int TEXT = 0;
    private static final int PREPARED = 1;
    private static final int BATCH = 2;
    private static final int REQUEST = 3;
    private static final int CONNECTION = 4;
    private static final int WRITTEN_CONNECTION = 5;
    private static final int SERVED_REQUEST = 6;
    private static final int PATH = 7;
    private static final int OPENED_PATH = 8;

    private Values() {}

    /** A statement is about to run. */
    public static int statementText(String text) {
        return enter(STATEMENTS, TEXT, text, null);
    }

    /** The same; what follows the text says nothing of it. */
    public static int statementText(String text, int keys) {
        return enter(STATEMENTS, TEXT, text, null);
    }

    /** The same. */
    public static int statementText(String text, Object columns) {
        return enter(STATEMENTS, TEXT, text, null);
    }

    /** A prepared statement is about to run. */
    public static int statementRun(Object statement) {
        return enter(STATEMENTS, PREPARED, statement, null);
    }

    /** A batch is about to run. */
    public static int batchRun(Object statement) {
        return enter(STATEMENTS, BATCH, statement, null);
    }

    /** A {@code java.net.http.HttpRequest} is about to be sent. */
    public static int requestMade(Object request) {
        return enter(MADE, REQUEST, request, null);
    }

    /** A {@link java.net.URLConnection} or {@link java.net.URL} is about to be read. */
    public static int connectionRead(Object connection) {
        return enter(MADE, CONNECTION, connection, null);
    }

    /** A {@link java.net.URLConnection} is about to be connected, or written to. */
    public static int connectionOpened(Object connection) {
        return enter(MADE, WRITTEN_CONNECTION, connection, null);
    }

    /** A request is about to be served. */
    public static int requestServed(Object request) {
        return enter(SERVED, SERVED_REQUEST, request, null);
    }

    /** A file is about to be opened for reading. */
    public static int fileRead(Object path) {
        return enter(FILES, PATH, path, FilePaths.READ);
    }

    /** A file is about to be opened for writing. */
    public static int fileWritten(Object path) {
        return enter(FILES, PATH, path, FilePaths.WRITE);
    }

    /** A file is about to be opened; the mode or the options say what for. */
    public static int fileOpened(Object path, Object options) {
        return enter(FILES, OPENED_PATH, path, options);
    }

    /** A file is about to be copied. */
    public static int fileCopied(Object path) {
        return enter(FILES, PATH, path, FilePaths.COPY);
    }

    /** A file is about to be moved. */
    public static int fileMoved(Object path) {
        return enter(FILES, PATH, path, FilePaths.MOVE);
    }

    /** A file is about to be deleted. */
    public static int fileDeleted(Object path) {
        return enter(FILES, PATH, path, FilePaths.DELETE);
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

    private static int enter(int room, int what, Object given, Object more) {
        if (!Gate.isOpen() || given == null) {
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
                    id = id(state, room, what, given, more);
                } finally {
                    if (state.mode == ThreadState.BUSY) {
                        state.mode = mode;
                    }
                }
            }
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return NONE;
        }
        if (id != NONE) {
            ProfilerRuntime.libraryEnter(id);
            int top = state.depth() - 1;
            if (top >= 0 && Format.idPlusOne(state.frame(top)) == id + 1) {
                state.openValues[2 * room] = id + 1;
                state.openValues[2 * room + 1] = top;
            }
        }
        return id;
    }

    /** The id of what was given; {@link #NONE}: it is not told of. */
    private static int id(ThreadState state, int room, int what, Object given, Object more) {
        // Also where it is inside another one: what has sent a request sends no other.
        if ((what == CONNECTION || what == WRITTEN_CONNECTION) && !Requests.isFirst(given)) {
            return NONE;
        }
        int open = open(state, room);
        // There may be many layers, none of which knows the value.
        if (open != NONE && open != unknown(room)) {
            return NONE;
        }
        Value value = value(what, given, more);
        int id = value == null ? NONE : value.id();
        return id == open ? NONE : id;
    }

    private static Value value(int what, Object given, Object more) {
        switch (what) {
            case TEXT:
                return ValueNames.of((String) given);
            case PREPARED:
                return KnownObjects.value(given, false);
            case BATCH:
                return KnownObjects.value(given, true);
            case REQUEST:
                return Requests.made(given);
            case CONNECTION:
                return Requests.connection(given, false);
            case WRITTEN_CONNECTION:
                return Requests.connection(given, true);
            case SERVED_REQUEST:
                return Requests.served(given);
            case PATH:
                return FilePaths.of((String) more, given);
            default:
                return FilePaths.opened(given, more);
        }
    }

    private static int unknown(int room) {
        return (room == STATEMENTS ? ValueKind.SQL : room == FILES ? ValueKind.FILE : ValueKind.HTTP).unknown.id();
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
                KnownObjects.put(statement, ValueNames.of(text), isBatch);
            } finally {
                if (state.mode == ThreadState.BUSY) {
                    state.mode = mode;
                }
            }
        } catch (StackOverflowError e) {
            // The text stays unknown.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** The state of a thread that records; null: it does not, or is inside the runtime. */
    private static ThreadState ready() {
        ThreadState state = CurrentThread.fresh();
        if (state == null) {
            state = CurrentThread.newState();
        }
        if (state == null || state.isOld()) {
            return null;
        }
        if (state.mode == ThreadState.NEW && !state.isPaused()) {
            state.arrive();
        }
        return state.mode == state.live || state.isBetween() ? state : null;
    }

    /** The id of the outermost such call that is open. */
    private static int open(ThreadState state, int room) {
        int id = state.openValues[2 * room] - 1;
        int at = state.openValues[2 * room + 1];
        return id != NONE && at < state.depth() && Format.idPlusOne(state.frame(at)) == id + 1 ? id : NONE;
    }
}
