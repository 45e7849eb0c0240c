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
    private Words words;
    /** Values: the index of the record in {@link #words}; 0: it is not to be counted. */
    private final RecentClasses recent = new RecentClasses();
    private long[] keys;
    private int[] places;
    private int used;

    Allocations(int kind, int recordWords) {
        this.kind = kind;
        this.recordWords = recordWords;
    }

    /** Adds to the record at a place that {@link #of} gave; no bytes are written where the region has no room for them. */
    private void count(int at, long objects, long bytes) {
        region.put(at + 1, region.get(at + 1) + objects);
        if (recordWords > 2) {
            region.put(at + 2, region.get(at + 2) + bytes);
        }
    }

    /** Counts an object of a class that was met here lately; false: it was not. */
    boolean countAgain(Object object, int place) {
        int i = recent.find(object.getClass(), place);
        if (i < 0) {
            return false;
        }
        int at = recent.value(i);
        if (at != 0) {
            Words words = this.words;
            if (recordWords > 2) {
                long bytes = ObjectSizes.of(object, recent.entry(i).size);
                words.put(at + 2, words.get(at + 2) + bytes);
            }
            words.put(at + 1, words.get(at + 1) + 1);
        }
        return true;
    }

    /** Counts an object, wherever it is made; false: there is no room. */
    boolean count(ThreadState owner, Object object, int place) {
        ClassNames.Entry type = ClassNames.of(object);
        int at = 0;
        if (type.number != 0) {
            at = of(owner, place, type.number);
            if (at == 0) {
                return false;
            }
            count(at, 1, recordWords > 2 ? ObjectSizes.of(object, type.size) : 0);
            at += region.base;
        }
        recent.add(type, object.getClass(), place, at);
        return true;
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
            Region fresh = Recording.file.allocate(FIRST);
            if (fresh == null) {
                return 0;
            }
            publish(owner, fresh);
        } else if (at + recordWords > region.length >> 3) {
            Region old = region;
            Region larger = old.length > 1 << 29 ? null : Recording.file.allocate(old.length * 2);
            if (larger == null) {
                return 0;
            }
            for (int i = 2, end = old.length >> 3; i < end; i++) {
                larger.put(i, old.get(i));
            }
            publish(owner, larger);
            Recording.file.release(old);
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
        words = fresh.words;
        recent.clear();
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
    boolean foldInto(ThreadState sum, Allocations target, IntTable nodes) {
        for (int i = 0; i < used; i++) {
            int at = Format.HEADER_WORDS + recordWords * i;
            long key = region.get(at);
            int place = (int) (key >>> 32);
            int to = target.of(sum, nodes == null ? place : nodes.get(place), (int) key);
            if (to == 0) {
                return false;
            }
            for (int word = 1; word < recordWords; word++) {
                Journal.move(sum.header, target.region, to + word, region.get(at + word), region, at + word);
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
