package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Connections that Tomcat has accepted. It counts down how many requests it goes on to take of each. */
final class HttpTomcat extends HttpWire {
    static final String REQUEST = "org.apache.catalina.connector.RequestFacade";

    private final MethodHandle inner;
    private final MethodHandle coyote;
    private final MethodHandle hook;
    private final Class<?> processor;
    private final MethodHandle wrapper;
    private final MethodHandle left;
    private final MethodHandle endpoint;
    private final MethodHandle most;
    private final MethodHandle configured;
    private final MethodHandle localPort;
    private final MethodHandle remotePort;
    private final MethodHandle localAddress;
    private final MethodHandle remoteAddress;

    HttpTomcat(Class<?> type) throws ClassNotFoundException {
        super(null);
        ClassLoader loader = type.getClassLoader();
        Class<?> wrappers = Class.forName("org.apache.tomcat.util.net.SocketWrapperBase", false, loader);
        inner = Asked.field(type, "request");
        coyote = Asked.method(Class.forName("org.apache.catalina.connector.Request", false, loader), "getCoyoteRequest");
        hook = Asked.field(Class.forName("org.apache.coyote.Request", false, loader), "hook");
        processor = Class.forName("org.apache.coyote.http11.Http11Processor", false, loader);
        wrapper = Asked.field(Class.forName("org.apache.coyote.AbstractProcessor", false, loader), "socketWrapper");
        left = Asked.field(wrappers, "keepAliveLeft");
        endpoint = Asked.field(wrappers, "endpoint");
        Class<?> endpoints = Class.forName("org.apache.tomcat.util.net.AbstractEndpoint", false, loader);
        most = Asked.method(endpoints, "getMaxKeepAliveRequests");
        configured = Asked.field(endpoints, "maxKeepAliveRequests");
        localPort = Asked.method(wrappers, "getLocalPort");
        remotePort = Asked.method(wrappers, "getRemotePort");
        localAddress = Asked.method(wrappers, "getLocalAddr");
        remoteAddress = Asked.method(wrappers, "getRemoteAddr");
    }

    @Override
    void find(Object request, Object carrier, HttpPlace into) {
        Object reader = Asked.ask(hook, Asked.ask(coyote, Asked.ask(inner, request)));
        if (!processor.isInstance(reader)) {
            return;
        }
        Object over = Asked.ask(wrapper, reader);
        into.connection = over;
        Object ends = Asked.ask(endpoint, over);
        long all = HttpPlace.number(Asked.ask(most, ends));
        Object rest = Asked.ask(left, over);
        // If it takes as many as come, it counts none of them; and while it stops it says that it takes one.
        if (rest != null && all > 0 && all == HttpPlace.number(Asked.ask(configured, ends))) {
            into.ordinal = all == 1 ? 1 : all - HttpPlace.number(rest);
        }
    }

    @Override
    Connection ends(Object connection, int side) {
        int from = (int) HttpPlace.number(Asked.ask(localPort, connection));
        int to = (int) HttpPlace.number(Asked.ask(remotePort, connection));
        return new Connection(side, from, bytes(Asked.ask(localAddress, connection)), to, bytes(Asked.ask(remoteAddress, connection)));
    }

    /** Of an address in numbers: nobody is asked for a name. */
    private static byte[] bytes(Object address) {
        try {
            return address instanceof String ? InetAddress.getByName((String) address).getAddress() : null;
        } catch (UnknownHostException e) {
            return null;
        }
    }
}
