package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;

/**
 * Connections of Apache HttpClient 4 and 5, which count what is sent over them. Where a server closes one, version 4 opens the same object again, with another
 * socket, and goes on counting: its count holds for the first socket alone.
 */
final class HttpApacheWire extends HttpWire {
    private static final Teller OF_4 = new Teller();
    private static final Teller OF_5 = new Teller();

    /** Sockets that counters of version 4 counted from 0; of nothing: nobody saw that. */
    private static final HashMap<WeakIdentity, WeakReference<Object>> FIRST = new HashMap<WeakIdentity, WeakReference<Object>>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<Object>();
    private static final WeakIdentity.Question QUESTION = new WeakIdentity.Question();

    private final boolean is4;
    private final MethodHandle socket;
    private final MethodHandle metrics;
    private final MethodHandle requests;

    HttpApacheWire(boolean is4, ClassLoader loader) throws ClassNotFoundException {
        super(is4 ? OF_4 : OF_5);
        this.is4 = is4;
        String type = is4 ? "org.apache.http.conn.ManagedHttpClientConnection" : "org.apache.hc.client5.http.io.ManagedHttpClientConnection";
        Class<?> connections = Class.forName(type, false, loader);
        socket = Asked.method(connections, "getSocket");
        metrics = Asked.method(connections, is4 ? "getMetrics" : "getEndpointDetails");
        String counts = is4 ? "org.apache.http.HttpConnectionMetrics" : "org.apache.hc.core5.http.HttpConnectionMetrics";
        requests = Asked.method(Class.forName(counts, false, loader), "getRequestCount");
    }

    @Override
    void find(Object request, Object carrier, HttpPlace into) {
        Object counter = Asked.ask(metrics, carrier);
        Object count = Asked.ask(requests, counter);
        into.connection = count == null ? null : Asked.ask(socket, carrier);
        if (into.connection != null && (!is4 || isFirst(counter, into.connection, HttpPlace.number(count)))) {
            into.ordinal = HttpPlace.number(count) + 1;
        }
    }

    /** Whether all that a counter has counted so far went over this socket. */
    private static boolean isFirst(Object counter, Object socket, long before) {
        synchronized (FIRST) {
            for (Object gone; (gone = GONE.poll()) != null;) {
                FIRST.remove(gone);
            }
            QUESTION.of = counter;
            WeakReference<Object> known = FIRST.get(QUESTION);
            QUESTION.of = null;
            if (known == null) {
                known = new WeakReference<Object>(before == 0 ? socket : null);
                FIRST.put(new WeakIdentity(counter, GONE), known);
            }
            return known.get() == socket;
        }
    }
}
