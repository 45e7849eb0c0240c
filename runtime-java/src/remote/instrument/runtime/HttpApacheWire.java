package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** Connections of Apache HttpClient 4 and 5, which count what is sent over them. */
final class HttpApacheWire extends HttpWire {
    private static final Teller OF_4 = new Teller();
    private static final Teller OF_5 = new Teller();

    private final MethodHandle socket;
    private final MethodHandle metrics;
    private final MethodHandle requests;

    HttpApacheWire(boolean is4, ClassLoader loader) throws ClassNotFoundException {
        super(is4 ? OF_4 : OF_5);
        String type = is4 ? "org.apache.http.conn.ManagedHttpClientConnection" : "org.apache.hc.client5.http.io.ManagedHttpClientConnection";
        Class<?> connections = Class.forName(type, false, loader);
        socket = Asked.method(connections, "getSocket");
        metrics = Asked.method(connections, is4 ? "getMetrics" : "getEndpointDetails");
        String counts = is4 ? "org.apache.http.HttpConnectionMetrics" : "org.apache.hc.core5.http.HttpConnectionMetrics";
        requests = Asked.method(Class.forName(counts, false, loader), "getRequestCount");
    }

    @Override
    void find(Object request, Object carrier, HttpPlace into) {
        Object count = Asked.ask(requests, Asked.ask(metrics, carrier));
        into.connection = count == null ? null : Asked.ask(socket, carrier);
        into.ordinal = HttpPlace.number(count) + 1;
    }
}
