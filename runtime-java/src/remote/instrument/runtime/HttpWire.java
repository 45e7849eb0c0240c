package instrument.runtime;

/** How it is found out which message of which connection the requests of one library are. The library has to count all of them itself. */
abstract class HttpWire {
    /**
     * Says where a request is. {@code carrier}: what is about to write it; null: it was read. The connection stays null where it is not known.
     */
    abstract void find(Object request, Object carrier, HttpPlace into);

    /** Says between which ends that connection is. */
    void ends(Object request, HttpPlace into) {
        into.ends(into.connection);
    }
}
