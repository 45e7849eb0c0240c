package instrument.runtime;

/**
 * What rewritten code of remote method invocation calls: of the JDK's own classes when they are rewritten as they load, of stubs
 * and skeletons, and of methods that can be called from other processes. It is told of the objects that are at hand there; only
 * numbers are recorded, nothing is read from or written to a connection, and no failure reaches the program but ThreadDeath, and
 * StackOverflowError where a stub, a skeleton or a remote method is entered.
 *
 * <p>A call made: {@link #invoking} or {@link #newCall}, {@link #callMade} or, without a connection, {@link #unmade}, {@link #sent}, {@link #returned}, {@link #thrown} if the server has sent an exception, {@link #freed}. A
 * call served: {@link #receiving}, {@link #served}, {@link #dispatching}, {@link #calling}, {@link #answering}, {@link #serviced}.
 */
public final class RmiMarkers {
    private static final int CONNECTION = 0;
    private static final int INVOKING = 1;
    private static final int NEW_CALL = 2;
    private static final int CALL_MADE = 3;
    private static final int SENT = 4;
    private static final int RETURNED = 5;
    private static final int THROWN = 6;
    private static final int FREED = 7;
    private static final int RECEIVING = 8;
    private static final int SERVED = 9;
    private static final int OPERATION = 10;
    private static final int HASH = 11;
    private static final int DISPATCHING = 12;
    private static final int INPUT_RELEASED = 13;
    private static final int CALLING = 14;
    private static final int FAILED = 15;
    private static final int ANSWERING = 16;
    private static final int SERVICED = 17;
    private static final int STUB_ENTERED = 18;
    private static final int STUB_CALLS = 19;
    private static final int STUB_LEFT = 20;
    private static final int SKELETON_ENTERED = 21;
    private static final int SKELETON_LEFT = 22;
    private static final int UNMADE = 23;
    private static final int LISTENING = 24;
    private static final int ACCEPTED = 25;
    private static final int REMOTE_ENTERED = 26;
    private static final int REMOTE_LEFT = 27;

    static {
        JdkModules.read();
    }

    private RmiMarkers() {}

    // ---- connections ----

    /** A connection was made over a socket; one that was accepted has a stream already. */
    public static void connection(Object connection, Object socket, Object in) {
        tell(CONNECTION, connection, socket, in == null ? Connection.CONNECTED : Connection.ACCEPTED, 0);
    }

    /** A server socket is about to accept connections: each will be told of. */
    public static void listening(Object socket) {
        tell(LISTENING, socket, null, 0, 0);
    }

    /** A socket was accepted; nothing was sent over it. */
    public static void accepted(Object socket) {
        tell(ACCEPTED, socket, null, 0, 0);
    }

    // ---- calls made ----

    /** A method of a remote object, which a reference leads to, is about to be called. */
    public static void invoking(Object reference, Object method, long hash) {
        tell(INVOKING, reference, method, -1, hash);
    }

    /** A stub is about to call one of its operations. */
    public static void newCall(Object reference, Object[] operations, int operation, long hash) {
        tell(NEW_CALL, reference, operations, operation, hash);
    }

    /** There is no connection for it. */
    public static void unmade(Object exception) {
        tell(UNMADE, exception, null, 0, 0);
    }

    /** A call begins; nothing of it was sent. */
    public static void callMade(Object call, Object connection, Object id, int operation, long hash) {
        tell(CALL_MADE, call, connection, id, operation, hash);
    }

    /** Its arguments are written. */
    public static void sent(Object call) {
        tell(SENT, call, null, 0, 0);
    }

    /** The UID of its return was read. */
    public static void returned(Object uid) {
        tell(RETURNED, uid, null, 0, 0);
    }

    /** The server has sent an exception. */
    public static void thrown(Object call, Object exception) {
        tell(THROWN, call, exception, 0, 0);
    }

    /** The connection is given back: a call over it, if there is one, is over. */
    public static void freed(Object connection, boolean reused) {
        tell(FREED, connection, null, reused ? 1 : 0, 0);
    }

    // ---- calls served ----

    /** A call comes in. */
    public static void receiving(Object call, Object connection) {
        tell(RECEIVING, call, connection, 0, 0);
    }

    /** Its ObjID was read. */
    public static void served(Object id) {
        tell(SERVED, id, null, 0, 0);
    }

    /** The number of its operation was read. */
    public static void operation(int operation) {
        tell(OPERATION, null, null, operation, 0);
    }

    /** The hash of its method or interface was read. */
    public static void hash(long hash) {
        tell(HASH, null, null, 0, hash);
    }

    /** Object and method are known; the arguments are about to be read. */
    public static void dispatching(Object object, Object method) {
        tell(DISPATCHING, object, method, 0, 0);
    }

    /** The input of a call was released: a skeleton has read its arguments. */
    public static void inputReleased(Object call) {
        tell(INPUT_RELEASED, call, null, 0, 0);
    }

    /** The method is about to be called. */
    public static void calling() {
        tell(CALLING, null, null, 0, 0);
    }

    /** Something was thrown, by the method or before or after it. */
    public static void failed(Object exception) {
        tell(FAILED, exception, null, 0, 0);
    }

