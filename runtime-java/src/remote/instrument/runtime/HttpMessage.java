package instrument.runtime;

/** A request that is recorded: what it says, and what is kept of it while it is open. */
final class HttpMessage extends HttpSaid {
    /** What the code that made or serves it has been given; by that it tells of the end. */
    int token;
    /** Whose it is; null: a connection of the JDK. */
    HttpLibrary library;
    Object request;
    Object response;
    /** Its key, if there is one. */
    final TraceParent parent = new TraceParent();
    boolean hasKey;
    int hash;
    /** The header that it was given; null: none. */
    String given;
    /** The id that a message had before it was sent. */
    String before;
    /** A library has found the method that serves it. */
    boolean isRouted;
    /** The recording that it is part of. */
    int recording;

    /** Where it is, for a moment. */
    private HttpPlace place;

    HttpPlace place() {
        if (place == null) {
            place = new HttpPlace();
        }
        // Whoever looked before may have been stopped.
        place.clear();
        return place;
    }

    @Override
    void clear() {
        super.clear();
        token = 0;
        library = null;
        request = null;
        response = null;
        hasKey = false;
        hash = 0;
        given = null;
        before = null;
        isRouted = false;
    }
}
