package instrument.runtime;

import java.util.Arrays;

/**
 * Records counts per method, without a clock: shadow stack and one record per method, both in the mapped file. The lower
 * half of a frame is the place of the id's record in {@link #words}.
 */
final class CountsState extends ThreadState {
    private static final int FIRST_STACK = 56;
    private static final int FIRST_RECORDS = 24;
    private static final int LOG_PAGE = 3;
    private static final int PAGE = 1 << LOG_PAGE;
    /** From a slot that is taken to the next one to try: far away, since pages that follow each other are used together. Odd, so that it comes to all. */
    private static final int STEP = 0x61C88647;
    /** Pages in a part of {@link #places}. */
    private static final int LOG_PART = 8;
    private static final int PART = 1 << LOG_PART;
    /** As many parts: more than 2 million methods. Larger ids, which values have, go the slow way. */
    private static final int PARTS = 1 << 10;
    private static final int[] NO_PART = new int[PART];

    /**
     * Look-up by page: so many ids that follow each other have their records together, as the methods of a class have theirs. So few slots serve many methods that
     * they stay in the processor's first cache; with a slot for each method two thirds of the time of a probe went there. A slot holds the
     * page's number + 1 and the place of its first record. Grows when a quarter is full.
     */
    private long[] map;
    /**
     * The same for the fast path, by number: the place of the page's first record, 0 if there is none. There is nothing to try in turn, so no loop becomes
     * a part of the methods that have probes.
     */
    private int[][] places = {NO_PART};
    /** The block that holds the shadow stack and the records: one buffer, because each costs the probes several loads. */
    private Words words;
    // Indexes in it. The word below the first frame is 0.
    private int bottom;
    private int sp;
    /** Frames below this place are not for the fast paths to close. */
    private int floor;
    /** How many these are. */
    private int covered = roots == null ? 0 : 1;
    /** End of the stack, first record. */
    private int limit;
    private int recordsEnd;
    private int recordsLimit;

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
        return enter(id, 0);
    }

    private boolean enter(int id, long pendingBit) {
        if (mode != Gate.recording()) {
            return false;
        }
        int[][] places = this.places;
        int part = id >> LOG_PAGE + LOG_PART;
        int top = sp;
        if (part >= places.length || top == limit) {
            return false;
        }
        int page = places[part][id >> LOG_PAGE & PART - 1];
        if (page == 0) {
            return false;
        }
        Words words = this.words;
        int at = record(page, id);
        words.put(top, (long) (id + 1) << 32 | at | pendingBit);
        words.put(at + Format.ENTRIES, words.get(at + Format.ENTRIES) + 1);
        sp = top + 1;
        return true;
    }

    @Override
    boolean enterLibrary(int id) {
        if (mode != Gate.recording()) {
            return false;
        }
        // That there is a record says nothing: it may have come with those of its page.
        long page = find(id >> LOG_PAGE);
        return page != 0 && words.get(record(page, id) + Format.ENTRIES) != 0 && enter(id);
    }

    @Override
    boolean enterConstructor(int id) {
        if (pending < pendingLimit && enter(id, Format.PENDING)) {
            pending++;
            return true;
        }
        return false;
    }

    @Override
    boolean exit(int id) {
        return close(id, Format.EXITS);
    }

    @Override
    boolean unwind(int id) {
        return close(id, Format.UNWINDS);
    }

    private boolean close(int id, int column) {
        if (mode != Gate.recording()) {
            return false;
        }
        Words words = this.words;
        int top = sp - 1;
        long frame = words.get(top);
        if ((int) (frame >>> 32) != id + 1 || top < floor) {
            return false;
        }
        int at = (int) frame + column;
        words.put(at, words.get(at) + 1);
        words.put(top, 0);
        sp = top;
        return true;
    }

    @Override
    boolean superReturned(int id) {
        if (mode != Gate.recording() || sp <= floor) {
            return false;
        }
        long frame = words.get(sp - 1);
        if ((int) (frame >>> 32) != (id + 1 | 0x80000000)) {
            return false;
        }
        words.put(sp - 1, frame & ~Format.PENDING);
        pending--;
        return true;
    }

    @Override
    boolean caught(int id) {
        return mode == Gate.recording() && sp > floor && Format.idPlusOne(words.get(sp - 1)) == id + 1;
    }

    @Override
    boolean executed(int upper, long count) {
        int top = sp - 1;
        if (mode != Gate.recording() || top < floor || (int) (words.get(top) >>> 32) != upper) {
            return false;
        }
        return bytecodes.add(upper & 0x7fffffff, count);
    }

    // ---- for the slow paths ----

    @Override
    int consumerOf(long frame) {
        return Format.idPlusOne(frame);
    }

    @Override
    int depth() {
        return sp - bottom;
    }

    @Override
    long frame(int index) {
        return words.get(bottom + index);
    }

    @Override
    void setFrame(int index, long frame) {
        words.put(bottom + index, frame);
    }

    @Override
    boolean reserve(int id) {
        return recordOf(id) != 0 && (sp != limit || growStack());
    }

    @Override
    void enterReserved(int id, long pendingBit) {
        int at = recordOf(id);
        words.put(sp, (long) (id + 1) << 32 | at | pendingBit);
        count(at, Format.ENTRIES);
        sp++;
    }

    @Override
    boolean arrived(long eventKind, int number) {
        return true;
    }

    @Override
    void closeTop(int column) {
        int top = sp - 1;
        long frame = words.get(top);
        count(frame, column);
        words.put(top, 0);
        sp = top;
        if (frame < 0) {
            pending--;
        }
    }

    @Override
    void mend() {
        if (mode != Gate.recording()) {
            return;
        }
        long entered = sp < limit ? words.get(sp) : 0;
        if (entered != 0) {
            // An entry: its frame was not on the stack yet.
            words.put(sp, 0);
            balance((int) entered);
        }
        if (sp > bottom && words.get(sp - 1) == 0) {
            // An end, which is counted.
            sp--;
        } else if (sp > bottom) {
            balance((int) words.get(sp - 1));
        }
        pending = 0;
        for (int at = bottom; at < sp; at++) {
            pending += words.get(at) < 0 ? 1 : 0;
        }
    }

    /** A call that was counted and has no frame is unclosed; the topmost frame goes if its end was counted. */
    private void balance(int record) {
        long more = words.get(record + Format.ENTRIES);
        for (int column = Format.EXITS; column <= Format.UNCLOSED; column++) {
            more -= words.get(record + column);
        }
        for (int at = bottom; at < sp; at++) {
            more -= (int) words.get(at) == record ? 1 : 0;
        }
        if (more > 0) {
            words.put(record + Format.UNCLOSED, words.get(record + Format.UNCLOSED) + more);
        } else if (more < 0 && sp > bottom && (int) words.get(sp - 1) == record) {
            words.put(sp - 1, 0);
            sp--;
        }
    }

    private void count(long frame, int column) {
        int at = (int) frame + column;
        words.put(at, words.get(at) + 1);
    }

    @Override
    boolean unmatched(int id) {
        int at = recordOf(id);
        if (at != 0) {
            count(at, Format.UNMATCHED);
        }
        return at != 0;
    }

    @Override
    void closeOldest(int surplus) {
        int to = bottom;
        boolean above = false;
        for (int from = bottom; from < sp; from++) {
            long frame = words.get(from);
            boolean aborted = frame < 0 && surplus > 0;
            above = aborted || above && muted.isEmpty() && LibraryCalls.isFrame(frame);
            if (above) {
                count(frame, aborted ? Format.ABORTED : Format.UNWINDS);
                surplus -= aborted ? 1 : 0;
                pending -= aborted ? 1 : 0;
            } else {
                words.put(to++, frame);
            }
        }
        while (sp > to) {
            words.put(--sp, 0);
        }
    }

    @Override
    boolean allocate(Object object) {
        return allocations.count(this, object, Format.idPlusOne(words.get(sp - 1)));
    }

    @Override
    boolean allocateAgain(Object object) {
        return mode == Gate.recording() && missed == 0 && allocations.countAgain(object, Format.idPlusOne(words.get(sp - 1)));
    }

    @Override
    void cover(int frames) {
        covered = frames;
        floor = bottom + frames;
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
    private boolean isEmpty(int record) {
        long any = 0;
        for (int column = Format.ENTRIES; column < Format.RECORD_WORDS; column++) {
            any |= words.get(record + column);
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

    /** Place of the record of an id of a page. */
    private static int record(long slot, int id) {
        return (int) slot + (id & PAGE - 1) * Format.RECORD_WORDS;
    }

    /** Place of the record of an id, which may be new; 0: there is no room. */
    private int recordOf(int id) {
        int page = id >> LOG_PAGE;
        return find(page) != 0 || add(page) ? record(find(page), id) : 0;
    }

    /** Records for a page that has none; false: there is no room. */
    private boolean add(int page) {
        int used = (recordsEnd - limit) / Format.RECORD_WORDS;
        if (recordsEnd + PAGE * Format.RECORD_WORDS > recordsLimit && !grow(limit - bottom, 2 * used)) {
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
        int at = recordsEnd;
        for (int i = 0; i < PAGE; i++) {
            words.put(at + i * Format.RECORD_WORDS, (page << LOG_PAGE) + i + 1);
        }
        insert(map, (long) (page + 1) << 32 | at);
        if (part < PARTS) {
            places[part][page & PART - 1] = at;
        }
        recordsEnd = at + PAGE * Format.RECORD_WORDS;
        return true;
    }

    private void makePart(int part) {
        if (part >= places.length) {
            int[][] more = Arrays.copyOf(places, Math.max(2 * places.length, part + 1));
            Arrays.fill(more, places.length, more.length, NO_PART);
            places = more;
        }
        if (places[part] == NO_PART) {
            places[part] = new int[PART];
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
        int capacity = limit - bottom;
        return grow(2 * capacity + Format.HEADER_WORDS, (recordsLimit - limit) / Format.RECORD_WORDS);
    }

    /** Moves stack and records to a larger region; false: there is no room. */
    private boolean grow(int stackWords, int records) {
        Region larger = countsRegion(stackWords, records);
        if (larger == null) {
            return false;
        }
        int first = larger.base + Format.HEADER_WORDS;
        int used = recordsEnd - limit;
        // Frames in the stack and in the map say where their records are.
        long moved = first + stackWords - limit;
        for (int i = 0; i < sp - bottom; i++) {
            larger.words.put(first + i, words.get(bottom + i) + moved);
        }
        for (int i = 0; i < used; i++) {
            larger.words.put(first + stackWords + i, words.get(limit + i));
        }
        long[] movedMap = new long[map.length];
        for (int i = 0; i < map.length; i++) {
            movedMap[i] = map[i] == 0 ? 0 : map[i] + moved;
        }
        int[][] movedPlaces = new int[places.length][];
        for (int i = 0; i < places.length; i++) {
            movedPlaces[i] = places[i] == NO_PART ? NO_PART : places[i].clone();
            for (int j = 0; j < PART && movedPlaces[i] != NO_PART; j++) {
                movedPlaces[i][j] += places[i][j] == 0 ? 0 : (int) moved;
            }
        }
        larger.publish(Format.COUNTS, ordinal);
        header.put(Format.DATA_AT, larger.fileOffset);
        Region old = counts;
        map = movedMap;
        places = movedPlaces;
        use(larger, sp - bottom, stackWords, used);
        Threads.file.release(old);
        return true;
    }

    private void use(Region region, int depth, int stackWords, int usedWords) {
        counts = region;
        words = region.words;
        bottom = region.base + Format.HEADER_WORDS;
        sp = bottom + depth;
        cover(covered);
        limit = bottom + stackWords;
        recordsEnd = limit + usedWords;
        recordsLimit = region.base + (region.length >> 3);
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
        places = new int[][] {NO_PART};
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
            long frame = words.get(sp - 1);
            int to = sum.recordOf(Format.idPlusOne(frame) - 1);
            if (to == 0) {
                return false;
            }
            Journal.move(sum, sum.counts, to + Format.OPEN - sum.counts.base, 1, counts, sp - 1 - counts.base);
            sp--;
        }
        for (int at = limit; at < recordsEnd; at += Format.RECORD_WORDS) {
            if (isEmpty(at)) {
                continue;
            }
            int to = sum.recordOf((int) words.get(at) - 1);
            if (to == 0) {
                return false;
            }
            for (int column = Format.ENTRIES; column <= Format.OPEN; column++) {
                int target = to + column - sum.counts.base;
                Journal.move(sum, sum.counts, target, words.get(at + column), counts, at + column - counts.base);
            }
        }
        if (!allocations.foldInto(sum, sum.allocations, null) || !bytecodes.foldInto(sum, null)) {
            return false;
        }
        folded(sum);
        return true;
    }
}
