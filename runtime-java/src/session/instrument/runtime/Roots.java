package instrument.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URL;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.zip.GZIPInputStream;

/** Finds the root methods: recording goes on only below them. Their ids are in the id maps that the class loader of the runtime finds. */
final class Roots {
    private final MethodPattern[] patterns;
    private final boolean[] matched;
    private long[] ids = new long[1];
    /** Those that are found when the program begins. */
    private static volatile Roots first;
    /** What an agent has added; guarded by the class, as what follows. */
    private static long[] added = new long[1];
    private static boolean published;

    /** Patterns with commas or colons between, but for those that are part of one. */
    private Roots(String list) {
        String[] texts = list.split(",(?![^(]*\\))|:(?![ (]|[^(]*\\))");
        patterns = new MethodPattern[texts.length];
        matched = new boolean[texts.length];
        for (int i = 0; i < texts.length; i++) {
            patterns[i] = new MethodPattern(texts[i].trim());
        }
    }

    /** Bits of the ids of the methods that match a list of patterns. Code of the program's class loader may run. */
    static long[] find(String list) {
        Roots roots = new Roots(list);
        try {
            ClassLoader loader = Roots.class.getClassLoader();
            Enumeration<URL> maps =
                loader == null ? ClassLoader.getSystemResources(Host.ID_MAP) : loader.getResources(Host.ID_MAP);
            while (maps.hasMoreElements()) {
                roots.read(Host.open(maps.nextElement()));
            }
        } catch (IOException e) {
            Log.say("cannot read the id map, so roots are missing: " + e);
        }
        first = roots;
        // An agent does not know them yet.
        for (int i = 0; i < roots.matched.length && Settings.agentLines == null; i++) {
            if (!roots.matched[i]) {
                Log.say("no instrumented method matches the root " + roots.patterns[i].text);
            }
        }
        return roots.ids;
    }

    /** Lets the states know those that were found. */
    static synchronized void publish(long[] found) {
        Recording.roots = union(found, added);
        published = true;
    }

    /** Another recording begins. */
    static synchronized void renew() {
        first = null;
        added = new long[1];
        published = false;
        Recording.roots = null;
    }

    /** Adds ids, four bytes each, that methods are about to have. */
    static synchronized void add(byte[] ids) {
        for (int i = 0; i + 3 < ids.length; i += 4) {
            added = with(added, id(ids, i));
        }
        if (published) {
            Recording.roots = union(Recording.roots, added);
        }
    }

    /** Takes out ids, four bytes each. A call that is open goes on to be recorded, and what it calls. Without any root nothing is recorded. */
    static synchronized void remove(byte[] ids) {
        long[] left = Arrays.copyOf(added, added.length);
        long[] known = Recording.roots == null ? new long[1] : Arrays.copyOf(Recording.roots, Recording.roots.length);
        for (int i = 0; i + 3 < ids.length; i += 4) {
            int id = id(ids, i);
            if (id >> 6 < left.length) {
                left[id >> 6] &= ~(1L << id);
            }
            if (id >> 6 < known.length) {
                known[id >> 6] &= ~(1L << id);
            }
        }
        added = left;
        if (published) {
            Recording.roots = known;
        }
    }

    private static int id(byte[] ids, int at) {
        return ids[at] << 24 | (ids[at + 1] & 0xff) << 16 | (ids[at + 2] & 0xff) << 8 | ids[at + 3] & 0xff;
    }

    /** Whether a pattern matched when the program began. */
    static boolean isFound(String pattern) {
        Roots roots = first;
        for (int i = 0; roots != null && i < roots.matched.length; i++) {
            if (roots.matched[i] && roots.patterns[i].text.equals(pattern)) {
                return true;
            }
        }
        return false;
    }

    /** A new array: others look at the old one without a lock. */
    private static long[] union(long[] a, long[] b) {
        long[] union = Arrays.copyOf(a, Math.max(a.length, b.length));
        for (int i = 0; i < b.length; i++) {
            union[i] |= b[i];
        }
        return union;
    }

    private static long[] with(long[] ids, int id) {
        long[] more = id >> 6 < ids.length ? ids : Arrays.copyOf(ids, Math.max(2 * ids.length, (id >> 6) + 1));
        more[id >> 6] |= 1L << id;
        return more;
    }

    /** Reads the text of an id map; see the rewriter's {@code id_map}. */
    private void read(InputStream stream) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(new GZIPInputStream(stream), "US-ASCII"));
        try {
            String type = "";
            for (String line; (line = lines.readLine()) != null;) {
                String[] words = line.split(" ");
                if (words[0].equals("class") && words.length == 3) {
                    type = unescape(words[1]);
                } else if (words.length == 6) {
                    method(type, unescape(words[1]), unescape(words[2]), Integer.parseInt(words[0]));
                }
            }
        } catch (NumberFormatException e) {
            throw new IOException("not an id map");
        } finally {
            lines.close();
        }
    }

    private void method(String type, String name, String descriptor, int id) {
        for (int i = 0; i < patterns.length; i++) {
            if (patterns[i].matches(type, name, descriptor)) {
                matched[i] = true;
                ids = with(ids, id);
            }
        }
    }

    /** {@code \}uXXXX stands for a character that is not plain ASCII. */
    private static String unescape(String word) {
        if (word.indexOf('\\') < 0) {
            return word;
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < word.length(); i++) {
            if (word.startsWith("\\u", i) && i + 6 <= word.length()) {
                text.append((char) Integer.parseInt(word.substring(i + 2, i + 6), 16));
                i += 5;
            } else {
                text.append(word.charAt(i));
            }
        }
        return text.toString();
    }
}
