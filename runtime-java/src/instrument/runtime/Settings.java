package instrument.runtime;

import java.io.InputStream;
import java.util.Locale;
import java.util.Properties;

/**
 * What the user chose: system property {@code instrument.KEY}, then environment variable {@code INSTRUMENT_KEY}, then
 * {@code META-INF/instrument/runtime.properties} (plain KEY), which the rewriter puts beside the runtime.
 */
final class Settings {
    static final String RESOURCE = "META-INF/instrument/runtime.properties";

    /** First part of the default file name. */
    final String name;
    /** A file or a directory; null: the working directory. */
    final String out;
    /** False: {@code record=off}. */
    final boolean recording;
    /** The file grows no larger than this many bytes. */
    final long limit;

    private final Properties defaults = new Properties();

    /** Reads everything. May run code of the program's class loader, so the caller holds no lock. */
    Settings() {
        try {
            ClassLoader loader = Settings.class.getClassLoader();
            InputStream in = loader == null
                ? ClassLoader.getSystemResourceAsStream(RESOURCE)
                : loader.getResourceAsStream(RESOURCE);
            if (in != null) {
                try {
                    defaults.load(in);
                } finally {
                    in.close();
                }
            }
        } catch (Exception e) {
            Log.say("cannot read " + RESOURCE + ": " + e);
        }
        String given = find("name");
        name = given == null || given.isEmpty() || given.indexOf('/') >= 0 || given.indexOf('\\') >= 0 ? "java" : given;
        String target = find("out");
        out = target == null || target.isEmpty() ? null : target;
        recording = readRecord(find("record"));
        limit = readLimit(find("limit"));
    }

    private String find(String key) {
        try {
            String value = System.getProperty("instrument." + key);
            if (value == null) {
                value = System.getenv("INSTRUMENT_" + key.toUpperCase(Locale.ROOT));
            }
            if (value != null) {
                return value.trim();
            }
        } catch (SecurityException e) {
            // A security manager hides it: the defaults are what is left.
        }
        String value = defaults.getProperty(key);
        return value == null ? null : value.trim();
    }

    private static boolean readRecord(String value) {
        if (value == null || value.equals("counts")) {
            return true;
        }
        if (value.equals("off")) {
            return false;
        }
        Log.say("unknown instrument.record=" + value + " (counts or off); recording counts");
        return true;
    }

    private static long readLimit(String value) {
        if (value != null && !value.isEmpty()) {
            try {
                int unit = "kmg".indexOf(Character.toLowerCase(value.charAt(value.length() - 1)));
                long number = Long.parseLong(unit < 0 ? value : value.substring(0, value.length() - 1));
                if (number >= 0 && number <= Long.MAX_VALUE >> 30) {
                    return number << (unit + 1) * 10;
                }
            } catch (NumberFormatException e) {
                // Said below.
            }
            Log.say("unknown instrument.limit=" + value + " (bytes, or a number with k, m or g); no limit");
        }
        return Long.MAX_VALUE;
    }
}
