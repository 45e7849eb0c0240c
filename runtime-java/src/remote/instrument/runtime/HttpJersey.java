package instrument.runtime;

import java.lang.invoke.MethodHandle;
import java.net.URI;
import java.util.List;

/** What Jersey knows of a request while it looks for the method that serves it: the templates of JAX-RS that the path was compared with. */
final class HttpJersey extends HttpLibrary {
    static final String ROUTING = "org.glassfish.jersey.server.ExtendedUriInfo";

    private final MethodHandle base;
    private final MethodHandle templates;
    private final MethodHandle template;

    HttpJersey(Class<?> type) throws ClassNotFoundException {
        base = Asked.method(type, "getBaseUri");
        templates = Asked.method(type, "getMatchedTemplates");
        template = Asked.method(Class.forName("org.glassfish.jersey.uri.UriTemplate", false, type.getClassLoader()), "getTemplate");
    }

    /** It says nothing but the route. */
    @Override
    void read(Object routing, Object target, HttpSaid into) {}

    @Override
    String route(Object routing) {
        Object root = Asked.ask(base, routing);
        Object matched = Asked.ask(templates, routing);
        if (!(root instanceof URI) || !(matched instanceof List)) {
            return null;
        }
        StringBuilder route = new StringBuilder();
        add(route, ((URI) root).getPath());
        List<?> parts = (List<?>) matched;
        // The last one that was found is the first.
        for (int i = parts.size() - 1; i >= 0; i--) {
            add(route, text(Asked.ask(template, parts.get(i))));
        }
        return route.length() == 0 ? "/" : route.toString();
    }

    /** Parts begin with a slash, and some are nothing else. */
    private static void add(StringBuilder route, String part) {
        if (part != null) {
            int end = part.endsWith("/") ? part.length() - 1 : part.length();
            route.append(part, 0, end);
        }
    }
}
