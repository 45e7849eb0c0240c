package instrument.runtime;

import java.util.concurrent.atomic.AtomicLong;

/** The {@code traceparent} header of a request (W3C Trace Context, version 00): read, or made. An object is used for one after the other. */
final class TraceParent {
    static final String HEADER = "traceparent";
    private static final int LENGTH = 55;
    private static final int TRACE = 3;
    private static final int PARENT = 36;
    private static final int FLAGS = 53;

    /** Ids of this process: no two have the same one, and hardly two processes. */
    private static final AtomicLong NEXT = new AtomicLong(Numbers.mix(System.nanoTime(), System.identityHashCode(new Object())));
    private static final long SALT = Numbers.mix(System.currentTimeMillis(), System.nanoTime());

    // The trace id has two halves.
    long high;
    long low;
    long parent;

    /** Takes what a text says; false: it is no header of this version. */
    boolean read(String text) {
        if (text.length() != LENGTH || !text.startsWith("00-") || text.charAt(PARENT - 1) != '-' || text.charAt(FLAGS - 1) != '-') {
            return false;
        }
        if (!isHex(text, TRACE, PARENT - 1) || !isHex(text, PARENT, FLAGS - 1) || !isHex(text, FLAGS, LENGTH)) {
            return false;
        }
        high = number(text, TRACE);
        low = number(text, TRACE + 16);
        parent = number(text, PARENT);
        return (high | low) != 0 && parent != 0;
    }

    void same(TraceParent of) {
        high = of.high;
        low = of.low;
        parent = of.parent;
    }

    /** Becomes the parent of a request within another one; null: it is within none. */
    void renew(TraceParent within) {
        if (within != null) {
            high = within.high;
            low = within.low;
        } else {
            high = id(SALT);
            low = id(0);
        }
        parent = id(0);
    }

    /** As a header has it; whoever records or samples elsewhere is told nothing. */
    String text() {
        StringBuilder text = new StringBuilder("00-");
        hex(text, high);
        hex(text, low);
        text.append('-');
        hex(text, parent);
        return text.append("-00").toString();
    }

    /** Not 0. */
    private static long id(long salt) {
        long id = NEXT.addAndGet(0x9E3779B97F4A7C15L) ^ salt;
        id = (id ^ id >>> 30) * 0xBF58476D1CE4E5B9L;
        id = (id ^ id >>> 27) * 0x94D049BB133111EBL;
        id ^= id >>> 31;
        return id == 0 ? 1 : id;
    }

    private static boolean isHex(String text, int from, int to) {
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return true;
    }

    private static long number(String text, int from) {
        long number = 0;
        for (int i = from; i < from + 16; i++) {
            number = number << 4 | Character.digit(text.charAt(i), 16);
        }
        return number;
    }

    private static void hex(StringBuilder text, long number) {
        for (int shift = 60; shift >= 0; shift -= 4) {
            text.append(Character.forDigit((int) (number >>> shift) & 15, 16));
        }
    }
}
