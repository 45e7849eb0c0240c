package instrument.runtime;

import java.util.Arrays;

/** Finds the methods whose calls have their durations kept: see {@link Kept}. */
final class KeptMethods extends MethodSearch {
    private static final String UNIT = "ns";

    private final long[] thresholds;

    private KeptMethods(String[] patterns, long[] thresholds) {
        super(patterns);
        this.thresholds = thresholds;
    }

    /** Those that match a list of patterns, each of which a threshold may follow: {@code Shop#sell:50000000ns}. Code of the program's class loader may run. */
    static void find(String list) {
        String[] parts = MethodSearch.split(list);
        String[] patterns = new String[parts.length];
        long[] thresholds = new long[parts.length];
        int count = 0;
        for (String part : parts) {
            long threshold = count == 0 ? -1 : threshold(part.trim());
            if (threshold >= 0) {
                thresholds[count - 1] = threshold;
            } else {
                patterns[count] = part;
                thresholds[count++] = Kept.NO_THRESHOLD;
            }
        }
        new KeptMethods(Arrays.copyOf(patterns, count), thresholds).run("--latency");
    }

    /** -1: it is none. */
    private static long threshold(String part) {
        try {
            return part.endsWith(UNIT) ? Long.parseLong(part.substring(0, part.length() - UNIT.length())) : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    @Override
    void found(int pattern, int id) {
        Kept.add(id, thresholds[pattern]);
    }

    /** What an agent has found: for each method its id, four bytes, and its threshold, eight bytes. */
    static void add(byte[] methods) {
        for (int i = 0; i + 11 < methods.length; i += 12) {
            int id = (int) number(methods, i, 4);
            // A class that is rewritten again: what was counted by a threshold would mean something else.
            if (Kept.threshold(id + 1) == 0) {
                Kept.add(id, number(methods, i + 4, 8));
            }
        }
    }

    /** The same for methods that may have been called before. The caller's probes do nothing. */
    static void addLate(byte[] methods) {
        add(methods);
        Kept.added();
        Pauses.announce();
    }

    private static long number(byte[] bytes, int at, int length) {
        long number = 0;
        for (int i = at; i < at + length; i++) {
            number = number << 8 | bytes[i] & 0xff;
        }
        return number;
    }
}
