package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** Apache HttpClient 4 and 5: a header is set on the request itself. */
final class HttpApache extends HttpLibrary {
    /** Of 4 and of 5: the request, what says where it goes, a header, a host, a response. */
    static final String[][] VERSIONS = {
        {"org.apache.http.HttpRequest", "org.apache.http.RequestLine", "org.apache.http.Header", "org.apache.http.HttpHost", "org.apache.http.HttpResponse"},
        {
            "org.apache.hc.core5.http.HttpRequest", "org.apache.hc.core5.http.HttpRequest", "org.apache.hc.core5.http.Header",
            "org.apache.hc.core5.http.HttpHost", "org.apache.hc.core5.http.HttpResponse"
        },
    };
    static final int REQUEST = 0;
    private static final int LINE = 1;
    private static final int HEADER = 2;
    private static final int HOST = 3;
    private static final int RESPONSE = 4;

    /** Of 4: what has the first line of a request, and of a response; null: they have it themselves. */
    private final MethodHandle line;
    private final MethodHandle answer;
    private final MethodHandle method;
    private final MethodHandle path;
    private final MethodHandle first;
    private final MethodHandle value;
    private final MethodHandle set;
    private final MethodHandle remove;
    private final MethodHandle scheme;
    private final MethodHandle host;
    private final MethodHandle port;
    private final MethodHandle status;

    HttpApache(Class<?> type, String[] names) throws ClassNotFoundException {
        ClassLoader loader = type.getClassLoader();
        Class<?> lines = Class.forName(names[LINE], false, loader);
        Class<?> hosts = Class.forName(names[HOST], false, loader);
        Class<?> responses = Class.forName(names[RESPONSE], false, loader);
        boolean is4 = lines != type;
        line = is4 ? Asked.method(type, "getRequestLine") : null;
        method = Asked.method(lines, "getMethod");
        path = Asked.method(lines, is4 ? "getUri" : "getPath");
        first = Asked.method(type, "getFirstHeader", String.class);
        value = Asked.method(Class.forName(names[HEADER], false, loader), "getValue");
        set = Asked.method(type, "setHeader", String.class, is4 ? String.class : Object.class);
        remove = Asked.method(type, "removeHeaders", String.class);
        scheme = Asked.method(hosts, "getSchemeName");
        host = Asked.method(hosts, "getHostName");
        port = Asked.method(hosts, "getPort");
        answer = is4 ? Asked.method(responses, "getStatusLine") : null;
        status = is4 ? Asked.method(Class.forName("org.apache.http.StatusLine", false, loader), "getStatusCode") : Asked.method(responses, "getCode");
    }

    @Override
    void read(Object request, Object target, HttpSaid into) {
        Object told = line == null ? request : Asked.ask(line, request);
        into.method = text(Asked.ask(method, told));
        into.path(text(Asked.ask(path, told)));
        Object number = Asked.ask(port, target);
        into.address(text(Asked.ask(scheme, target)), text(Asked.ask(host, target)), number instanceof Integer ? (Integer) number : -1);
        into.header = text(Asked.ask(value, Asked.ask(first, request, TraceParent.HEADER)));
    }

    @Override
    int status(Object response) {
        return number(Asked.ask(status, answer == null ? response : Asked.ask(answer, response)));
    }

    @Override
    Object with(Object request, String header) {
        Asked.ask(set, request, TraceParent.HEADER, header);
        return has(request, header) ? request : null;
    }

    /** The program may send the same object again, and by then with another header. */
    @Override
    void without(Object request, String header) {
        if (has(request, header)) {
            Asked.ask(remove, request, TraceParent.HEADER);
        }
    }

    private boolean has(Object request, String header) {
        return header.equals(Asked.ask(value, Asked.ask(first, request, TraceParent.HEADER)));
    }
}
