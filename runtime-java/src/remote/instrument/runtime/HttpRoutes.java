package instrument.runtime;

/**
 * Numbers, in the class names, of what requests are called: the method, and the pattern that the program's framework has for them or the path without ids, as
 * {@code GET /orders/{id}} and {@code GET /orders/?}.
 */
final class HttpRoutes {
    private static final int LOG_CACHE = 12;
    /** Paths as the program has them that are known without a look at each character. */
    private static final HttpRoutes[] CACHE = new HttpRoutes[1 << LOG_CACHE];
    /** Characters of the longest path that is kept there. */
    private static final int LONGEST_KEPT = 1000;
    /** Names at most; later ones are one for each method. */
    private static final int MOST = 4096;
    private static final java.util.HashSet<String> NAMES = new java.util.HashSet<String>();

    private final int method;
    private final String path;
    private final boolean isPattern;
    private final int number;
    private final int recording;

    private HttpRoutes(int method, String path, boolean isPattern, int number, int recording) {
        this.method = method;
        this.path = path;
        this.isPattern = isPattern;
        this.number = number;
        this.recording = recording;
    }

    /** Another recording begins: it has other numbers. */
    static void renew() {
        synchronized (NAMES) {
            NAMES.clear();
        }
    }

    /** The number of a request by its method, see {@link HttpMethods}, and its path, or a pattern, which the program's own code has. */
    static int of(int method, String path, boolean isPattern) {
        int at = (path.hashCode() + 31 * method) * 0x9e3779b9 >>> 32 - LOG_CACHE;
        HttpRoutes known = CACHE[at];
        boolean fits = known != null && known.method == method && known.isPattern == isPattern && known.recording == Recording.number;
        if (fits && known.path.equals(path)) {
            return known.number;
        }
        // Before the name gets its number: another recording may begin meanwhile.
        int recording = Recording.number;
        String text = isPattern ? BoundedText.of(new StringBuilder(path), path.length()) : PathText.ofAddress(path, "", 0);
        String name = HttpMethods.name(method) + ' ' + text;
        boolean isOne;
        synchronized (NAMES) {
            isOne = NAMES.contains(name) || NAMES.size() < MOST && NAMES.add(name);
        }
        int number = ClassNames.text(isOne ? name : HttpMethods.name(method) + " (others)");
        if (path.length() <= LONGEST_KEPT) {
            CACHE[at] = new HttpRoutes(method, path, isPattern, number, recording);
        }
        return number;
    }

    /** The same at both ends for the same method and path; it says little of a path that is not known. */
    static int hash(String method, String path) {
        long hash = method.hashCode();
        for (int i = 0; i < path.length(); i++) {
            hash = (hash ^ path.charAt(i)) * 0x100000001B3L;
            hash ^= hash >>> 29;
        }
        return (int) (Numbers.mix(hash, path.length()) >>> 16);
    }
}
