package instrument.runtime;

import java.io.IOException;
import java.rmi.NoSuchObjectException;
import java.rmi.RemoteException;
import java.rmi.ServerError;
import java.rmi.ServerException;
import java.rmi.UnmarshalException;

/**
 * The remote calls that one thread has open, innermost last. A call made is over when its connection is given back, a call served when its
 * service returns; what is still open above it then, such as the call of a stub that failed to write its arguments and kept the connection,
 * has failed. The thread is BUSY wherever this is told something, so that its probes do nothing.
 */
final class RemoteCalls extends RemoteCallStack {
    // The call that comes in.
    private int incoming;
    private boolean receiving;
    private Connection over;
    private int ordinal;
    /** The classes of the JDK tell what this thread serves. */
    private boolean isTold;
    /** Open methods that can be called from other processes: the outermost was, if any, and has called the others. */
    private int remoteMethods;

    /** The recording that the numbers of remote calls are of. */
    private static volatile int recording = Recording.number;

    private RemoteCalls(ThreadState state) {
        super(state);
    }

    private static synchronized void renew() {
        if (recording != Recording.number) {
            Connections.renew();
            RemoteClients.renew();
            RemoteLog.renew();
            RemoteNames.renew();
            ServedLinks.renew();
            HttpObjects.renew();
            HttpConnections.renew();
            HttpRoutes.renew();
            recording = Recording.number;
        }
    }

    /** Of the current thread, which is BUSY from here on; null: nothing is recorded here. One that has no calls need not be in the file. */
    static RemoteCalls enter(boolean hasCalls) {
        ThreadState state = CurrentThread.fresh();
        if (state == null) {
            state = CurrentThread.newState();
            if (state == null) {
                return null;
            }
        }
        if (hasCalls && state.mode == ThreadState.NEW && !state.isPaused()) {
            state.arrive();
        }
        if (state.mode == ThreadState.BUSY || Recording.isOver() || Recording.file == null) {
            return null;
        }
        if (recording != Recording.number) {
            renew();
        }
        int mode = state.mode;
        // Not an object of the program's.
        state.mode = ThreadState.BUSY;
        RemoteCalls calls = (RemoteCalls) state.remote;
        if (calls == null) {
            try {
                calls = new RemoteCalls(state);
                state.remote = calls;
            } finally {
                if (calls == null) {
                    state.mode = mode;
                }
            }
        }
        calls.mode = mode;
        return calls;
    }

    // ---- calls made ----

    /** A method or operation is to be called: a connection is wanted for it. A stub may have told of it before. */
    void asked(Object reference, Object method, int operation, long hash) {
        RemoteCall call = announced();
        if (call == null || call.asked != null) {
            if (state.isPaused()) {
                return;
            }
            call = record();
            cause(call);
            call.hash(hash);
            call.announced = true;
            call.begin(RemoteCall.MADE, thread());
        }
        call.asked = reference;
        call.operation(operation);
        call.method(RemoteNames.of(method));
    }

    /** There is no connection for it: the call is over. */
    void unmade(long now) throws IOException {
        RemoteCall call = announced();
        if (call != null && call.asked != null) {
            if (ids.readReference(call.asked)) {
                call.object(ids);
                call.to(ids);
            }
            call.flag(RemoteCall.FAILED);
            call.end(now);
            remove(depth - 1);
        }
    }

    /** The innermost call, if nothing was made of it so far. */
    private RemoteCall announced() {
        return depth > 0 && open[depth - 1].announced ? open[depth - 1] : null;
    }

    void made(Object of, Object connection, Object id, int operation, long hash) throws IOException {
        RemoteCall call = announced();
        Connection known = Connections.of(connection);
        int ordinal = Connections.count(known);
        if (call == null && state.isPaused()) {
            return;
        }
        if (call == null) {
            call = record();
            cause(call);
        }
        call.announced = false;
        call.asked = null;
        call.call = System.identityHashCode(of);
        call.over(known, ordinal);
        if (ids.readObjID(id)) {
            call.object(ids);
        }
        call.hash(hash);
        call.operation(operation);
        if (!call.begun) {
            call.begin(RemoteCall.MADE, thread());
        }
    }

