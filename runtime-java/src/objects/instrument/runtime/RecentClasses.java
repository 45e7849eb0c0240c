package instrument.runtime;

/**
 * The classes that a thread has met lately, each in one place on its shadow stack: what makes the look-up of a class that is
 * made again and again cheap. Keeps no class alive.
 */
final class RecentClasses {
    private static final int LENGTH = 1 << 10;
    private static final ClassNames.Entry[] NONE = {new ClassNames.Entry(null, 0, 0)};

    private ClassNames.Entry[] entries = NONE;
    /** Place (32 bits) and what the caller has given for it (32 bits). */
    private long[] values = new long[1];

    /** Where a class is; -1: it is not. */
    int find(Class<?> type, int place) {
        ClassNames.Entry[] entries = this.entries;
        int i = hash(type, place) & entries.length - 1;
        return entries[i].get() == type && (int) (values[i] >>> 32) == place ? i : -1;
    }

    ClassNames.Entry entry(int i) {
        return entries[i];
    }

    int value(int i) {
        return (int) values[i];
    }

    void add(ClassNames.Entry entry, Class<?> type, int place, int value) {
        if (entries == NONE) {
            ClassNames.Entry[] more = new ClassNames.Entry[LENGTH];
            java.util.Arrays.fill(more, NONE[0]);
            values = new long[LENGTH];
            entries = more;
        }
        int i = hash(type, place) & LENGTH - 1;
        entries[i] = entry;
        values[i] = (long) place << 32 | value;
    }

    /** What was given is right no more. */
    void clear() {
        entries = NONE;
    }

    /** The hash of a class itself is slow while somebody holds its monitor; that of its name is in the name. */
    private static int hash(Class<?> type, int place) {
        return type.getName().hashCode() + place * 0x9E3779B1;
    }
}
