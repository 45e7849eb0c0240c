package instrument.runtime;

/** How it is found out which message of which connection the requests of one library are. The library has to count all of them itself. */
abstract class HttpWire {
    /** A library, once its code has told of a request that it writes: it does so of every one. */
    static final class Teller {
        volatile boolean tells;
    }

    /** Null: it makes no requests. */
    final Teller teller;

    HttpWire(Teller teller) {
        this.teller = teller;
    }

    /**
     * Says where a request is. {@code carrier}: what is about to write it; null: it was read. The connection stays null where it is not known.
     */
    abstract void find(Object request, Object carrier, HttpPlace into);

    /** Says between which ends that connection is. */
    void ends(Object request, HttpPlace into) {
        into.ends(into.connection);
    }
}
