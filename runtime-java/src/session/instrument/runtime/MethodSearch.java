package instrument.runtime;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URL;
import java.util.Enumeration;
import java.util.zip.GZIPInputStream;

/** Finds the methods that match patterns, in the id maps that the class loader of the runtime finds. */
abstract class MethodSearch {
    private final MethodPattern[] patterns;
    private final boolean[] matched;

    MethodSearch(String[] texts) {
        patterns = new MethodPattern[texts.length];
        matched = new boolean[texts.length];
        for (int i = 0; i < texts.length; i++) {
            patterns[i] = new MethodPattern(texts[i].trim());
        }
    }

    /** The parts of a list: patterns with commas or colons between, but for those that are part of one. */
    static String[] split(String list) {
        return list.split(",(?![^(]*\\))|:(?![ (]|[^(]*\\))");
    }

    /** A method has this id, and matches the pattern at this place. */
    abstract void found(int pattern, int id);

    /** Looks for them. Code of the program's class loader may run. {@code what}: what the patterns are called. */
    final void run(String what) {
        try {
            ClassLoader loader = MethodSearch.class.getClassLoader();
            Enumeration<URL> maps =
                loader == null ? ClassLoader.getSystemResources(Host.ID_MAP) : loader.getResources(Host.ID_MAP);
            while (maps.hasMoreElements()) {
                read(Host.open(maps.nextElement()));
            }
        } catch (IOException e) {
            Log.say("cannot read the id map, so methods are missing that match " + what + ": " + e);
        }
        // An agent does not know them yet.
        for (int i = 0; i < matched.length && Settings.agentLines == null; i++) {
            if (!matched[i]) {
                Log.say("no instrumented method matches " + what + " " + patterns[i].text);
            }
        }
    }

    /** Whether a method matched this pattern. */
    final boolean isFound(String pattern) {
        for (int i = 0; i < matched.length; i++) {
            if (matched[i] && patterns[i].text.equals(pattern)) {
                return true;
            }
        }
        return false;
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
                found(i, id);
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
