package instrument.runtime;

import java.util.HashMap;
import java.util.Map;

/**
 * The values that calls are split by: each has an id, and its name is in the file, as a piece of the id map, before the first event of it. There is a
 * bound to their number, for all recordings of the process together; what comes later has one name.
 */
final class ValueNames {
    private static final int LOG_CACHE = 12;
    /** Texts as the program has them that are known without a look at each character. A text has two places; the newer one comes first. */
    private static final ValueNames[] CACHE = new ValueNames[1 << LOG_CACHE];
    /** Characters of the longest text that is kept there. */
    private static final int LONGEST_KEPT = 1000;
    private static final Map<String, Value> VALUES = new HashMap<String, Value>();
    private static final Value MIXED = new Value("SQL (batch of different statements)");

    /** What the name begins with: one of a few constants. */
    private final String form;
    /** A text of the program. */
    private final String text;
    /** The host of an address, and its port. */
    private final String host;
    private final int port;
    private final Value value;

    private ValueNames(String form, String text, String host, int port, Value value) {
        this.form = form;
        this.text = text;
        this.host = host;
        this.port = port;
        this.value = value;
    }

    /** The value of a statement's text. */
    static Value of(String text) {
        return of(ValueKind.SQL, ValueKind.SQL.prefix, text, "", 0);
    }

    /** The value of a text of that kind, of a host and port if it is part of an address. The form is one of a few constants. */
    static Value of(ValueKind kind, String form, String text, String host, int port) {
        // Texts that differ by a digit have hashes close to each other.
        int at = (text.hashCode() + 31 * (form.hashCode() + host.hashCode()) + port) * 0x9e3779b9 >>> 32 - LOG_CACHE;
        ValueNames first = CACHE[at];
        if (first != null && first.is(form, text, host, port)) {
            return first.value;
        }
        ValueNames second = CACHE[at ^ 1];
        if (second != null && second.is(form, text, host, port)) {
            return second.value;
        }
        Value value = find(kind, form + kind.withoutLiterals(text, host, port));
        if (text.length() + host.length() <= LONGEST_KEPT && value != kind.others) {
            CACHE[at ^ 1] = first;
            CACHE[at] = new ValueNames(form, text, host, port, value);
        }
        return value;
    }

    private boolean is(String otherForm, String otherText, String otherHost, int otherPort) {
        return form == otherForm && (text == otherText || text.equals(otherText)) && port == otherPort && host.equals(otherHost);
    }

    /** Of different statements that run together. */
    static Value mixed() {
        return MIXED;
    }

    private static Value find(ValueKind kind, String name) {
        synchronized (VALUES) {
            Value value = VALUES.get(name);
            if (value == null) {
                if (kind.count >= Recording.settings.mostValues) {
                    return kind.others;
                }
                kind.count++;
                value = new Value(name);
                VALUES.put(name, value);
            }
            return value;
        }
    }
}
