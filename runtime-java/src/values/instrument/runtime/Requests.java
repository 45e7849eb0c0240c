package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;

/**
 * The addresses of requests. Only objects of the JDK's own classes are asked; and those that came in, as nothing else knows their address, by the
 * two methods of the servlet specification.
 */
final class Requests {
    /** The last one stands for all others: what comes in may have any text as its method. */
    private static final String[] METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "(other method)"};
    private static final int GET = 0;
    private static final int POST = 2;
    private static final String[] SERVED = forms("");
    private static final String[] PLAIN = forms("http://");
    private static final String[] SECURE = forms("https://");

    private static final String MADE_CLASS = "java.net.http.HttpRequest";
    private static final String SERVED_CLASS = ".servlet.http.HttpServletRequest";

    /** By the classes of requests; it is kept by those. */
    private static final ClassValue<Object> KNOWN = new ClassValue<Object>() {
        @Override
        protected Object computeValue(Class<?> type) {
            return Copy.held(of(type), null);
        }
    };

    /** Null: it cannot be asked. */
    private final MethodHandle method;
    private final MethodHandle address;
    /** It is one that came in. */
    private final boolean isServed;

    private Requests(MethodHandle method, MethodHandle address, boolean isServed) {
        this.method = method;
        this.address = address;
        this.isServed = isServed;
    }

    /** Of a {@code java.net.http.HttpRequest}. */
    static Value made(Object request) {
        Requests known = (Requests) Copy.of(KNOWN.get(request.getClass()));
        if (known.method == null || known.isServed) {
            return ValueKind.HTTP.unknown;
        }
        Object uri = ask(known.address, request);
        return uri instanceof URI ? of(number(ask(known.method, request)), (URI) uri) : ValueKind.HTTP.unknown;
    }

    /** Of a {@code HttpServletRequest}; null: it is none. */
    static Value served(Object request) {
        Requests known = (Requests) Copy.of(KNOWN.get(request.getClass()));
        if (!known.isServed) {
            return null;
        }
        Object path = known.method == null ? null : ask(known.address, request);
        if (!(path instanceof String)) {
            return ValueKind.HTTP.unknown;
        }
        return ValueNames.of(ValueKind.HTTP, SERVED[number(ask(known.method, request))], (String) path, "", 0);
    }

    /** Whether a connection or URL can send a request by HTTP, and has not done so yet. */
    static boolean isFirst(Object connection) {
        return connection instanceof HttpURLConnection ? KnownObjects.isFirst(connection) : connection instanceof URL;
    }

    /** Of a {@link HttpURLConnection} or {@link URL}; null: it is another kind of address. */
    static Value connection(Object connection, boolean writes) {
        if (connection instanceof URL) {
            return of(GET, (URL) connection);
        }
        if (connection.getClass().getClassLoader() != null) {
            return ValueKind.HTTP.unknown;
        }
        HttpURLConnection known = (HttpURLConnection) connection;
        int method = number(known.getRequestMethod());
        // So it will be, once the output is asked for.
        return of(method == GET && writes && known.getDoOutput() ? POST : method, known.getURL());
    }

    private static Value of(int method, URL url) {
        String[] forms = forms(url.getProtocol(), url.getHost());
        return forms == null ? null : ValueNames.of(ValueKind.HTTP, forms[method], url.getPath(), url.getHost(), url.getPort());
    }

    private static Value of(int method, URI uri) {
        String path = uri.getRawPath();
        String[] forms = forms(uri.getScheme(), uri.getHost());
        return forms == null || path == null ? ValueKind.HTTP.unknown
            : ValueNames.of(ValueKind.HTTP, forms[method], path, uri.getHost(), uri.getPort());
    }

    /** What names of such addresses begin with; null: they are not of HTTP. */
    private static String[] forms(String scheme, String host) {
        if (host == null) {
            return null;
        }
        return "http".equalsIgnoreCase(scheme) ? PLAIN : "https".equalsIgnoreCase(scheme) ? SECURE : null;
    }

    private static String[] forms(String scheme) {
        String[] forms = new String[METHODS.length];
        for (int i = 0; i < forms.length; i++) {
            forms[i] = ValueKind.HTTP.prefix + METHODS[i] + ' ' + scheme;
        }
        return forms;
    }

    private static int number(Object method) {
        int number = 0;
        while (number < METHODS.length - 1 && !METHODS[number].equals(method)) {
            number++;
        }
        return number;
    }

    private static Object ask(MethodHandle question, Object request) {
        try {
            return (Object) question.invokeExact(request);
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            if (ThreadStop.is(e)) {
                throw (Error) e;
            }
            // It is the program's own, and it will see that for itself.
            return null;
        }
    }

    private static Requests of(Class<?> type) {
        for (Class<?> above = type; above != null; above = above.getSuperclass()) {
            if (above.getName().equals(MADE_CLASS)) {
                boolean isOfTheJdk = above.getClassLoader() == type.getClassLoader();
                return isOfTheJdk ? of(above, "method", "uri", false) : new Requests(null, null, false);
            }
        }
        Class<?> served = servletRequest(type);
        return served == null ? new Requests(null, null, false) : of(served, "getMethod", "getRequestURI", true);
    }

    private static Requests of(Class<?> type, String method, String address, boolean isServed) {
        try {
            return new Requests(handle(type, method), handle(type, address), isServed);
        } catch (ReflectiveOperationException e) {
            return new Requests(null, null, isServed);
        }
    }

    private static MethodHandle handle(Class<?> type, String name) throws ReflectiveOperationException {
        MethodHandle handle = MethodHandles.publicLookup().unreflect(type.getMethod(name));
        return handle.asType(MethodType.methodType(Object.class, Object.class));
    }

    /** The interface of the specification that a class implements; null: it does not. */
    private static Class<?> servletRequest(Class<?> type) {
        String name = type.getName();
        if (name.endsWith(SERVED_CLASS) && (name.startsWith("javax.") || name.startsWith("jakarta."))) {
            return type;
        }
        Class<?> found = type.getSuperclass() == null ? null : servletRequest(type.getSuperclass());
        for (Class<?> above : type.getInterfaces()) {
            found = found == null ? servletRequest(above) : found;
        }
        return found;
    }
}
