package instrument.runtime;

/** Small numbers by keys of 64 bits, which are expected to be hashes: equal keys are taken for equal things. */
final class Numbers {
    private long[] keys = new long[64];
    private int[] values = new int[64];
    private int size;

    /** A hash of two hashes. */
    static long mix(long a, long b) {
        long mixed = (a ^ b * 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        return mixed ^ mixed >>> 29;
    }

    int size() {
        return size;
    }

    void clear() {
        keys = new long[64];
        values = new int[64];
        size = 0;
    }

    /** The number for a key; 0: there is none. */
    int get(long key) {
        int at = find(key);
        return values[at];
    }

    /** Sets the number for a key; not 0. */
    void put(long key, int value) {
        if (2 * (size + 1) > keys.length) {
            grow();
        }
        int at = find(key);
        if (values[at] == 0) {
            keys[at] = key;
            size++;
        }
        values[at] = value;
    }

    private int find(long key) {
        int at = (int) (key * 0x9E3779B97F4A7C15L >>> 32) & keys.length - 1;
        while (values[at] != 0 && keys[at] != key) {
            at = at + 1 & keys.length - 1;
        }
        return at;
    }

    private void grow() {
        long[] oldKeys = keys;
        int[] oldValues = values;
        keys = new long[2 * oldKeys.length];
        values = new int[keys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != 0) {
                int at = find(oldKeys[i]);
                keys[at] = oldKeys[i];
                values[at] = oldValues[i];
            }
        }
    }
}
