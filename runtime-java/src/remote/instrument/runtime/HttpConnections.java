package instrument.runtime;

import java.lang.ref.ReferenceQueue;
import java.util.HashMap;

/** Connections that requests by HTTP go over, by the objects of libraries, which are not kept alive and not compared by methods of their own. */
final class HttpConnections {
    /** In the place of what is not known. */
    private static final Connection NONE = new Connection(0, 0, null, 0, null);

    private static final HashMap<WeakIdentity, Connection> ALL = new HashMap<WeakIdentity, Connection>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<Object>();

    private static final WeakIdentity.Question QUESTION = new WeakIdentity.Question();

    private HttpConnections() {}

    /** Another recording begins: it has other numbers. */
    static void renew() {
        synchronized (ALL) {
            ALL.clear();
        }
    }

    /** A request was read from its connection. */
    static void served(RemoteCall call) {
        HttpMessage message = call.http;
        HttpPlace place = message.place();
        message.library.protocol(message.request, place);
        if (message.library.wire != null && !place.isShared) {
            message.library.wire.find(message.request, null, place);
        }
        over(call, message.library, message.request, place, Connection.ACCEPTED);
    }

    /** A request is about to be written to its connection. */
    static void sent(RemoteCall call, HttpLibrary library, Object request, Object carrier) {
        HttpPlace place = call.http.place();
        library.wire.find(request, carrier, place);
        over(call, library, request, place, Connection.CONNECTED);
    }

    private static void over(RemoteCall call, HttpLibrary library, Object request, HttpPlace place, int side) {
        Connection connection = place.isShared || place.connection == null ? NONE : of(library, request, place.connection, side);
        boolean isKnown = place.ordinal > 0 && place.ordinal <= Integer.MAX_VALUE;
        call.place(isKnown ? Connections.number(connection) : 0, (int) place.ordinal);
        boolean isSent = side == Connection.CONNECTED && connection != NONE;
        if (place.isShared) {
            call.flag(RemoteCall.SHARED);
        } else if (connection.isForwarded || isSent && connection.remotePort() != call.http.port) {
            call.flag(RemoteCall.FORWARDED);
        }
        place.clear();
    }

    private static Connection of(HttpLibrary library, Object request, Object of, int side) {
        synchronized (ALL) {
            QUESTION.of = of;
            Connection known = ALL.get(QUESTION);
            QUESTION.of = null;
            if (known != null) {
                return known;
            }
        }
        Connection ends = library.wire.ends(of, side);
        Connection made = ends != null && ends.isWhole() ? ends : NONE;
        if (made != NONE && side == Connection.ACCEPTED) {
            made.isForwarded = library.isForwarded(request);
        }
        synchronized (ALL) {
            for (Object gone; (gone = GONE.poll()) != null;) {
                ALL.remove(gone);
            }
            WeakIdentity key = new WeakIdentity(of, GONE);
            Connection known = ALL.get(key);
            if (known == null) {
                ALL.put(key, made);
            }
            return known == null ? made : known;
        }
    }
}
