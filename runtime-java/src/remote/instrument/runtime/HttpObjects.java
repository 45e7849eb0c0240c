package instrument.runtime;

import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.WeakHashMap;

/** What became of objects that tell of one request by several calls. None is kept alive. */
final class HttpObjects {
    /** Nothing more is told of its request. */
    static final Object DONE = new Object();

    /** By connections of the JDK: the request that waits for its response, or {@link #DONE}. */
    private static final WeakHashMap<Object, Object> CONNECTIONS = new WeakHashMap<Object, Object>();
    /** Exchanges that were handed to the program. They may be of its own classes, whose methods are not for us to call. */
    private static final HashSet<WeakIdentity> EXCHANGES = new HashSet<WeakIdentity>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<Object>();

    private HttpObjects() {}

    /** Another recording begins: requests that wait are of the one before. */
    static void renew() {
        synchronized (CONNECTIONS) {
            CONNECTIONS.clear();
        }
    }

    /** The request of a connection that is written to, or read; null: it has had none; {@link #DONE}: it is told of already. */
    static Object next(Object connection, boolean writes) {
        synchronized (CONNECTIONS) {
            Object known = CONNECTIONS.get(connection);
            if (known != null && writes) {
                return DONE;
            }
            CONNECTIONS.put(connection, DONE);
            return known;
        }
    }

    /** The response of a request, which does not refer to the connection any more, comes with another call of that. */
    static void waits(Object connection, RemoteCall call) {
        synchronized (CONNECTIONS) {
            CONNECTIONS.put(connection, call);
        }
    }

    /** Whether an exchange comes for the first time. */
    static boolean isNew(Object exchange) {
        synchronized (EXCHANGES) {
            for (Object gone; (gone = GONE.poll()) != null;) {
                EXCHANGES.remove(gone);
            }
            return EXCHANGES.add(new WeakIdentity(exchange, GONE));
        }
    }
}
