package instrument.runtime;

/** Which library a request, or what knows its route, is of. */
final class HttpLibraries {
    private static final HttpLibrary NONE = new HttpLibrary() {
        @Override
        void read(Object request, Object target, HttpSaid into) {}
    };

    /** By the classes of requests; it is kept by those. */
    private static final ClassValue<Object> KNOWN = new ClassValue<Object>() {
        @Override
        protected Object computeValue(Class<?> type) {
            HttpLibrary library = NONE;
            try {
                library = find(type);
                library.wire = library == NONE ? null : wire(type);
            } catch (ClassNotFoundException e) {
                // It is another library under the same name.
            } catch (LinkageError e) {
                // Something that it needs is not there.
            }
            return Copy.held(library, null);
        }
    };

    private HttpLibraries() {}

    /** That of a request; null: it is not known. */
    static HttpLibrary of(Object request) {
        HttpLibrary known = (HttpLibrary) Copy.of(KNOWN.get(request.getClass()));
        return known == NONE ? null : known;
    }

    private static HttpLibrary find(Class<?> type) throws ClassNotFoundException {
        Class<?> of = Asked.above(type, HttpJdk.REQUEST);
        if (of != null) {
            // Whoever extends a class of the JDK has reasons of his own.
            return of.getClassLoader() == type.getClassLoader() ? new HttpJdk(of) : NONE;
        }
        if ((of = Asked.above(type, HttpExchanges.EXCHANGE)) != null) {
            return new HttpExchanges(of);
        }
        if ((of = Asked.above(type, HttpOkHttp.REQUEST)) != null) {
            return new HttpOkHttp(of);
        }
        for (String[] names : HttpApache.VERSIONS) {
            if ((of = Asked.above(type, names[HttpApache.REQUEST])) != null) {
                return new HttpApache(of, names);
            }
        }
        for (String specification : HttpServlets.SPECIFICATIONS) {
            if ((of = Asked.above(type, specification + HttpServlets.REQUEST)) != null) {
                return new HttpServlets(of, specification);
            }
        }
        of = Asked.above(type, HttpJersey.ROUTING);
        return of == null ? NONE : new HttpJersey(of);
    }

    private static HttpWire wire(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        try {
            if (Asked.above(type, HttpOkHttp.REQUEST) != null) {
                return new HttpOkHttpWire(loader);
            }
            for (int version = 0; version < HttpApache.VERSIONS.length; version++) {
                if (Asked.above(type, HttpApache.VERSIONS[version][HttpApache.REQUEST]) != null) {
                    return new HttpApacheWire(version == 0, loader);
                }
            }
            if (type.getName().equals(HttpTomcat.REQUEST)) {
                return new HttpTomcat(type);
            }
            return type.getName().equals(HttpJetty.REQUEST) ? new HttpJetty(type) : null;
        } catch (ClassNotFoundException e) {
            return null;
        } catch (LinkageError e) {
            return null;
        }
    }
}
