package instrument.runtime;

/**
 * What rewritten code calls around requests by HTTP that it makes or serves. A call is told of in front of it, which gives a number, and behind it or where
 * an exception has left it, with that number. No request is changed, unless the user has asked for a header; no failure reaches the program but ThreadDeath,
 * and StackOverflowError where a request begins.
 */
public final class HttpMarkers {
    private static final int MADE = 0;
    private static final int CONNECTED = 1;
    private static final int READ = 2;
    private static final int SERVED = 3;

    private HttpMarkers() {}

    /** A request that knows where it goes is about to be sent. */
    public static int httpMade(Object request) {
        return begin(MADE, request, null);
    }

    /** A request is about to be sent to a host. */
    public static int httpMade(Object target, Object request) {
        return begin(MADE, request, target);
    }

    /** The request that is sent instead: the same one, unless the user has asked for a header. */
    public static Object httpSent(Object request, int number) {
        if (number == 0) {
            return request;
        }
        RemoteCalls calls = null;
        try {
            calls = RemoteCalls.enter(false);
            return calls == null ? request : HttpCalls.sent(calls, request, number);
        } catch (Throwable e) {
            RemoteFailure.say(e);
            return request;
        } finally {
            if (calls != null) {
                calls.state.mode = calls.mode;
            }
        }
    }

    /** A library is about to write a request. */
    public static void httpWritten(Object carrier, Object request) {
        if (request != null) {
            tell(carrier, request);
        }
    }

    /** A library has found the method that serves a request; this has the route to it. */
    public static void httpRouted(Object routing) {
        tell(routing, null);
    }

    private static void tell(Object by, Object written) {
        if (by == null || !Gate.isOpen()) {
            return;
        }
        RemoteCalls calls = null;
        try {
            calls = RemoteCalls.enter(false);
            if (calls != null && written != null) {
                HttpCalls.written(calls, by, written);
            } else if (calls != null) {
                HttpCalls.routed(calls, by);
            }
        } catch (Throwable e) {
            RemoteFailure.say(e);
        } finally {
            if (calls != null) {
                calls.state.mode = calls.mode;
            }
        }
    }

    /** A connection is about to be made, or written to. */
    public static int httpOpened(Object connection) {
        return begin(CONNECTED, connection, null);
    }

    /** A connection or an address is about to be read. */
    public static int httpRead(Object connection) {
        return begin(READ, connection, null);
    }

    /** A request is about to be handed to a servlet or a filter. */
    public static int httpServed(Object request, Object response) {
        return begin(SERVED, request, response);
    }

    /** An exchange was handed to a handler. */
    public static int httpExchange(Object exchange) {
        return begin(SERVED, exchange, exchange);
    }

    /** The call of this number has returned. */
    public static void httpLeft(int number) {
        end(number, null, 0, null);
    }

    /** It has returned a response, or what will have one. */
    public static void httpAnswered(Object response, int number) {
        end(number, response, 0, null);
    }

    /** It has returned a status. */
    public static void httpAnswered(int status, int number) {
        end(number, null, HttpLibrary.number(status), null);
    }

    /** An exception has left it. */
    public static void httpFailed(Object exception, int number) {
        end(number, null, 0, (Throwable) exception);
    }

    private static int begin(int event, Object a, Object b) {
        if (a == null || !Gate.isOpen()) {
            return 0;
        }
        StackReserve.frame();
        RemoteCalls calls = null;
        int depth = 0;
        boolean hasBegun = false;
        try {
            calls = RemoteCalls.enter(true);
            if (calls == null) {
                return 0;
            }
            depth = calls.depth;
            // What begins here is ended here.
            StackLevels.need(StackLevels.OF_FILE);
            int number;
            switch (event) {
                case MADE: number = HttpCalls.made(calls, a, b); break;
                case SERVED: number = HttpCalls.served(calls, a, b); break;
                default: number = HttpCalls.connected(calls, a, event == CONNECTED);
            }
            hasBegun = true;
            return number;
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            RemoteFailure.say(e);
            return 0;
        } finally {
            if (calls != null) {
                // What did not begin is nobody's to end.
                while (!hasBegun && calls.depth > depth) {
                    calls.remove(calls.depth - 1);
                }
                calls.state.mode = calls.mode;
            }
        }
    }

    private static void end(int number, Object response, int status, Throwable exception) {
        if (number == 0) {
            return;
        }
        long now = Clock.now();
        RemoteCalls calls = null;
        try {
            calls = RemoteCalls.enter(false);
            if (calls != null) {
                HttpCalls.ended(calls, number, response, status, exception, now);
            }
        } catch (Throwable e) {
            RemoteFailure.say(e);
        } finally {
            if (calls != null) {
                calls.state.mode = calls.mode;
            }
        }
    }
}
