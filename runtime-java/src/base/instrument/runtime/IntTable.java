package instrument.runtime;

/** Numbers by numbers, neither of them 0; an open hash table that is half full at most. Of one thread. */
final class IntTable {
    private int[] keys = new int[8];
    private int[] values = new int[8];
    private int count;

    /** The value of a key; 0: none. */
    int get(int key) {
        return values[slot(key)];
    }

    void put(int key, int value) {
        int slot = slot(key);
        if (keys[slot] == 0) {
            if (2 * (count + 1) > keys.length) {
                grow();
                slot = slot(key);
            }
            keys[slot] = key;
            count++;
        }
        values[slot] = value;
    }

    /** Where a key is, or would be. */
    private int slot(int key) {
        int mask = keys.length - 1;
        int slot = (key * 0x9E3779B9 >>> 7) & mask;
        while (keys[slot] != key && keys[slot] != 0) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    private void grow() {
        int[] oldKeys = keys;
        int[] oldValues = values;
        keys = new int[2 * oldKeys.length];
        values = new int[keys.length];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldKeys[i] != 0) {
                int slot = slot(oldKeys[i]);
                keys[slot] = oldKeys[i];
                values[slot] = oldValues[i];
            }
        }
    }
}
