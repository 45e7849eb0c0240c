package instrument.runtime;

import java.util.Arrays;

/**
 * Records counts per method, without a clock: shadow stack and one record per method, both in the mapped file.
 *
 * <p>The probes of this class become a part of all methods that have probes, and what they cost is the number of their instructions. So they know where words
 * are, and compute no index; a frame is a constant of its method; and calls that returned are counted for the thread only (see {@link Format#COUNTS_EXITS}): a method's are those of
 * its calls that neither ended in another way nor are open.
 */
final class CountsState extends ThreadState {
    private static final int FIRST_STACK = 56;
    private static final int FIRST_RECORDS = 24;
    private static final int WORD = 8;
    private static final int RECORD = WORD * Format.RECORD_WORDS;
    private static final int LOG_PAGE = 3;
    private static final int PAGE = 1 << LOG_PAGE;
    /** From a slot that is taken to the next one to try: far away, since pages that follow each other are used together. Odd, so that it comes to all. */
    private static final int STEP = 0x61C88647;
    /** Pages in a part of {@link #places}. */
    private static final int LOG_PART = 8;
    private static final int PART = 1 << LOG_PART;
    /** As many parts: more than 2 million methods. Larger ids, which values have, go the slow way. */
    private static final int PARTS = 1 << 10;
    private static final long[] NO_PART = new long[PART];

    /**
     * Look-up by page: so many ids that follow each other have their records together, as the methods of a class have theirs. So few slots serve many methods that
     * they stay in the processor's first cache; with a slot for each method two thirds of the time of a probe went there. A slot holds the
     * page's number + 1 and the number of its first record, from 0. Grows when a quarter is full.
     */
    private long[] map;
    /**
     * The same for the fast path, by number: the place of the page's first record, 0 if there is none. There is nothing to try in turn, so no loop becomes
     * a part of the methods that have probes.
     */
    private long[][] places = {NO_PART};
    /** The same for the constructors of a page that {@link Constructors} knows: the place, and in the lowest {@link #PAGE} bits which they are. */
    private long[][] constructors = {NO_PART};
    /** The block that holds the shadow stack and the records. What follows are places in it: see {@link Words#place}. */
    private Words words;
    /** The region's first word. */
    private long start;
    /** How many calls have returned. */
    private long exits;
    /** The first frame; the word below it is 0. */
    private long bottom;
    private long sp;
    /** Frames below this place are not for the fast paths to close. */
    private long floor;
    /** How many these are. */
    private int covered = roots == null ? 0 : 1;
    /** No entry is for the fast path with its frame at this place: {@link #limit}, or a lower one. */
    private long entryLimit;
    /** End of the stack, first record. */
    private long limit;
    private long recordsEnd;
    private long recordsLimit;

    private Region counts;
    private final Allocations allocations = new Allocations(Format.ALLOCATIONS, Format.ALLOCATION_WORDS);

    private CountsState(Thread owner) {
        super(owner);
    }

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static ThreadState create(Thread owner) {
        return new CountsState(owner);
    }

    // ---- fast paths ----

    @Override
    boolean enter(int id) {
        if (mode != Gate.recording()) {
            return false;
        }
        long[][] places = this.places;
        int part = id >> LOG_PAGE + LOG_PART;
        long top = sp;
        if (part >= places.length || top == entryLimit) {
            return false;
        }
        long page = places[part][id >> LOG_PAGE & PART - 1];
        if (page == 0) {
            return false;
        }
        put(top, frameOf(id, 0));
        count(record(page, id), Format.ENTRIES);
        sp = top + WORD;
        return true;
    }

    @Override
    boolean enterLibrary(int id) {
        if (mode != Gate.recording()) {
            return false;
        }
        // That there is a record says nothing: it may have come with those of its page.
        int page = id >> LOG_PAGE;
        return find(page) != 0 && get(recordOf(id) + WORD * Format.ENTRIES) != 0 && enter(id);
    }

