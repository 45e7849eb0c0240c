package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;

/**
 * The addresses of requests. Only objects of the JDK's own classes are asked; and those that came in, as nothing else knows their address, by the
 * two methods of the servlet specification.
 */
final class Requests {
    private static final String[] SERVED = forms("");
    private static final String[] PLAIN = forms("http://");
    private static final String[] SECURE = forms("https://");

    private static final String MADE_CLASS = "java.net.http.HttpRequest";
    private static final String[] SERVED_CLASSES = {"jakarta.servlet.http.HttpServletRequest", "javax.servlet.http.HttpServletRequest"};

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
        Object uri = Asked.ask(known.address, request);
        return uri instanceof URI ? of(HttpMethods.number(Asked.ask(known.method, request)), (URI) uri) : ValueKind.HTTP.unknown;
    }

    /** Of a {@code HttpServletRequest}; null: it is none. */
    static Value served(Object request) {
        Requests known = (Requests) Copy.of(KNOWN.get(request.getClass()));
        if (!known.isServed) {
            return null;
        }
        Object path = known.method == null ? null : Asked.ask(known.address, request);
        if (!(path instanceof String)) {
            return ValueKind.HTTP.unknown;
        }
        return ValueNames.of(ValueKind.HTTP, SERVED[HttpMethods.number(Asked.ask(known.method, request))], (String) path, "", 0);
    }

    /** Whether a connection or URL can send a request by HTTP, and has not done so yet. */
    static boolean isFirst(Object connection) {
        return connection instanceof HttpURLConnection ? KnownObjects.isFirst(connection) : connection instanceof URL;
    }

    /** Of a {@link HttpURLConnection} or {@link URL}; null: it is another kind of address. */
    static Value connection(Object connection, boolean writes) {
        if (connection instanceof URL) {
            return of(HttpMethods.GET, (URL) connection);
        }
        if (connection.getClass().getClassLoader() != null) {
            return ValueKind.HTTP.unknown;
        }
        HttpURLConnection known = (HttpURLConnection) connection;
        int method = HttpMethods.number(known.getRequestMethod());
        // So it will be, once the output is asked for.
        return of(method == HttpMethods.GET && writes && known.getDoOutput() ? HttpMethods.POST : method, known.getURL());
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
        String[] forms = new String[HttpMethods.count()];
        for (int i = 0; i < forms.length; i++) {
            forms[i] = ValueKind.HTTP.prefix + HttpMethods.name(i) + ' ' + scheme;
        }
        return forms;
    }

    private static Requests of(Class<?> type) {
        Class<?> made = Asked.above(type, MADE_CLASS);
        if (made != null) {
            boolean isOfTheJdk = made.getClassLoader() == type.getClassLoader();
            return isOfTheJdk ? of(made, "method", "uri", false) : new Requests(null, null, false);
        }
        for (String specification : SERVED_CLASSES) {
            Class<?> served = Asked.above(type, specification);
            if (served != null) {
                return of(served, "getMethod", "getRequestURI", true);
            }
        }
        return new Requests(null, null, false);
    }

    private static Requests of(Class<?> type, String method, String address, boolean isServed) {
        return new Requests(Asked.method(type, method), Asked.method(type, address), isServed);
    }
}
