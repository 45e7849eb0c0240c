package instrument.runtime;

import java.util.Arrays;

/**
 * The counts of a thread, in the mapped file: a shadow stack and one record per method, in one mapping. What events do to them says {@link CountsState}, and why
 * they are looked up as they are.
 */
abstract class MappedCounts extends ThreadState {
    static final int FIRST_STACK = 56;
    static final int FIRST_RECORDS = 24;
    static final int WORD = 8;
    static final int RECORD = WORD * Format.RECORD_WORDS;
    static final int LOG_PAGE = 3;
    static final int PAGE = 1 << LOG_PAGE;
    /** From a slot that is taken to the next one to try: far away, since pages that follow each other are used together. Odd, so that it comes to all. */
    static final int STEP = 0x61C88647;
    /** Pages in a part of {@link #places}. */
    static final int LOG_PART = 8;
    static final int PART = 1 << LOG_PART;
    /** As many parts: more than 2 million methods. Larger ids, which values have, go the slow way. */
    static final int PARTS = 1 << 10;
    static final long[] NO_PART = new long[PART];

    /**
     * Look-up by page: so many ids that follow each other have their records together, as the methods of a class have theirs. So few slots serve many methods that
     * they stay in the processor's first cache; with a slot for each method two thirds of the time of a probe went there. A slot holds the
     * page's number + 1 and the number of its first record, from 0. Grows when a quarter is full.
     */
    long[] map;
    /**
     * The same for the fast path, by number: the place of the page's first record, 0 if there is none. There is nothing to try in turn, so no loop becomes
     * a part of the methods that have probes.
     */
    long[][] places = {NO_PART};
    /** The same for the constructors of a page that {@link Constructors} knows: the place, and in the lowest {@link #PAGE} bits which they are. */
    long[][] constructors = {NO_PART};
    /** The block that holds the shadow stack and the records. What follows are places in it: see {@link Words#place}. */
    Words words;
    /** The region's first word. */
    long start;
    /** How many calls have returned. */
    long exits;
    /** The first frame; the word below it is 0. */
    long bottom;
    long sp;
    /** Frames below this place are not for the fast paths to close. */
    long floor;
    /** How many these are. */
    int covered = Recording.roots == null ? 0 : 1;
    /** No entry is for the fast path with its frame at this place: {@link #limit}, or a lower one. */
    long entryLimit;
    /** End of the stack, first record. */
    long limit;
    long recordsEnd;
    long recordsLimit;

    Region counts;
    /** What samples met outside of recorded methods; null: there are none. */
    Region samples;
    /** The handler of the samples finds methods in {@link #counts}. */
    private boolean isSampled;
    final Allocations allocations = new Allocations(Format.ALLOCATIONS, Format.ALLOCATION_WORDS);

    MappedCounts(Thread owner) {
        super(owner);
    }

    final long get(long place) {
        return Memory.get(words, place);
    }

    final void put(long place, long value) {
        Memory.put(words, place, value);
    }

    final void count(long record, int column) {
        put(record + WORD * column, get(record + WORD * column) + 1);
    }

    static long frameOf(int id, long pendingBit) {
        return (long) (id + 1) << 32 | pendingBit;
    }

    @Override
    int consumerOf(long frame) {
        return Format.idPlusOne(frame);
    }

    @Override
    int depth() {
        return (int) (sp - bottom) / WORD;
    }

    @Override
    long frame(int index) {
        return get(bottom + WORD * index);
    }

    @Override
    void setFrame(int index, long frame) {
        put(bottom + WORD * index, frame);
    }

    @Override
    void cover(int frames) {
        covered = frames;
        floor = bottom + WORD * frames;
    }

    // ---- records ----

    /** Whether a record is only there for the others of its page. */
    final boolean isEmpty(long record) {
        long any = 0;
        for (int column = Format.ENTRIES; column < Format.RECORD_WORDS; column++) {
            any |= get(record + WORD * column);
        }
        return any == 0;
    }

    /** The slot of a page, or 0. */
    final long find(int page) {
        long[] map = this.map;
        for (int i = page;; i += STEP) {
            long slot = map[i & map.length - 1];
            if (slot == 0 || (int) (slot >>> 32) == page + 1) {
                return slot;
            }
        }
    }

    /** Place of the record of an id of a page whose first one is here. */
    static long record(long first, int id) {
        return first + (id & PAGE - 1) * RECORD;
    }

    /** Place of the record of an id, which may be new; 0: there is no room. */
    final long recordOf(int id) {
        int page = id >> LOG_PAGE;
        return find(page) != 0 || add(page) ? record(limit + (long) RECORD * (int) find(page), id) : 0;
    }

    /** The same for the method of a frame, which has one. */
    final long recordOfFrame(long frame) {
        return recordOf(Format.idPlusOne(frame) - 1);
    }

    /** Records for a page that has none; false: there is no room. */
    final boolean add(int page) {
        int used = (int) (recordsEnd - limit) / RECORD;
        if (recordsEnd + PAGE * RECORD > recordsLimit && !grow((int) (limit - bottom) / WORD, 2 * used)) {
            return false;
        }
        if (4 * (used / PAGE + 1) > map.length) {
            long[] larger = new long[2 * map.length];
            for (int i = 0; i < map.length; i++) {
                if (map[i] != 0) {
                    insert(larger, map[i]);
                }
            }
            map = larger;
        }
        int part = page >> LOG_PART;
        if (part < PARTS) {
            makePart(part);
        }
        long at = recordsEnd;
        for (int i = 0; i < PAGE; i++) {
            put(at + i * RECORD, (page << LOG_PAGE) + i + 1);
        }
        insert(map, (long) (page + 1) << 32 | used);
        if (part < PARTS) {
            places[part][page & PART - 1] = at;
        }
        recordsEnd = at + PAGE * RECORD;
        return true;
    }

