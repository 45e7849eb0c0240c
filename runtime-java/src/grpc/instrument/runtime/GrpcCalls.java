package instrument.runtime;

import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;

/**
 * Calls by gRPC, each from its start to its end, whichever threads tell of it. A client's is found by its listener. A server's is found by gRPC's own object
 * for it, and is open in a thread while that hands something of it to the program.
 */
final class GrpcCalls {
    /** For {@link ServedLinks}: all calls are of one object. */
    private static final long OBJECT = 0x67727063;
    private static final OpenCalls OPEN = new OpenCalls();

    private GrpcCalls() {}

    // ---- calls made ----

    /** A call starts; or one that waited for its channel goes on, perhaps in another thread and with another listener, but with its headers. */
    static void started(RemoteCalls calls, Object made, Object listener, Object headers) {
        if (listener == null || headers == null) {
            return;
        }
        GrpcLibrary library = GrpcLibrary.of(made);
        String name = library.made(made);
        RemoteCall known = OPEN.take(headers);
        // One that ended before its channel was there does not go on: the program has used its headers again.
        if (known != null && !known.returned && known.http.hash == HttpRoutes.hash("", name)) {
            if (isOurs(known)) {
                known.http.request = new WeakReference<Object>(made);
                OPEN.put(listener, known);
            }
            return;
        }
        if (calls.state.isPaused()) {
            return;
        }
        RemoteCall call = begin(calls, RemoteCall.GRPC_MADE, library, name, headers);
        call.http.request = new WeakReference<Object>(made);
        calls.give(calls.depth - 1);
        OPEN.put(listener, call);
        if (library.isDelayed) {
            OPEN.put(headers, call);
        }
    }

    /** Its listener is told of the end: the first time, if it is told through others. */
    static void ended(Object listener, Object status, long now) {
        RemoteCall call = OPEN.take(listener);
        if (call == null || call.returned || !isOurs(call)) {
            return;
        }
        call.returned = true;
        Object made = ((WeakReference<?>) call.http.request).get();
        if (made != null) {
            peer(call, GrpcLibrary.of(made).address(made));
        }
        call.status(GrpcLibrary.status(status));
        call.end(now);
    }

    // ---- calls served ----

    /** A call is about to be handed to the program, which has it from here on until it {@link #left}. */
    static int served(RemoteCalls calls, Object served, Object headers) {
        if (headers == null || calls.state.isPaused()) {
            return 0;
        }
        GrpcLibrary library = GrpcLibrary.of(served);
        RemoteCall call = begin(calls, RemoteCall.GRPC_SERVED, library, library.served(served), headers);
        peer(call, library.address(served));
        call.number(RemoteCallStack.nextNumber());
        call.cause(0, ServedLinks.of(calls.state, OBJECT, call.method()));
        int token = calls.enter(call);
        OPEN.put(served, call);
        return token;
    }

    /** More of a call is handed to the program, perhaps by another thread. */
    static int continued(RemoteCalls calls, Object listener) {
        Object served = GrpcLibrary.of(listener).callOf(listener);
        RemoteCall call = served == null ? null : OPEN.get(served);
        return call == null ? 0 : resume(calls, call);
    }

    /** The program is told of the end of a call: the last that is done for it. */
    static int closed(RemoteCalls calls, Object listener, Object status) {
        Object served = GrpcLibrary.of(listener).callOf(listener);
        RemoteCall call = served == null ? null : OPEN.take(served);
        if (call == null) {
            return 0;
        }
        // The client has given it up, or the connection is lost.
        over(call, status, Clock.now());
        return resume(calls, call);
    }

    /** The program ends a call. */
    static void answered(Object served, Object status, long now) {
        RemoteCall call = OPEN.get(served);
        if (call != null) {
            over(call, status, now);
        }
    }

    private static void over(RemoteCall call, Object status, long now) {
        if (!call.returned && isOurs(call)) {
            call.returned = true;
            call.status(GrpcLibrary.status(status));
            call.end(now);
        }
    }

    private static int resume(RemoteCalls calls, RemoteCall call) {
        return isOurs(call) && !calls.state.isPaused() ? calls.resume(call) : 0;
    }

    /** The program has returned, or an exception has left it. */
    static void left(RemoteCalls calls, int token, boolean hasFailed, long now) {
        RemoteCall call = calls.letGo(token, now);
        if (call != null && hasFailed && !call.returned && isOurs(call)) {
            // gRPC makes a status of it.
            call.returned = true;
            call.flag(RemoteCall.THREW);
            call.end(now);
        }
    }

    // ---- both ----

    /** A call on top of the stack. */
    private static RemoteCall begin(RemoteCalls calls, int kind, GrpcLibrary library, String name, Object headers) {
        RemoteCall call = calls.record();
        HttpMessage message = call.message();
        message.recording = Recording.number;
        message.hash = HttpRoutes.hash("", name);
        if (kind == RemoteCall.GRPC_MADE) {
            calls.cause(call);
        }
        call.request(RemoteNames.given("", name), 0);
        String header = library.header(headers);
        if (header != null) {
            if (message.parent.read(header)) {
                call.key(message.parent);
            } else {
                call.flag(RemoteCall.BAD_KEY);
            }
        } else if (kind == RemoteCall.GRPC_MADE && Recording.settings.propagate) {
            message.parent.renew(calls.within());
            library.give(headers, message.parent.text());
            call.key(message.parent);
        }
        call.begin(kind, calls.thread());
        return call;
    }

    private static boolean isOurs(RemoteCall call) {
        return call.http.recording == Recording.number && !Recording.isOver();
    }

    private static void peer(RemoteCall call, InetSocketAddress address) {
        if (address != null) {
            call.http.port = call.kind == RemoteCall.GRPC_MADE ? address.getPort() : 0;
            call.request(call.method(), GrpcPeer.number(address.getAddress()));
        }
    }
}
