package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.nio.channels.SocketChannel;

/** Connections that Jetty 9 to 11 has accepted. Each has a channel for its requests, which counts them. */
final class HttpJetty extends HttpWire {
    static final String REQUEST = "org.eclipse.jetty.server.Request";

    private final MethodHandle channel;
    private final MethodHandle requests;
    private final MethodHandle endpoint;
    private final MethodHandle transport;

    HttpJetty(Class<?> type) throws ClassNotFoundException {
        super(null);
        ClassLoader loader = type.getClassLoader();
        Class<?> channels = Class.forName("org.eclipse.jetty.server.HttpChannel", false, loader);
        channel = Asked.method(type, "getHttpChannel");
        requests = Asked.method(channels, "getRequests");
        endpoint = Asked.method(channels, "getEndPoint");
        transport = Asked.method(Class.forName("org.eclipse.jetty.io.EndPoint", false, loader), "getTransport");
    }

    @Override
    void find(Object request, Object carrier, HttpPlace into) {
        Object reader = Asked.ask(channel, request);
        // Below whatever decrypts, and whatever says that it comes from elsewhere.
        Object over = Asked.ask(transport, Asked.ask(endpoint, reader));
        into.connection = over instanceof SocketChannel ? over : null;
        into.ordinal = HttpPlace.number(Asked.ask(requests, reader));
    }
}
