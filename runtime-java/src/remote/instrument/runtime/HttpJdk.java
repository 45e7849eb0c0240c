package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** {@code java.net.http}: requests that do not change, so a header makes another one of it. */
final class HttpJdk extends HttpLibrary {
    static final String REQUEST = "java.net.http.HttpRequest";

    private final Class<?> type;
    private final MethodHandle method;
    private final MethodHandle uri;
    private final MethodHandle headers;
    private final MethodHandle first;
    private final MethodHandle status;

    HttpJdk(Class<?> type) throws ClassNotFoundException {
        ClassLoader loader = type.getClassLoader();
        this.type = type;
        method = Asked.method(type, "method");
        uri = Asked.method(type, "uri");
        headers = Asked.method(type, "headers");
        first = Asked.method(Class.forName("java.net.http.HttpHeaders", false, loader), "firstValue", String.class);
        status = Asked.method(Class.forName("java.net.http.HttpResponse", false, loader), "statusCode");
    }

    @Override
    void read(Object request, Object target, HttpSaid into) {
        into.method = text(Asked.ask(method, request));
        Object address = Asked.ask(uri, request);
        if (address instanceof URI) {
            URI known = (URI) address;
            into.path(known.getRawPath());
            into.address(known.getScheme(), known.getHost(), known.getPort());
        }
        Object header = Asked.ask(first, Asked.ask(headers, request), TraceParent.HEADER);
        into.header = header instanceof Optional ? text(((Optional<?>) header).orElse(null)) : null;
    }

    @Override
    int status(Object response) {
        return number(Asked.ask(status, response));
    }

    /** By the parts, for before Java 16 there is nothing that copies a request. */
    @Override
    Object with(Object request, String header) {
        try {
            return copy(request, header);
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    private Object copy(Object request, String header) throws ReflectiveOperationException {
        ClassLoader loader = type.getClassLoader();
        Class<?> builders = Class.forName("java.net.http.HttpRequest$Builder", false, loader);
        Class<?> publisher = Class.forName("java.net.http.HttpRequest$BodyPublisher", false, loader);
        Class<?> version = Class.forName("java.net.http.HttpClient$Version", false, loader);
        Object to = type.getMethod("newBuilder", URI.class).invoke(null, Asked.ask(uri, request));
        java.lang.reflect.Method add = builders.getMethod("header", String.class, String.class);
        Object all = Class.forName("java.net.http.HttpHeaders", false, loader).getMethod("map").invoke(Asked.ask(headers, request));
        for (Map.Entry<?, ?> entry : ((Map<?, ?>) all).entrySet()) {
            for (Object value : (List<?>) entry.getValue()) {
                add.invoke(to, entry.getKey(), value);
            }
        }
        add.invoke(to, TraceParent.HEADER, header);
        Optional<?> given = (Optional<?>) type.getMethod("version").invoke(request);
        if (given.isPresent()) {
            builders.getMethod("version", version).invoke(to, given.get());
        }
        Optional<?> timeout = (Optional<?>) type.getMethod("timeout").invoke(request);
        if (timeout.isPresent()) {
            builders.getMethod("timeout", java.time.Duration.class).invoke(to, timeout.get());
        }
        builders.getMethod("expectContinue", boolean.class).invoke(to, type.getMethod("expectContinue").invoke(request));
        String name = text(Asked.ask(method, request));
        Optional<?> body = (Optional<?>) type.getMethod("bodyPublisher").invoke(request);
        if (body.isPresent()) {
            builders.getMethod("method", String.class, publisher).invoke(to, name, body.get());
        } else {
            // GET, DELETE and, from Java 18 on, HEAD: no other one is without a body.
            builders.getMethod(name).invoke(to);
        }
        return builders.getMethod("build").invoke(to);
    }
}
