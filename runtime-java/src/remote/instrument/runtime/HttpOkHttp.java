package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** OkHttp 3 and 4: requests that do not change, so a header makes another one of it. */
final class HttpOkHttp extends HttpLibrary {
    static final String REQUEST = "okhttp3.Request";

    private final MethodHandle method;
    private final MethodHandle url;
    private final MethodHandle path;
    private final MethodHandle host;
    private final MethodHandle port;
    private final MethodHandle header;
    private final MethodHandle status;
    private final MethodHandle builder;
    private final MethodHandle add;
    private final MethodHandle build;

    HttpOkHttp(Class<?> type) throws ClassNotFoundException {
        ClassLoader loader = type.getClassLoader();
        Class<?> urls = Class.forName("okhttp3.HttpUrl", false, loader);
        Class<?> builders = Class.forName("okhttp3.Request$Builder", false, loader);
        method = Asked.method(type, "method");
        url = Asked.method(type, "url");
        path = Asked.method(urls, "encodedPath");
        host = Asked.method(urls, "host");
        port = Asked.method(urls, "port");
        header = Asked.method(type, "header", String.class);
        status = Asked.method(Class.forName("okhttp3.Response", false, loader), "code");
        builder = Asked.method(type, "newBuilder");
        add = Asked.method(builders, "header", String.class, String.class);
        build = Asked.method(builders, "build");
    }

    @Override
    void read(Object request, Object target, HttpSaid into) {
        into.method = text(Asked.ask(method, request));
        Object address = Asked.ask(url, request);
        into.path(text(Asked.ask(path, address)));
        Object number = Asked.ask(port, address);
        into.address(null, text(Asked.ask(host, address)), number instanceof Integer ? (Integer) number : -1);
        into.header = text(Asked.ask(header, request, TraceParent.HEADER));
    }

    @Override
    int status(Object response) {
        return number(Asked.ask(status, response));
    }

    @Override
    Object with(Object request, String value) {
        return Asked.ask(build, Asked.ask(add, Asked.ask(builder, request), TraceParent.HEADER, value));
    }
}
