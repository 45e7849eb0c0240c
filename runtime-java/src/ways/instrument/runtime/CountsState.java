package instrument.runtime;

/**
 * Records counts per method, without a clock: shadow stack and one record per method, both in the mapped file.
 *
 * <p>The probes of this class become a part of all methods that have probes, and what they cost is the number of their instructions. So they know where words
 * are, and compute no index; a frame is a constant of its method; and calls that returned are counted for the thread only (see {@link Format#COUNTS_EXITS}): a method's are those of
 * its calls that neither ended in another way nor are open.
 */
final class CountsState extends MappedCounts {
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
        if (Memory.upper(words, top) != id + 1 || top < floor) {
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
        if (Memory.upper(words, top) != id + 1 || top < floor) {
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
        if (Memory.upper(words, top) != (id + 1 | 0x80000000) || top < floor) {
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
        return top >= floor && (Memory.upper(words, top) & 0x7fffffff) == id + 1;
    }

    @Override
    boolean executed(int upper, long count) {
        long top = sp - WORD;
        if (mode != Gate.recording() || top < floor || Memory.upper(words, top) != upper) {
            return false;
        }
        return bytecodes.add(upper & 0x7fffffff, count);
    }

    // ---- for the slow paths ----

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
    boolean hasContexts() {
        return false;
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

    /** There is no clock. */
    @Override
    long charged() {
        return -1;
    }

    @Override
    void timeAll(boolean all) {}

    @Override
    boolean foldInto(ThreadState ended) {
        MappedCounts sum = (MappedCounts) ended;
        flag(Format.FOLDING, true);
        while (sp > bottom) {
            long to = sum.recordOfFrame(get(sp - WORD));
            if (to == 0) {
                return false;
            }
            Journal.move(sum.header, sum.counts, sum.word(to) + Format.OPEN, 1, counts, word(sp) - 1);
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
                Journal.move(sum.header, sum.counts, sum.word(to) + column, get(at + WORD * column), counts, word(at) + column);
            }
        }
        Journal.move(sum.header, sum.counts, Format.COUNTS_EXITS, get(exits), counts, Format.COUNTS_EXITS);
        if (samples != null) {
            Samples.fold(samples, sum.samples, sum.header);
        }
        if (!allocations.foldInto(sum, sum.allocations, null) || !bytecodes.foldInto(sum.bytecodes, sum.header, sum.ordinal, null)) {
            return false;
        }
        return true;
    }
}