    @Override
    boolean enterConstructor(int id) {
        if (pending >= pendingLimit || mode != Gate.recording()) {
            return false;
        }
        long[][] constructors = this.constructors;
        int part = id >> LOG_PAGE + LOG_PART;
        long top = sp;
        if (part >= constructors.length || top == entryLimit) {
            return false;
        }
        long page = constructors[part][id >> LOG_PAGE & PART - 1];
        if ((page & 1L << (id & PAGE - 1)) == 0) {
            return false;
        }
        put(top, frameOf(id, Format.PENDING));
        count(record(page >> PAGE, id), Format.ENTRIES);
        sp = top + WORD;
        pending++;
        return true;
    }

    @Override
    boolean exit(int id) {
        if (mode != Gate.recording()) {
            return false;
        }
        long top = sp - WORD;
        if (Words.upper(words, top) != id + 1 || top < floor) {
            return false;
        }
        put(exits, get(exits) + 1);
        put(top, 0);
        sp = top;
        return true;
    }

    @Override
    boolean unwind(int id) {
        if (mode != Gate.recording()) {
            return false;
        }
        long top = sp - WORD;
        if (Words.upper(words, top) != id + 1 || top < floor) {
            return false;
        }
        closeTop(Format.UNWINDS);
        if (get(sp - WORD) < 0) {
            thrown();
        }
        return true;
    }

    @Override
    boolean superReturned(int id) {
        if (mode != Gate.recording()) {
            return false;
        }
        long top = sp - WORD;
        if (Words.upper(words, top) != (id + 1 | 0x80000000) || top < floor) {
            return false;
        }
        put(top, frameOf(id, 0));
        pending--;
        return true;
    }

    @Override
    boolean caught(int id) {
        if (mode != Gate.recording()) {
            return false;
        }
        long top = sp - WORD;
        return top >= floor && (Words.upper(words, top) & 0x7fffffff) == id + 1;
    }

    @Override
    boolean executed(int upper, long count) {
        long top = sp - WORD;
        if (mode != Gate.recording() || top < floor || Words.upper(words, top) != upper) {
            return false;
        }
        return bytecodes.add(upper & 0x7fffffff, count);
    }

    private long get(long place) {
        return Words.get(words, place);
    }

    private void put(long place, long value) {
        Words.put(words, place, value);
    }

    private void count(long record, int column) {
        put(record + WORD * column, get(record + WORD * column) + 1);
    }

    private static long frameOf(int id, long pendingBit) {
        return (long) (id + 1) << 32 | pendingBit;
    }

    // ---- for the slow paths ----

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
    boolean reserve(int id) {
        return recordOf(id) != 0 && (sp != limit || growStack());
    }

    @Override
    void enterReserved(int id, long pendingBit) {
        put(sp, frameOf(id, pendingBit));
        count(recordOf(id), Format.ENTRIES);
        sp += WORD;
        int page = id >> LOG_PAGE;
        int part = page >> LOG_PART;
        if (pendingBit != 0 && part < PARTS && Constructors.isKnown(id)) {
            long[] pages = constructors[part];
            long which = pages[page & PART - 1] & (1 << PAGE) - 1 | 1L << (id & PAGE - 1);
            pages[page & PART - 1] = places[part][page & PART - 1] << PAGE | which;
        }
    }

    @Override
    boolean arrived(long eventKind, int number) {
        return true;
    }

    @Override
    void closeTop(int column) {
        long top = sp - WORD;
        long frame = get(top);
        countEnd(frame, column);
        put(top, 0);
        sp = top;
        if (frame < 0) {
            pending--;
        }
    }

    private void countEnd(long frame, int column) {
        if (column == Format.EXITS) {
            put(exits, get(exits) + 1);
        } else {
            count(recordOfFrame(frame), column);
        }
    }

