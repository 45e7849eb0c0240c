package instrument.runtime;

/**
 * How many instructions the calls of one thread have executed, by what its frames stand for: an open hash table in the mapped file, half full
 * at most. A slot is the key and the sum.
 */
final class BytecodeTable {
    private static final int FIRST_SLOTS = 28;
    private static final int SLOT_WORDS = 2;

    private Region region;
    private Words words;
    /** Index of the first slot in {@link #words}. */
    private int first;
    private int slots;
    private int used;

    /** Adds to a sum that is there; false: it is not. */
    boolean add(int key, long count) {
        if (slots == 0) {
            return false;
        }
        Words words = this.words;
        int at = first + SLOT_WORDS * home(key, slots);
        long found = words.get(at);
        while (found != key) {
            if (found == 0) {
                return false;
            }
            at = at + SLOT_WORDS == first + SLOT_WORDS * slots ? first : at + SLOT_WORDS;
            found = words.get(at);
        }
        words.put(at + 1, words.get(at + 1) + count);
        return true;
    }

    /** Adds to a sum that is made if it is not there; false: there is no room. The thread's header and number are given. */
    boolean addNew(Region header, int ordinal, int key, long count) {
        return add(key, count) || insert(header, ordinal, key) && add(key, count);
    }

    /** Where a key is looked for first: a number below that of the slots. */
    private static int home(int key, int slots) {
        return (int) ((key * 0x9E3779B9 & 0xffffffffL) * slots >>> 32);
    }

    private boolean insert(Region header, int ordinal, int key) {
        if (2 * (used + 1) > slots && !grow(header, ordinal)) {
            return false;
        }
        words.put(slotOf(words, first, slots, key), key);
        used++;
        return true;
    }

    /** The slot of a key that is there, or the one that it gets. */
    private static int slotOf(Words words, int first, int slots, int key) {
        int slot = home(key, slots);
        while (words.get(first + SLOT_WORDS * slot) != 0 && words.get(first + SLOT_WORDS * slot) != key) {
            slot = slot + 1 == slots ? 0 : slot + 1;
        }
        return first + SLOT_WORDS * slot;
    }

    private boolean grow(Region header, int ordinal) {
        Region old = region;
        int length = old == null ? Format.HEADER + 8 * SLOT_WORDS * FIRST_SLOTS : 2 * old.length;
        Region larger = old != null && old.length > 1 << 29 ? null : Recording.file.allocate(length);
        if (larger == null) {
            return false;
        }
        int newFirst = larger.base + Format.HEADER_WORDS;
        int newSlots = (larger.length - Format.HEADER) / (8 * SLOT_WORDS);
        for (int i = 0; i < slots; i++) {
            long key = words.get(first + SLOT_WORDS * i);
            if (key != 0) {
                int at = slotOf(larger.words, newFirst, newSlots, (int) key);
                larger.words.put(at, key);
                larger.words.put(at + 1, words.get(first + SLOT_WORDS * i + 1));
            }
        }
        larger.publish(Format.BYTECODES, ordinal);
        header.put(Format.BYTECODES_AT, larger.fileOffset);
        region = larger;
        words = larger.words;
        first = newFirst;
        slots = newSlots;
        if (old != null) {
            Recording.file.release(old);
        }
        return true;
    }

    /** Moves everything into the table of the ended threads, whose header and number are given. {@code nodes} says what keys are there; null: the same. False: there was no room. */
    boolean foldInto(BytecodeTable target, Region header, int ordinal, IntTable nodes) {
        for (int i = 0; i < slots; i++) {
            int at = first + SLOT_WORDS * i;
            int key = (int) words.get(at);
            if (key != 0) {
                int to = nodes == null ? key : nodes.get(key);
                if (!target.addNew(header, ordinal, to, 0)) {
                    return false;
                }
                int word = slotOf(target.words, target.first, target.slots, to) + 1 - target.region.base;
                Journal.move(header, target.region, word, words.get(at + 1), region, at + 1 - region.base);
            }
        }
        return true;
    }

    void release() {
        if (region != null) {
            Recording.file.release(region);
        }
    }
}
