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
    private static final String KIND = "SQL ";
    private static final Map<String, Value> VALUES = new HashMap<String, Value>();
    private static int next = LibraryCalls.FIRST_VALUE;
    private static final Value OTHERS = new Value(KIND + "(others)");
    private static final Value UNKNOWN = new Value(KIND + "(text not known)");
    private static final Value MIXED = new Value(KIND + "(batch of different statements)");

    /** A text of the program. */
    private final String text;
    private final Value value;

    private ValueNames(String text, Value value) {
        this.text = text;
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
        // Texts that differ by a digit have hashes close to each other.
        int at = text.hashCode() * 0x9e3779b9 >>> 32 - LOG_CACHE;
        ValueNames first = CACHE[at];
        if (first != null && first.is(text)) {
            return first.value;
        }
        ValueNames second = CACHE[at ^ 1];
        if (second != null && second.is(text)) {
            return second.value;
        }
        Value value = find(KIND + SqlText.withoutLiterals(text));
        if (text.length() <= LONGEST_KEPT && value != OTHERS) {
            CACHE[at ^ 1] = first;
            CACHE[at] = new ValueNames(text, value);
        }
        return value;
    }

    private boolean is(String other) {
        return text == other || text.equals(other);
    }

    /** Of different statements that run together. */
    static Value mixed() {
        return MIXED;
    }

    /** Of a statement whose text nobody saw. */
    static int unknown() {
        return UNKNOWN.id();
    }

    private static Value find(String name) {
        synchronized (VALUES) {
            Value value = VALUES.get(name);
            if (value == null) {
                if (VALUES.size() >= Threads.settings.mostValues) {
                    return OTHERS;
                }
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

    /** An id map of one entry: of what has figures and is no method; see {@code names/src/id_map.rs}. */
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