    /** The context that a call is made in, and in a trace its link. */
    void cause(RemoteCall call) {
        boolean recording = mode == state.live;
        int link = 0;
        if (recording && Recording.settings.record == Settings.TRACE) {
            state.mode = mode;
            link = LinkFrames.make(state, Links.REMOTE_CALL);
            busy();
        }
        call.cause(recording ? state.context() : 0, link);
        call.number(numberWithin());
    }

    void sent(Object of, long now) {
        RemoteCall call = made(of);
        if (call != null) {
            call.sent(now);
        }
    }

    void returned(Object uid, long now) throws IOException {
        for (int at = depth - 1; at >= 0; at--) {
            RemoteCall call = open[at];
            if (call.kind == RemoteCall.MADE && call.sent) {
                if (!call.returned) {
                    call.returned(uid, ids, now);
                }
                return;
            }
        }
    }

    /** A server wraps every RemoteException of a method: one that is not wrapped comes from the server itself. */
    void thrown(Object of, Object exception) {
        RemoteCall call = made(of);
        if (call != null) {
            boolean wrapped = exception instanceof ServerException || exception instanceof ServerError;
            boolean method = wrapped || !(exception instanceof RemoteException);
            boolean none = exception instanceof NoSuchObjectException;
            call.flag(method ? RemoteCall.THREW : none ? RemoteCall.NO_SUCH_OBJECT : RemoteCall.FAILED);
        }
    }

    private RemoteCall made(Object of) {
        int hash = System.identityHashCode(of);
        for (int at = depth - 1; at >= 0; at--) {
            if (open[at].call == hash && open[at].kind == RemoteCall.MADE) {
                return open[at];
            }
        }
        return null;
    }

    void freed(Object connection, boolean reused, long now) {
        if (connection == null || depth == 0) {
            return;
        }
        Connection known = Connections.of(connection);
        for (int at = depth - 1; at >= 0; at--) {
            RemoteCall call = open[at];
            if (call.connection == known && call.kind == RemoteCall.MADE) {
                if (!call.settled && !(reused && call.returned)) {
                    call.flag(RemoteCall.FAILED);
                }
                call.end(now);
                remove(at);
                return;
            }
        }
    }

    // ---- calls served ----

    void receiving(Object call, Object connection, long now) {
        // A thread serves one call at a time: what is open has lost its end.
        fail(0, now);
        remoteMethods = 0;
        incoming = System.identityHashCode(call);
        receiving = true;
        over = Connections.of(connection);
        ordinal = Connections.count(over);
    }

    void served(Object id) throws IOException {
        if (!receiving) {
            return;
        }
        receiving = false;
        isTold = true;
        if (state.isPaused()) {
            return;
        }
        RemoteCall call = record();
        call.call = incoming;
        call.over(over, ordinal);
        if (ids.readObjID(id)) {
            call.object(ids);
        }
        call.begin(RemoteCall.SERVED, thread());
    }

    void operation(int operation) {
        RemoteCall call = served();
        if (call != null && !call.dispatched) {
            call.operation(operation);
        }
    }

    void hash(long hash) {
        RemoteCall call = served();
        if (call != null && !call.dispatched) {
            call.hash(hash);
        }
    }

    void dispatching(Object object, Object method) {
        RemoteCall call = served();
        if (call == null || call.dispatched) {
            return;
        }
        call.dispatched = true;
        call.skeleton = !(method instanceof java.lang.reflect.Method);
        int number = RemoteNames.of(method);
        call.type(ClassNames.of(object).number);
        call.method(number);
        serve(call, ServedLinks.of(state, call.object, number));
    }

    /** What the thread does now it does for a call; a thread outside of all root methods stays there. */
    void serve(RemoteCall call, int link) {
        call.isEntered = enterLink(link);
        if (call.isEntered) {
            call.cause(0, link);
        }
    }

    void inputReleased(Object of) {
        RemoteCall call = served();
        if (call != null && call.call == System.identityHashCode(of) && call.skeleton && !call.sent) {
            call.sent(Clock.now());
        }
    }

    void calling() {
        RemoteCall call = served();
        if (call != null && !call.sent) {
            call.sent(Clock.now());
        }
    }

