package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** Connections of OkHttp 4, which count what was answered over them. One that anything else has become of takes no further request. */
final class HttpOkHttpWire extends HttpWire {
    private static final Teller TELLER = new Teller();

    private final MethodHandle connection;
    private final MethodHandle protocol;
    private final MethodHandle socket;
    private final MethodHandle answered;

    HttpOkHttpWire(ClassLoader loader) throws ClassNotFoundException {
        super(TELLER);
        Class<?> connections = Class.forName("okhttp3.internal.connection.RealConnection", false, loader);
        connection = Asked.method(Class.forName("okhttp3.internal.connection.Exchange", false, loader), "getConnection$okhttp");
        protocol = Asked.method(connections, "protocol");
        socket = Asked.method(connections, "socket");
        answered = Asked.field(connections, "successCount");
    }

    @Override
    void find(Object request, Object carrier, HttpPlace into) {
        Object over = Asked.ask(connection, carrier);
        Object version = Asked.ask(protocol, over);
        Object count = Asked.ask(answered, over);
        if (version == null || count == null) {
            return;
        }
        into.isShared = !version.toString().startsWith("http/1.");
        into.connection = Asked.ask(socket, over);
        into.ordinal = HttpPlace.number(count) + 1;
    }
}
