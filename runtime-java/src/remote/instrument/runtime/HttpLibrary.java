package instrument.runtime;

/** How the requests of one library are asked, and its responses. There is one for each class of requests, see {@code HttpLibraries}. */
abstract class HttpLibrary {
    /** How it is found out where its requests are; null: it is not. */
    HttpWire wire;

    /** Has a request say what it is; it stays without a path where it does not. */
    abstract void read(Object request, Object target, HttpSaid into);

    /** The request with such a header, itself or another one; null: it cannot be had. */
    Object with(Object request, String header) {
        return null;
    }

    /** Takes a header back that was set on the program's own request. */
    void without(Object request, String header) {}

    /** The status that a response has; 0: unknown. */
    int status(Object response) {
        return 0;
    }

    /** The pattern by which a request was handed to a method of the program: {@code /orders/{id}}; null: unknown. It, or what knows its route, is asked. */
    String route(Object of) {
        return null;
    }

    /** Whether a request is served the first time, and not dispatched once more by its container. */
    boolean isFirst(Object request) {
        return true;
    }

    /** Whether a request goes on where the call that serves it has returned. */
    boolean goesOn(Object request) {
        return false;
    }

    /** Says whether the connection of a request that was read may carry several at a time. */
    void protocol(Object request, HttpPlace into) {}

    /** Whether a proxy has sent a request on that was read. */
    boolean isForwarded(Object request) {
        return false;
    }

    static int number(Object status) {
        int number = status instanceof Integer ? (Integer) status : 0;
        return number > 0 && number < 1 << 16 ? number : 0;
    }

    static String text(Object text) {
        return text instanceof String ? (String) text : null;
    }
}
