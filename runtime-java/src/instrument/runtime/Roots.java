package instrument.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URL;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/**
 * Finds the root methods: recording goes on only below them. They are given by patterns, CLASS or CLASS#METHOD or
 * CLASS#METHOD(DESCRIPTOR), with {@code *} and {@code ?} within a package and {@code **} across; packages with
 * {@code .} or {@code /}. Their ids are in the id maps that the class loader of the runtime finds.
 */
final class Roots {
    private final String[] texts;
    /** Class, method and descriptor of each pattern; the last two may be null. */
    private final Pattern[][] patterns;
    private final boolean[] matched;
    private long[] ids = new long[1];

    private Roots(String list) {
        texts = list.split("[,:]");
        patterns = new Pattern[texts.length][];
        matched = new boolean[texts.length];
        for (int i = 0; i < texts.length; i++) {
            patterns[i] = parse(texts[i].trim());
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
        for (int i = 0; i < roots.texts.length; i++) {
            if (!roots.matched[i]) {
                Log.say("no instrumented method matches the root " + roots.texts[i]);
            }
        }
        return roots.ids;
    }

    private static Pattern[] parse(String text) {
        int hash = text.indexOf('#');
        String type = hash < 0 ? text : text.substring(0, hash);
        Pattern[] parts = {glob(type.replace('.', '/'), true), null, null};
        if (hash >= 0) {
            String method = text.substring(hash + 1);
            int bracket = method.indexOf('(');
            parts[1] = glob(bracket < 0 ? method : method.substring(0, bracket), false);
            if (bracket >= 0) {
                String descriptor = method.substring(bracket).replace('.', '/');
                parts[2] = glob(descriptor.endsWith(")") ? descriptor + "*" : descriptor, false);
            }
        }
        return parts;
    }

    /** With segments {@code *} stops at a slash. */
    private static Pattern glob(String glob, boolean segments) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            if (c == '*') {
                int end = i;
                while (end + 1 < glob.length() && glob.charAt(end + 1) == '*') {
                    end++;
                }
                boolean wide = !segments || end > i;
                boolean atStart = i == 0 || glob.charAt(i - 1) == '/';
                if (segments && wide && atStart && end + 1 < glob.length() && glob.charAt(end + 1) == '/') {
                    regex.append("(?:.*/)?");
                    end++;
                } else {
                    regex.append(wide ? ".*" : "[^/]*");
                }
                i = end;
            } else if (c == '?') {
                regex.append("[^/]");
            } else {
                regex.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(regex.toString(), Pattern.DOTALL);
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
            Pattern[] parts = patterns[i];
            if (parts[0].matcher(type).matches()
                    && (parts[1] == null || parts[1].matcher(name).matches())
                    && (parts[2] == null || parts[2].matcher(descriptor).matches())) {
                matched[i] = true;
                if (id >> 6 >= ids.length) {
                    ids = Arrays.copyOf(ids, Math.max(2 * ids.length, (id >> 6) + 1));
                }
                ids[id >> 6] |= 1L << id;
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
