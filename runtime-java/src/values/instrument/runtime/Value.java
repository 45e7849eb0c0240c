package instrument.runtime;

import java.nio.charset.Charset;
import java.util.zip.CRC32;

/** A value that calls are split by, whichever recordings there are. In each it has an id, and its name is in the file before the first event of it. */
final class Value {
    private static int next = LibraryCalls.FIRST_VALUE;

    private final String name;
    /** The recording, and in the lower half the id in it; 0: none yet. */
    private volatile long known;

    Value(String name) {
        this.name = name;
    }

    /** Its id in this recording. */
    int id() {
        long now = known;
        return isOfNow(now) ? (int) now : number();
    }

    /** Gives it an id in this recording, and writes its name. */
    private int number() {
        synchronized (Value.class) {
            long now = known;
            if (!isOfNow(now)) {
                StackLevels.need(StackLevels.OF_FILE);
                int id = next++;
                byte[] piece = gzip(entry(id, name).getBytes(Charset.forName("US-ASCII")));
                // Where the file is full it has said so: the value stays without a name.
                Recording.file.write(Format.ID_MAP, piece, piece.length);
                now = (long) Recording.number << 32 | id;
                known = now;
            }
            return (int) now;
        }
    }

    /** Whether an id is of this recording. */
    private static boolean isOfNow(long known) {
        return (int) known != 0 && (int) (known >> 32) == Recording.number;
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
