package instrument.runtime;

/** Where a request is: the message of this number on a connection. An object is used for one after the other. */
final class HttpPlace {
    /** The same object for all messages of a connection, and for no others; null: it is not known. */
    Object connection;
    /** Which message on it this is, whatever the others were, from 1; 0: unknown. */
    long ordinal;
    /** The connection carries several at a time, as HTTP/2 does: their order says nothing. */
    boolean isShared;

    void clear() {
        connection = null;
        ordinal = 0;
        isShared = false;
    }

    static long number(Object number) {
        return number instanceof Number ? ((Number) number).longValue() : 0;
    }
}
