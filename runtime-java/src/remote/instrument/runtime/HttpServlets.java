package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** Servlets of either package. */
final class HttpServlets extends HttpLibrary {
    static final String[] SPECIFICATIONS = {"jakarta.servlet.http.HttpServlet", "javax.servlet.http.HttpServlet"};
    static final String REQUEST = "Request";
    /** The attribute in which Spring MVC keeps the pattern of the method's annotation, with that of its class in front. */
    private static final String PATTERN = "org.springframework.web.servlet.HandlerMapping.bestMatchingPattern";

    /** Headers by which proxies say that they are there. */
    private static final String[] FORWARDED = {"Via", "Forwarded", "X-Forwarded-For"};

    private final MethodHandle method;
    private final MethodHandle uri;
    private final MethodHandle header;
    private final MethodHandle client;
    private final MethodHandle dispatcher;
    private final MethodHandle async;
    private final MethodHandle attribute;
    private final MethodHandle context;
    private final MethodHandle status;
    private final MethodHandle protocol;

    HttpServlets(Class<?> type, String specification) throws ClassNotFoundException {
        protocol = Asked.method(type, "getProtocol");
        method = Asked.method(type, "getMethod");
        uri = Asked.method(type, "getRequestURI");
        header = Asked.method(type, "getHeader", String.class);
        client = Asked.method(type, "getRemoteAddr");
        // Since version 3.0 of the specification.
        dispatcher = Asked.method(type, "getDispatcherType");
        async = Asked.method(type, "isAsyncStarted");
        attribute = Asked.method(type, "getAttribute", String.class);
        context = Asked.method(type, "getContextPath");
        status = Asked.method(Class.forName(specification + "Response", false, type.getClassLoader()), "getStatus");
    }

    @Override
    void read(Object request, Object target, HttpSaid into) {
        into.method = text(Asked.ask(method, request));
        into.path(text(Asked.ask(uri, request)));
        into.host = text(Asked.ask(client, request));
        into.header = text(Asked.ask(header, request, TraceParent.HEADER));
    }

    @Override
    void protocol(Object request, HttpPlace into) {
        String version = text(Asked.ask(protocol, request));
        into.isShared = version != null && !version.startsWith("HTTP/1.");
    }

    @Override
    boolean isForwarded(Object request) {
        for (String name : FORWARDED) {
            if (Asked.ask(header, request, name) != null) {
                return true;
            }
        }
        return false;
    }

    @Override
    int status(Object response) {
        return number(Asked.ask(status, response));
    }

    @Override
    String route(Object request) {
        String pattern = text(Asked.ask(attribute, request, PATTERN));
        // Static resources, and whatever no method is for.
        if (pattern == null || pattern.equals("/**")) {
            return null;
        }
        String root = text(Asked.ask(context, request));
        return root == null || root.isEmpty() ? pattern : root + pattern;
    }

    @Override
    boolean isFirst(Object request) {
        Object why = Asked.ask(dispatcher, request);
        return why == null || why.toString().equals("REQUEST");
    }

    @Override
    boolean goesOn(Object request) {
        return Boolean.TRUE.equals(Asked.ask(async, request));
    }
}