    final void makePart(int part) {
        if (part >= places.length) {
            long[][] more = Arrays.copyOf(places, Math.max(2 * places.length, part + 1));
            Arrays.fill(more, places.length, more.length, NO_PART);
            long[][] moreConstructors = Arrays.copyOf(more, more.length);
            System.arraycopy(constructors, 0, moreConstructors, 0, constructors.length);
            constructors = moreConstructors;
            places = more;
        }
        if (places[part] == NO_PART) {
            places[part] = new long[PART];
            constructors[part] = new long[PART];
        }
    }

    static void insert(long[] map, long slot) {
        int i = (int) (slot >>> 32) - 1 & map.length - 1;
        while (map[i] != 0) {
            i = i + STEP & map.length - 1;
        }
        map[i] = slot;
    }

    final boolean growStack() {
        int capacity = (int) (limit - bottom) / WORD;
        return grow(2 * capacity + Format.HEADER_WORDS, (int) (recordsLimit - limit) / RECORD);
    }

    /** Moves stack and records to a larger region; false: there is no room. */
    final boolean grow(int stackWords, int records) {
        Region larger = countsRegion(stackWords, records);
        if (larger == null) {
            return false;
        }
        int depth = depth();
        int used = (int) (recordsEnd - limit) / WORD;
        larger.put(Format.COUNTS_EXITS, get(exits));
        larger.put(Format.HEADER_WORDS, counts, Format.HEADER_WORDS, depth);
        larger.put(Format.HEADER_WORDS + stackWords, counts, word(limit), used);
        long moved = larger.words.place(larger.base + Format.HEADER_WORDS + stackWords) - limit;
        long[][] movedPlaces = new long[places.length][];
        for (int i = 0; i < places.length; i++) {
            movedPlaces[i] = places[i] == NO_PART ? NO_PART : places[i].clone();
            for (int j = 0; j < PART && movedPlaces[i] != NO_PART; j++) {
                movedPlaces[i][j] += places[i][j] == 0 ? 0 : moved;
                if (constructors[i][j] != 0) {
                    constructors[i][j] += moved << PAGE;
                }
            }
        }
        larger.publish(Format.COUNTS, ordinal);
        header.put(Format.DATA_AT, larger.fileOffset);
        Region old = counts;
        places = movedPlaces;
        use(larger, depth, stackWords, used);
        // A thread that is late finds no recording to be sampled in.
        if (isSampled && !isOld()) {
            Samples.beginCounts(samples, larger, old, isVirtual);
        }
        Recording.file.release(old);
        return true;
    }

    final void use(Region region, int depth, int stackWords, int usedWords) {
        counts = region;
        words = region.words;
        start = words.place(region.base);
        exits = start + WORD * Format.COUNTS_EXITS;
        bottom = start + Format.HEADER;
        sp = bottom + WORD * depth;
        cover(covered);
        limit = bottom + WORD * stackWords;
        entryLimit = limit;
        recordsEnd = limit + WORD * usedWords;
        recordsLimit = start + region.length;
    }

    static Region countsRegion(int stackWords, int records) {
        long length = 8L * (Format.HEADER_WORDS + stackWords + Format.RECORD_WORDS * (long) records);
        if (length > 1 << 30) {
            return null;
        }
        // The next power of two: such regions can be used again.
        Region region = Recording.file.allocate(Integer.highestOneBit((int) length - 1) << 1);
        if (region != null) {
            region.put(Format.STACK_WORDS, stackWords);
            region.put(Format.COUNTS_FLAGS, Format.EXITS_OF_THREAD | (Recording.settings.samples ? Format.SAMPLES_OF_METHODS : 0));
        }
        return region;
    }

    // ---- life ----

    @Override
    boolean allocateRegions(int kind) {
        ProfileFile file = Recording.file;
        Region newHeader = file.allocate(Format.THREAD_LENGTH);
        Region newCounts = newHeader == null ? null : countsRegion(FIRST_STACK, FIRST_RECORDS);
        Region newSamples = newCounts == null || !Recording.settings.samples ? null : Samples.allocate(null, kind, ordinal);
        if (newCounts == null || newSamples == null && Recording.settings.samples) {
            return false;
        }
        long[] newMap = new long[32];
        newCounts.publish(Format.COUNTS, ordinal);
        newHeader.put(Format.DATA_AT, newCounts.fileOffset);
        newHeader.publish(kind, ordinal);
        map = newMap;
        places = new long[][] {NO_PART};
        constructors = new long[][] {NO_PART};
        use(newCounts, 0, FIRST_STACK, 0);
        samples = newSamples;
        header = newHeader;
        return true;
    }

    @Override
    void attached() {
        if (samples != null) {
            isSampled = true;
            Samples.beginCounts(samples, counts, null, isVirtual);
        }
    }

    @Override
    void releaseRegions() {
        if (samples != null) {
            Recording.file.release(samples);
        }
        Recording.file.release(counts);
        allocations.release();
    }

    /** Number of a word in the region. */
    final int word(long place) {
        return (int) (place - start) / WORD;
    }
}