    void failed(Object exception) {
        RemoteCall call = served();
        if (call != null) {
            // A skeleton says in this way only that it could not read its arguments.
            boolean arguments = call.skeleton && exception instanceof UnmarshalException;
            boolean threw = call.sent && !call.returned && !arguments;
            call.flag(threw ? RemoteCall.THREW : RemoteCall.FAILED);
        }
    }

    void answering(Object uid, long now) throws IOException {
        RemoteCall call = served();
        if (call != null && !call.returned) {
            call.returned(uid, ids, now);
        }
    }

    void serviced(boolean sound, long now) {
        receiving = false;
        int at = lastServed();
        if (at >= 0) {
            fail(at + 1, now);
            RemoteCall call = open[at];
            if (!call.dispatched && !call.settled) {
                call.flag(RemoteCall.NO_SUCH_OBJECT);
            } else if (!sound) {
                call.flag(RemoteCall.FAILED);
            }
            leave(call);
            call.end(now);
            remove(at);
        }
    }

    // ---- stubs and skeletons ----

    void stubEntered() {
        push();
    }

    /** Nothing more may come of it, where the classes of the JDK are as they were. */
    void stubCalls(long hash, long now) {
        // The one before it in the same method is over.
        RemoteCall before = announced();
        if (before != null && before.asked == null) {
            before.end(now);
            remove(depth - 1);
        }
        if (state.isPaused()) {
            return;
        }
        RemoteCall call = record();
        cause(call);
        call.hash(hash);
        call.announced = true;
        call.begin(RemoteCall.MADE, thread());
    }

    void stubLeft(Object exception, long now) {
        int at = depth - 1;
        while (at >= 0 && open[at].begun) {
            at--;
        }
        if (at < 0) {
            return;
        }
        while (depth > at + 1) {
            RemoteCall call = open[depth - 1];
            if (!call.announced || exception instanceof RemoteException) {
                call.flag(RemoteCall.FAILED);
            } else if (exception != null) {
                call.flag(RemoteCall.THREW);
            }
            call.end(now);
            remove(depth - 1);
        }
        remove(at);
    }

    void skeletonEntered(Object object, int operation, long hash) {
        if (served() != null || state.isPaused()) {
            return;
        }
        RemoteCall call = record();
        call.hash(hash);
        call.type(ClassNames.of(object).number);
        call.announced = true;
        call.operation(operation);
        call.begin(RemoteCall.SERVED, thread());
        serve(call, ServedLinks.of(state, Numbers.mix(System.identityHashCode(object.getClass()), hash), operation));
    }

    void skeletonLeft(Object exception, long now) {
        int at = lastServed();
        if (at >= 0 && open[at].announced) {
            fail(at + 1, now);
            if (exception != null) {
                open[at].flag(exception instanceof RemoteException ? RemoteCall.FAILED : RemoteCall.THREW);
            }
            leave(open[at]);
            open[at].end(now);
            remove(at);
        }
    }

    // ---- methods that can be called from other processes ----

    /** One is entered. It is called from another process if this is the outermost, in a thread that serves, and nobody else has told of the call. */
    void remoteEntered(Object object, Object method) {
        if (remoteMethods > 0) {
            remoteMethods++;
            return;
        }
        // What is counted here is counted in the end.
        StackLevels.need(StackLevels.OF_FILE);
        String host = isTold || served() != null ? null : RemoteClients.host();
        if (host != null && !state.isPaused()) {
            RemoteCall call = record();
            call.told = true;
            call.type(ClassNames.of(object).number);
            call.method(RemoteNames.of(method));
            call.host(RemoteClients.number(host));
            call.begin(RemoteCall.SERVED, thread());
            call.sent(Clock.now());
        } else if (host == null && !isTold && served() == null) {
            state.local = true;
            return;
        }
        remoteMethods++;
    }

    void remoteLeft(Object exception, long now) {
        if (remoteMethods == 0 || --remoteMethods > 0) {
            return;
        }
        int at = lastServed();
        if (at >= 0 && open[at].told) {
            fail(at + 1, now);
            if (exception != null) {
                open[at].flag(RemoteCall.THREW);
            }
            open[at].end(now);
            remove(at);
        }
    }
}
