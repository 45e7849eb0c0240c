package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;

/** {@code com.sun.net.httpserver}: request and response are one object, the exchange. */
final class HttpExchanges extends HttpLibrary {
    static final String EXCHANGE = "com.sun.net.httpserver.HttpExchange";

    private final MethodHandle method;
    private final MethodHandle uri;
    private final MethodHandle headers;
    private final MethodHandle first;
    private final MethodHandle client;
    private final MethodHandle status;

    HttpExchanges(Class<?> type) throws ClassNotFoundException {
        method = Asked.method(type, "getRequestMethod");
        uri = Asked.method(type, "getRequestURI");
        headers = Asked.method(type, "getRequestHeaders");
        first = Asked.method(Class.forName("com.sun.net.httpserver.Headers", false, type.getClassLoader()), "getFirst", String.class);
        client = Asked.method(type, "getRemoteAddress");
        status = Asked.method(type, "getResponseCode");
    }

    @Override
    void read(Object exchange, Object target, HttpSaid into) {
        into.method = text(Asked.ask(method, exchange));
        Object address = Asked.ask(uri, exchange);
        into.path(address instanceof URI ? ((URI) address).getRawPath() : null);
        Object from = Asked.ask(client, exchange);
        InetAddress host = from instanceof InetSocketAddress ? ((InetSocketAddress) from).getAddress() : null;
        into.host = host == null ? null : host.getHostAddress();
        into.header = text(Asked.ask(first, Asked.ask(headers, exchange), TraceParent.HEADER));
    }

    @Override
    int status(Object exchange) {
        return number(Asked.ask(status, exchange));
    }
}