    @Override
    void mend() {
        if (mode != Gate.recording()) {
            return;
        }
        long entered = sp < limit ? get(sp) : 0;
        if (entered != 0) {
            // An entry: its frame was not on the stack yet.
            put(sp, 0);
            if (ahead() > 0) {
                count(recordOfFrame(entered), Format.UNCLOSED);
            }
        } else if (sp > bottom && (get(sp - WORD) == 0 || ahead() < 0)) {
            // An end, which is counted.
            put(sp - WORD, 0);
            sp -= WORD;
        }
        pending = 0;
        for (long at = bottom; at < sp; at += WORD) {
            pending += get(at) < 0 ? 1 : 0;
        }
    }

    /** How many more calls were counted than have ended or are open. */
    private long ahead() {
        long more = -get(exits) - depth();
        for (long at = limit; at < recordsEnd; at += RECORD) {
            more += get(at + WORD * Format.ENTRIES);
            for (int column = Format.UNWINDS; column <= Format.UNCLOSED; column++) {
                more -= get(at + WORD * column);
            }
        }
        return more;
    }

    @Override
    boolean unmatched(int id) {
        long at = recordOf(id);
        if (at != 0) {
            count(at, Format.UNMATCHED);
        }
        return at != 0;
    }

    @Override
    void remove(boolean[] gone) {
        long to = bottom;
        boolean above = false;
        for (long from = bottom; from < sp; from += WORD) {
            long frame = get(from);
            boolean aborted = gone[(int) (from - bottom) / WORD];
            above = aborted || above && muted.isEmpty() && LibraryCalls.isFrame(frame);
            if (above) {
                countEnd(frame, aborted ? Format.ABORTED : Format.UNWINDS);
                pending -= aborted ? 1 : 0;
            } else {
                put(to, frame);
                to += WORD;
            }
        }
        while (sp > to) {
            sp -= WORD;
            put(sp, 0);
        }
    }

    @Override
    void closeGone(int frames) {
        for (int i = 0; i < frames; i++) {
            closeTop(Format.ABORTED);
        }
    }

    @Override
    boolean abort(int frames) {
        closeGone(frames);
        return true;
    }

    @Override
    void revive(boolean[] alive) {
        for (int i = 0; i < doubted; i++) {
            if (!alive[i]) {
                continue;
            }
            long frame = (long) doubtedFrames[i] << 32;
            long aborted = recordOfFrame(frame) + WORD * Format.ABORTED;
            put(sp, frame);
            put(aborted, get(aborted) - 1);
            sp += WORD;
            pending++;
        }
    }

    @Override
    void hold(boolean on) {
        entryLimit = on ? sp : limit;
        floor = on ? sp : floor;
    }

    @Override
    boolean allocate(Object object) {
        return allocations.count(this, object, Format.idPlusOne(get(sp - WORD)));
    }

    @Override
    boolean allocateAgain(Object object) {
        return mode == Gate.recording() && missed == 0 && allocations.countAgain(object, Format.idPlusOne(get(sp - WORD)));
    }

    @Override
    void cover(int frames) {
        covered = frames;
        floor = bottom + WORD * frames;
    }

    /** There are no times here. */
    @Override
    void takeOut(long ns) {}

    /** There are no contexts here that a link could lead to. */
    @Override
    boolean pushLink(int link) {
        return true;
    }

    @Override
    boolean isLink(long frame, int link) {
        return false;
    }

    @Override
    int contextNode() {
        return 0;
    }

    // ---- records ----

    /** Whether a record is only there for the others of its page. */
    private boolean isEmpty(long record) {
        long any = 0;
        for (int column = Format.ENTRIES; column < Format.RECORD_WORDS; column++) {
            any |= get(record + WORD * column);
        }
        return any == 0;
    }

    /** The slot of a page, or 0. */
    private long find(int page) {
        long[] map = this.map;
        for (int i = page;; i += STEP) {
            long slot = map[i & map.length - 1];
            if (slot == 0 || (int) (slot >>> 32) == page + 1) {
                return slot;
            }
        }
    }

