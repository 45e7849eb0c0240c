package instrument.runtime;

/** What a request says. An object is used for one request after the other. */
class HttpSaid {
    String method;
    /** As it is sent, without a query and a fragment; not empty. */
    String path;
    /** Its other side; null: unknown. */
    String host;
    int port;
    /** The text of its header; null: it has none. */
    String header;

    void clear() {
        method = path = host = header = null;
        port = 0;
    }

    /** Takes a path, perhaps with a query behind it or a whole address around it. */
    void path(String text) {
        if (text == null) {
            return;
        }
        int scheme = text.startsWith("/") ? -1 : text.indexOf("://");
        int from = scheme < 0 ? 0 : text.indexOf('/', scheme + 3);
        int query = text.indexOf('?');
        int fragment = text.indexOf('#');
        int end = query < 0 ? text.length() : query;
        end = fragment < 0 ? end : Math.min(end, fragment);
        path = from < 0 || from >= end ? "/" : text.substring(from, end);
    }

    void address(String scheme, String to, int given) {
        host = to;
        port = given >= 0 ? given : "https".equalsIgnoreCase(scheme) ? 443 : 80;
    }
}
