package instrument.runtime;

/**
 * The counters of one thread: an array for each method, by its id and what its code is, since classes of one name may have several. The last
 * element is the key. Only the thread itself adds to the table; others read it when the recording ends.
 */
final class LineTable {
    private static final int FIRST_SLOTS = 64;

    /** Half of it is empty, at least. Null where no lines are counted: each thread has a table. */
    private long[][] slots;
    private int used;

    static long key(int id, int check) {
        return (long) check << 32 | id;
    }

    static long keyOf(long[] counters) {
        return counters[counters.length - 1];
    }

    private static int home(long key, int slots) {
        return (int) (key * 0x9E3779B97F4A7C15L >>> 40) & slots - 1;
    }

    /** The counters of a method; null: it has none yet. */
    long[] find(long key) {
        long[][] slots = this.slots;
        if (slots == null) {
            return null;
        }
        int at = home(key, slots.length);
        long[] found = slots[at];
        while (found != null && found[found.length - 1] != key) {
            at = at + 1 & slots.length - 1;
            found = slots[at];
        }
        return found;
    }

    /** The counters of a method, of which it has so many. */
    long[] get(long key, int count) {
        long[] found = find(key);
        if (found == null) {
            found = new long[count + 1];
            found[count] = key;
            if (slots == null || 2 * (used + 1) > slots.length) {
                long[][] larger = new long[slots == null ? FIRST_SLOTS : 2 * slots.length][];
                for (long[] old : all()) {
                    if (old != null) {
                        insert(larger, old);
                    }
                }
                slots = larger;
            }
            insert(slots, found);
            used++;
        }
        return found;
    }

    private static void insert(long[][] slots, long[] counters) {
        int at = home(keyOf(counters), slots.length);
        while (slots[at] != null) {
            at = at + 1 & slots.length - 1;
        }
        slots[at] = counters;
    }

    /** Adds everything to another table. The owner of this one may go on counting. */
    void addTo(LineTable sum) {
        for (long[] counters : all()) {
            if (counters != null) {
                int count = counters.length - 1;
                long[] target = sum.get(counters[count], count);
                for (int i = 0; i < count && i < target.length - 1; i++) {
                    target[i] += counters[i];
                }
            }
        }
    }

    /** All of it, in no order; some are null. */
    long[][] all() {
        return slots == null ? new long[0][] : slots;
    }
}