    /** Place of the record of an id of a page whose first one is here. */
    private static long record(long first, int id) {
        return first + (id & PAGE - 1) * RECORD;
    }

    /** Place of the record of an id, which may be new; 0: there is no room. */
    private long recordOf(int id) {
        int page = id >> LOG_PAGE;
        return find(page) != 0 || add(page) ? record(limit + (long) RECORD * (int) find(page), id) : 0;
    }

    /** The same for the method of a frame, which has one. */
    private long recordOfFrame(long frame) {
        return recordOf(Format.idPlusOne(frame) - 1);
    }

    /** Records for a page that has none; false: there is no room. */
    private boolean add(int page) {
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

    private void makePart(int part) {
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

    private static void insert(long[] map, long slot) {
        int i = (int) (slot >>> 32) - 1 & map.length - 1;
        while (map[i] != 0) {
            i = i + STEP & map.length - 1;
        }
        map[i] = slot;
    }

    private boolean growStack() {
        int capacity = (int) (limit - bottom) / WORD;
        return grow(2 * capacity + Format.HEADER_WORDS, (int) (recordsLimit - limit) / RECORD);
    }

    /** Moves stack and records to a larger region; false: there is no room. */
    private boolean grow(int stackWords, int records) {
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
        Threads.file.release(old);
        return true;
    }

    private void use(Region region, int depth, int stackWords, int usedWords) {
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

    private static Region countsRegion(int stackWords, int records) {
        long length = 8L * (Format.HEADER_WORDS + stackWords + Format.RECORD_WORDS * (long) records);
        if (length > 1 << 30) {
            return null;
        }
        // The next power of two: such regions can be used again.
        Region region = Threads.file.allocate(Integer.highestOneBit((int) length - 1) << 1);
        if (region != null) {
            region.put(Format.STACK_WORDS, stackWords);
            region.put(Format.COUNTS_FLAGS, Format.EXITS_OF_THREAD);
        }
        return region;
    }

    /** There is no clock. */
    @Override
    long charged() {
        return -1;
    }

    @Override
    void timeAll(boolean all) {}

    // ---- life ----

    @Override
    boolean allocateRegions(int kind) {
        ProfileFile file = Threads.file;
        Region newHeader = file.allocate(Format.THREAD_LENGTH);
        Region newCounts = newHeader == null ? null : countsRegion(FIRST_STACK, FIRST_RECORDS);
        if (newCounts == null) {
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
        header = newHeader;
        return true;
    }

    @Override
    void releaseRegions() {
        Threads.file.release(counts);
        allocations.release();
    }

    @Override
    boolean foldInto(ThreadState ended) {
        CountsState sum = (CountsState) ended;
        flag(Format.FOLDING, true);
        while (sp > bottom) {
            long to = sum.recordOfFrame(get(sp - WORD));
            if (to == 0) {
                return false;
            }
            Journal.move(sum, sum.counts, sum.word(to) + Format.OPEN, 1, counts, word(sp) - 1);
            sp -= WORD;
        }
        for (long at = limit; at < recordsEnd; at += RECORD) {
            if (isEmpty(at)) {
                continue;
            }
            long to = sum.recordOf((int) get(at) - 1);
            if (to == 0) {
                return false;
            }
            for (int column = Format.ENTRIES; column <= Format.OPEN; column++) {
                Journal.move(sum, sum.counts, sum.word(to) + column, get(at + WORD * column), counts, word(at) + column);
            }
        }
        Journal.move(sum, sum.counts, Format.COUNTS_EXITS, get(exits), counts, Format.COUNTS_EXITS);
        if (!allocations.foldInto(sum, sum.allocations, null) || !bytecodes.foldInto(sum, null)) {
            return false;
        }
        folded(sum);
        return true;
    }

    /** Number of a word in the region. */
    private int word(long place) {
        return (int) (place - start) / WORD;
    }
}
