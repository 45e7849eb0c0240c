package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** Servlets of either package. */
final class HttpServlets extends HttpLibrary {
    static final String[] SPECIFICATIONS = {"jakarta.servlet.http.HttpServlet", "javax.servlet.http.HttpServlet"};
    static final String REQUEST = "Request";

    private final MethodHandle method;
    private final MethodHandle uri;
    private final MethodHandle header;
    private final MethodHandle client;
    private final MethodHandle dispatcher;
    private final MethodHandle async;
    private final MethodHandle status;

    HttpServlets(Class<?> type, String specification) throws ClassNotFoundException {
        method = Asked.method(type, "getMethod");
        uri = Asked.method(type, "getRequestURI");
        header = Asked.method(type, "getHeader", String.class);
        client = Asked.method(type, "getRemoteAddr");
        // Since version 3.0 of the specification.
        dispatcher = Asked.method(type, "getDispatcherType");
        async = Asked.method(type, "isAsyncStarted");
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
    int status(Object response) {
        return number(Asked.ask(status, response));
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