    /** The UID of its return is about to be written. */
    public static void answering(Object uid) {
        tell(ANSWERING, uid, null, 0, 0);
    }

    /** The call is over; {@code sound}: its connection can be used for the next. */
    public static void serviced(boolean sound) {
        tell(SERVICED, null, null, sound ? 1 : 0, 0);
    }

    // ---- stubs and skeletons ----

    /** A method of a stub is entered. */
    public static void stubEntered() {
        tell(STUB_ENTERED, null, null, 0, 0);
    }

    /** It is about to make a call; what was told is the hash of the method, or of the interface. */
    public static void stubCalls(long hash) {
        tell(STUB_CALLS, null, null, 0, hash);
    }

    /** It returns. */
    public static void stubReturns() {
        tell(STUB_LEFT, null, null, 0, 0);
    }

    /** An exception leaves it. */
    public static void stubThrows(Object exception) {
        tell(STUB_LEFT, exception, null, 0, 0);
    }

    /** A skeleton is told to dispatch a call. */
    public static void skeletonEntered(Object object, int operation, long hash) {
        tell(SKELETON_ENTERED, object, null, operation, hash);
    }

    /** It returns. */
    public static void skeletonReturns() {
        tell(SKELETON_LEFT, null, null, 0, 0);
    }

    /** An exception leaves it. */
    public static void skeletonThrows(Object exception) {
        tell(SKELETON_LEFT, exception, null, 0, 0);
    }

    // ---- methods that can be called from other processes ----

    /** One is entered, {@code name(descriptor)}, of this object. */
    public static void remoteEntered(Object object, Object method) {
        StackReserve.frame();
        if (!isLocal()) {
            tell(REMOTE_ENTERED, object, method, 0, 0);
        }
    }

    /** It returns. */
    public static void remoteReturns() {
        if (!isLocal()) {
            tell(REMOTE_LEFT, null, null, 0, 0);
        }
    }

    /** An exception leaves it. */
    public static void remoteThrows(Object exception) {
        if (!isLocal()) {
            tell(REMOTE_LEFT, exception, null, 0, 0);
        }
    }

    /** Whether the current thread is known to serve nobody: most calls of such methods come from around the corner. */
    private static boolean isLocal() {
        try {
            ThreadState state = CurrentThread.fresh();
            return state != null && state.local;
        } catch (VirtualMachineError e) {
            // Whoever goes on meets it again.
            return false;
        }
    }

    // ---- all of them ----

    private static void tell(int event, Object a, Object b, int number, long hash) {
        tell(event, a, b, null, number, hash);
    }

    private static void tell(int event, Object a, Object b, Object c, int number, long hash) {
        long now = Clock.now();
        RemoteCalls calls = null;
        try {
            calls = RemoteCalls.enter(event != LISTENING && event != ACCEPTED);
            if (calls != null) {
                switch (event) {
                    case CONNECTION: Connections.made(a, b, number); break;
                    case LISTENING: Connections.listening(a); break;
                    case ACCEPTED: Connections.accepted(a); break;
                    case INVOKING: calls.asked(a, b, number, hash); break;
                    case NEW_CALL: calls.asked(a, operation((Object[]) b, number), number, hash); break;
                    case UNMADE: calls.unmade(now); break;
                    case CALL_MADE: calls.made(a, b, c, number, hash); break;
                    case SENT: calls.sent(a, now); break;
                    case RETURNED: calls.returned(a, now); break;
                    case THROWN: calls.thrown(a, b); break;
                    case FREED: calls.freed(a, number != 0, now); break;
                    case RECEIVING: calls.receiving(a, b, now); break;
                    case SERVED: calls.served(a); break;
                    case OPERATION: calls.operation(number); break;
                    case HASH: calls.hash(hash); break;
                    case DISPATCHING: calls.dispatching(a, b); break;
                    case INPUT_RELEASED: calls.inputReleased(a); break;
                    case CALLING: calls.calling(); break;
                    case FAILED: calls.failed(a); break;
                    case ANSWERING: calls.answering(a, now); break;
                    case SERVICED: calls.serviced(number != 0, now); break;
                    case STUB_ENTERED: calls.stubEntered(); break;
                    case STUB_CALLS: calls.stubCalls(hash, now); break;
                    case STUB_LEFT: calls.stubLeft(a, now); break;
                    case SKELETON_ENTERED: calls.skeletonEntered(a, number, hash); break;
                    case SKELETON_LEFT: calls.skeletonLeft(a, now); break;
                    case REMOTE_ENTERED: calls.remoteEntered(a, b); break;
                    default: calls.remoteLeft(a, now); break;
                }
            }
        } catch (StackOverflowError e) {
            // What was entered could not be left again; the call overflows, to the program. Others are recorded in part.
            if (event == STUB_ENTERED || event == SKELETON_ENTERED || event == REMOTE_ENTERED) {
                throw e;
            }
        } catch (Throwable e) {
            RemoteFailure.say(e);
        } finally {
            // Not a call: there may be no stack left for one.
            if (calls != null) {
                calls.state.mode = calls.mode;
            }
        }
    }

    private static Object operation(Object[] operations, int number) {
        return operations != null && number >= 0 && number < operations.length ? operations[number] : null;
    }
}
