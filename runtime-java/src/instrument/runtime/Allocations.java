package instrument.runtime;

/**
 * What one thread has allocated: a region of records, one for each pair of a class and a place (the method or node on top
 * of the shadow stack), and the table that finds them.
 */
final class Allocations {
    private static final int FIRST = 512;

    private final int kind;
    private final int recordWords;
    private Region region;
    private long[] keys;
    private int[] places;
    private int used;

    Allocations(int kind, int recordWords) {
        this.kind = kind;
        this.recordWords = recordWords;
    }

    /** Adds to the record at a place that {@link #of} gave; no bytes are written where the region has no room for them. */
    void count(int at, long objects, long bytes) {
        region.put(at + 1, region.get(at + 1) + objects);
        if (recordWords > 2) {
            region.put(at + 2, region.get(at + 2) + bytes);
        }
    }

    /** Word of the record of a class and a place in the region; 0: there is no room. */
    int of(ThreadState owner, int place, int classNumber) {
        long key = (long) place << 32 | classNumber;
        int at = find(key);
        return at != 0 ? at : add(owner, key);
    }

    private static int hash(long key) {
        long h = key * 0x9E3779B97F4A7C15L;
        return (int) (h >>> 32);
    }

    private int find(long key) {
        long[] keys = this.keys;
        if (keys != null) {
            for (int i = hash(key);; i++) {
                long found = keys[i & keys.length - 1];
                if (found == key) {
                    return places[i & keys.length - 1];
                }
                if (found == 0) {
                    break;
                }
            }
        }
        return 0;
    }

    private int add(ThreadState owner, long key) {
        int at = Format.HEADER_WORDS + recordWords * used;
        if (region == null) {
            Region fresh = Threads.file.allocate(FIRST);
            if (fresh == null) {
                return 0;
            }
            publish(owner, fresh);
        } else if (at + recordWords > region.length >> 3) {
            Region old = region;
            Region larger = old.length > 1 << 29 ? null : Threads.file.allocate(old.length * 2);
            if (larger == null) {
                return 0;
            }
            for (int i = 2, end = old.length >> 3; i < end; i++) {
                larger.put(i, old.get(i));
            }
            publish(owner, larger);
            Threads.file.release(old);
        }
        if (keys == null || 2 * (used + 1) > keys.length) {
            long[] larger = new long[keys == null ? 32 : 2 * keys.length];
            int[] moved = new int[larger.length];
            for (int i = 0; keys != null && i < keys.length; i++) {
                if (keys[i] != 0) {
                    insert(larger, moved, keys[i], places[i]);
                }
            }
            keys = larger;
            places = moved;
        }
        region.put(at, key);
        insert(keys, places, key, at);
        used++;
        return at;
    }

    private void publish(ThreadState owner, Region fresh) {
        fresh.publish(kind, owner.ordinal);
        owner.header.put(Format.ALLOCATIONS_AT, fresh.fileOffset);
        region = fresh;
    }

    private static void insert(long[] keys, int[] places, long key, int at) {
        int i = hash(key) & keys.length - 1;
        while (keys[i] != 0) {
            i = i + 1 & keys.length - 1;
        }
        keys[i] = key;
        places[i] = at;
    }

    /**
     * Moves everything into the table of the ended threads. {@code nodes} says what the numbers of places are there; null:
     * the same. False: there was no room.
     */
    boolean foldInto(ThreadState sum, Allocations target, int[] nodes) {
        for (int i = 0; i < used; i++) {
            int at = Format.HEADER_WORDS + recordWords * i;
            long key = region.get(at);
            int place = (int) (key >>> 32);
            int to = target.of(sum, nodes == null ? place : nodes[place], (int) key);
            if (to == 0) {
                return false;
            }
            for (int word = 1; word < recordWords; word++) {
                sum.move(target.region, to + word, region.get(at + word), region, at + word);
            }
        }
        return true;
    }

    void release() {
        if (region != null) {
            Threads.file.release(region);
        }
    }
}
