package instrument.runtime;

import java.nio.charset.Charset;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;

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
    /** Characters of the longest name, without what stands for its kind. */
    static final int LONGEST = 400;
    private static final Map<String, Value> VALUES = new HashMap<String, Value>();
    private static int next = LibraryCalls.FIRST_VALUE;
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

    /** A value, whichever recordings there are. */
    static final class Value {
        private final String name;
        /** The recording, and in the lower half the id in it; 0: none yet. */
        private volatile long known;

        Value(String name) {
            this.name = name;
        }

        /** Its id in this recording. */
        int id() {
            long now = known;
            return (int) now != 0 && (int) (now >> 32) == Session.number ? (int) now : number(this);
        }
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

    /** So many characters of a text, or as many as a name may have. */
    static String bounded(StringBuilder text, int length) {
        if (length <= LONGEST) {
            return text.substring(0, length);
        }
        // No half of a character.
        int end = Character.isHighSurrogate(text.charAt(LONGEST - 1)) ? LONGEST - 1 : LONGEST;
        return text.substring(0, end) + " ..";
    }

    private static Value find(ValueKind kind, String name) {
        synchronized (VALUES) {
            Value value = VALUES.get(name);
            if (value == null) {
                if (kind.count >= Threads.settings.mostValues) {
                    return kind.others;
                }
                kind.count++;
                value = new Value(name);
                VALUES.put(name, value);
            }
            return value;
        }
    }

    /** Gives a value an id in this recording, and writes its name. */
    private static int number(Value value) {
        synchronized (VALUES) {
            long now = value.known;
            if ((int) now == 0 || (int) (now >> 32) != Session.number) {
                StackReserve.levels(StackReserve.FILE_LEVELS);
                int id = next++;
                byte[] piece = gzip(entry(id, value.name).getBytes(Charset.forName("US-ASCII")));
                // Where the file is full it has said so: the value stays without a name.
                Threads.file.write(Format.ID_MAP, piece, piece.length);
                now = (long) Session.number << 32 | id;
                value.known = now;
            }
            return (int) now;
        }
    }

    /** An id map of one entry: of what has figures and is no method; see {@code crates/names/src/id_map.rs}. */
    private static String entry(int id, String name) {
        StringBuilder text = new StringBuilder("instrument ids 1\nclass \\e -\n").append(id).append(' ');
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c > 0x20 && c < 0x7f && c != '\\') {
                text.append(c);
            } else {
                text.append("\\u");
                for (int shift = 12; shift >= 0; shift -= 4) {
                    text.append(Character.forDigit(c >> shift & 15, 16));
                }
            }
        }
        // Flags: recorded where the call is made.
        return text.append(" \\e 0 10000 0000000000000000\n").toString();
    }

    /** A gzip file of one stored block (RFC 1951, 1952); less than 65,536 bytes. */
    private static byte[] gzip(byte[] data) {
        int length = data.length;
        byte[] file = new byte[15 + length + 8];
        file[0] = 0x1f;
        file[1] = (byte) 0x8b;
        file[2] = 8;
        file[9] = (byte) 0xff;
        file[10] = 1;
        file[11] = (byte) length;
        file[12] = (byte) (length >> 8);
        file[13] = (byte) ~length;
        file[14] = (byte) (~length >> 8);
        System.arraycopy(data, 0, file, 15, length);
        CRC32 crc = new CRC32();
        crc.update(data, 0, length);
        for (int i = 0; i < 4; i++) {
            file[15 + length + i] = (byte) (crc.getValue() >> 8 * i);
            file[19 + length + i] = (byte) (length >> 8 * i);
        }
        return file;
    }
}
