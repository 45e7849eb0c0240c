package instrument.runtime;

/**
 * What rewritten classes of gRPC call around the calls that it makes and serves. No call is changed, unless the user has asked for a header; no failure
 * reaches the program but ThreadDeath, and StackOverflowError where a call begins.
 */
public final class GrpcMarkers {
    private static final int STARTED = 0;
    private static final int SERVED = 1;
    private static final int CONTINUED = 2;
    private static final int CLOSED = 3;
    private static final int ENDED = 4;
    private static final int ANSWERED = 5;
    private static final int LEFT = 6;

    private GrpcMarkers() {}

    /** A client starts a call. */
    public static void grpcStarted(Object call, Object listener, Object headers) {
        begin(STARTED, call, listener, headers);
    }

    /** The listener of a client is about to be told of the end. */
    public static void grpcEnded(Object listener, Object status) {
        tell(ENDED, 0, listener, status);
    }

    /** A call is about to be handed to the program. */
    public static int grpcServed(Object call, Object headers) {
        return begin(SERVED, call, headers, null);
    }

    /** So is more of it, by this listener. */
    public static int grpcContinued(Object listener) {
        return begin(CONTINUED, listener, null, null);
    }

    /** So is its end. */
    public static int grpcClosed(Object listener, Object status) {
        return begin(CLOSED, listener, status, null);
    }

    /** The program has ended a call that it serves. */
    public static void grpcAnswered(Object call, Object status) {
        tell(ANSWERED, 0, call, status);
    }

    /** The program has returned what it was handed by this number. */
    public static void grpcLeft(int number) {
        if (number != 0) {
            tell(LEFT, number, null, null);
        }
    }

    /** An exception has left it. */
    public static void grpcFailed(Object exception, int number) {
        if (number != 0) {
            tell(LEFT, number, exception, null);
        }
    }

    private static int begin(int event, Object a, Object b, Object c) {
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
            int number = 0;
            switch (event) {
                case STARTED: GrpcCalls.started(calls, a, b, c); break;
                case SERVED: number = GrpcCalls.served(calls, a, b); break;
                case CONTINUED: number = GrpcCalls.continued(calls, a); break;
                default: number = GrpcCalls.closed(calls, a, b);
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

    private static void tell(int event, int number, Object a, Object b) {
        long now = Clock.now();
        RemoteCalls calls = null;
        try {
            calls = RemoteCalls.enter(false);
            if (calls == null) {
                return;
            }
            switch (event) {
                case ENDED: GrpcCalls.ended(a, b, now); break;
                case ANSWERED: GrpcCalls.answered(a, b, now); break;
                default: GrpcCalls.left(calls, number, a != null, now);
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
