package instrument.runtime;

/**
 * Records every event, 8 bytes each, in pieces of the mapped file. The events are written as the probes saw them; the shadow
 * stack here is only for what a reader cannot know: the surplus of pending constructors, and the end of a root method.
 */
final class TraceState extends ThreadState {
    private static final int FIRST_PIECE = 512;
    private static final int LARGEST_PIECE = 1 << 20;
    private static final int LARGEST_TRIAL = 1 << 16;
    /** Words kept at the end of a piece for what may have to go before an event. */
    private static final int SPARE = 2;
    private static final long LARGEST_DELTA = (1L << Format.DELTA_BITS) - 1;
    /** No index is larger. Tells the compiler that none is negative. */
    private static final int INDEX = (1 << 28) - 1;
    private static final int LARGEST_NUMBER = (1 << Format.NUMBER_BITS) - 1;
    private static final long ENTRY = Format.EVENT_ENTRY << 60;
    private static final long CONSTRUCTOR = Format.EVENT_CONSTRUCTOR << 60;
    private static final long EXIT = Format.EVENT_EXIT << 60;
    private static final long UNWIND = EXIT + (1L << 60);
    private static final long SUPER_RETURNED = Format.EVENT_SUPER_RETURNED << 60;
    private static final long CAUGHT = Format.EVENT_CAUGHT << 60;

    /** The block that holds the current piece. */
    private Words words;
    /** The next event. */
    private int next;
    /** From here on an event is not for the fast path. */
    private int end;
    /** The same for an entry: in the middle of the piece, until the next piece is there. */
    private int entryEnd;
    /** The clock at the event before. */
    private long last;
    private Region piece;
    /** The next piece, if it is there. */
    private Region spare;
    private int pieces;

    /** Frames as {@link ThreadState} has them; the lower half is the number of a link. */
    private long[] stack = new long[64];
    private int depth;
    /** So many frames are not for the fast paths to close. */
    private int covered = roots == null ? 0 : 1;

    // What abort has changed: where it wrote, and what entryEnd and the clock were.
    private int abortedAt;
    private int heldEnd;
    private long heldLast;

    private final RecentClasses recent = new RecentClasses();

    // Of a thread on trial: what was read back.
    private Region chargedPiece;
    private int chargedTo;
    private long charged;

    private TraceState(Thread owner) {
        super(owner);
        idMask = LARGEST_NUMBER;
    }

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static ThreadState create(Thread owner) {
        return new TraceState(owner);
    }

    // ---- fast paths ----

    @Override
    boolean enter(int id) {
        return enter(ENTRY, id, 0);
    }

    @Override
    boolean enterConstructor(int id) {
        if (pending < pendingLimit && Constructors.isKnown(id) && enter(CONSTRUCTOR, id, Format.PENDING)) {
            pending++;
            return true;
        }
        return false;
    }

    private boolean enter(long kind, int id, long pendingBit) {
        int top = depth;
        long[] stack = this.stack;
        if (mode != Gate.recording() || next >= entryEnd || top >= stack.length || id > LARGEST_NUMBER) {
            return false;
        }
        stack[top] = (long) (id + 1) << 32 | pendingBit;
        depth = top + 1;
        put(kind, id);
        return true;
    }

    /** Only of ids that are known: a reader is told of the ends of these calls. */
    @Override
    boolean enterLibrary(int id) {
        return LibraryCalls.has(id) && enter(ENTRY, id, 0);
    }

    @Override
    boolean exit(int id) {
        return close(EXIT, id);
    }

    @Override
    boolean unwind(int id) {
        if (!close(UNWIND, id)) {
            return false;
        }
        if (depth > 0 && stack[depth - 1] < 0) {
            thrown();
        }
        return true;
    }

    private boolean close(long kind, int id) {
        int top = depth - 1;
        if (mode != Gate.recording() || next >= end || top < covered || (int) (stack[top] >>> 32) != id + 1) {
            return false;
        }
        put(kind, id);
        depth = top;
        return true;
    }

    @Override
    boolean superReturned(int id) {
        int top = depth - 1;
        if (mode != Gate.recording() || next >= end || top < covered || top < 0 || (int) (stack[top] >>> 32) != (id + 1 | 0x80000000)) {
            return false;
        }
        put(SUPER_RETURNED, id);
        stack[top] &= ~Format.PENDING;
        pending--;
        return true;
    }

    /** A trace has no event for it. */
    @Override
    boolean executed(int upper, long count) {
        return true;
    }

    @Override
    int consumerOf(long frame) {
        return Format.idPlusOne(frame);
    }

    @Override
    boolean caught(int id) {
        int top = depth - 1;
        if (mode != Gate.recording() || next >= end || top < covered || top < 0 || Format.idPlusOne(stack[top]) != id + 1) {
            return false;
        }
        put(CAUGHT, id);
        return true;
    }

    /** The clock is read last, the event is one store. */
    private void put(long kind, int number) {
        put(kind, number, Clock.now());
    }

    private void put(long kind, int number, long clock) {
        Words words = this.words;
        int at = next & INDEX;
        long delta = clock - last;
        if ((delta & ~LARGEST_DELTA) != 0) {
            delta = far(delta);
            at = next & INDEX;
        }
        words.put(at, kind | (long) number << Format.DELTA_BITS | delta);
        next = at + 1;
        last = Math.max(last, clock);
    }

    /** What does not fit an event goes before it. A clock that runs backwards stands still. */
    private long far(long delta) {
        if (delta > 0) {
            words.put(next++, Format.EVENT_CLOCK << 60 | delta & ~LARGEST_DELTA & (1L << 60) - 1);
        }
        return delta > 0 ? delta & LARGEST_DELTA : 0;
    }

    /** An event that is in the piece, and that the next one would replace, is finished: what comes behind the last one is 0. */
    @Override
    void mend() {
        if (mode != Gate.recording()) {
            return;
        }
        if (end == 0) {
            open(piece);
        }
        long event = next < end ? words.get(next) : 0;
        if (event != 0) {
            next++;
            long kind = event & 0xFL << 60;
            last += kind == Format.EVENT_CLOCK << 60 ? event & (1L << 60) - 1 : event & LARGEST_DELTA;
            if (depth > 0 && kind == SUPER_RETURNED) {
                stack[depth - 1] &= ~Format.PENDING;
            } else if (depth > 0 && (kind == EXIT || kind == UNWIND)) {
                depth--;
            }
        }
        pending = 0;
        for (int at = 0; at < depth; at++) {
            pending += stack[at] < 0 ? 1 : 0;
        }
    }

    // ---- for the slow paths ----

    @Override
    int depth() {
        return depth;
    }

    @Override
    long frame(int index) {
        return stack[index];
    }

    @Override
    void setFrame(int index, long frame) {
        stack[index] = frame;
    }

    @Override
    boolean reserve(int id) {
        if (depth == stack.length) {
            long began = Clock.now();
            stack = java.util.Arrays.copyOf(stack, 2 * depth);
            took(began);
        }
        if (next >= entryEnd && spare == null) {
            long began = Clock.now();
            spare = newPiece(nextLength());
            took(began);
            entryEnd = end;
        }
        return room();
    }

    @Override
    void enterReserved(int id, long pendingBit) {
        stack[depth] = (long) (id + 1) << 32 | pendingBit;
        depth++;
        put(pendingBit == 0 ? ENTRY : CONSTRUCTOR, id);
    }

    @Override
    boolean arrived(long eventKind, int number) {
        if ((number & ~LARGEST_NUMBER) != 0) {
            drop();
            return false;
        }
        if (!room()) {
            stop();
            drop();
            return false;
        }
        long now = Clock.now();
        put(eventKind << 60, number, now - notRecorded(paused(now), now));
        return true;
    }

    // ---- pauses ----

    @Override
    void cover(int frames) {
        covered = frames;
    }

    @Override
    void takeOut(long ns) {
        long out = notRecorded(ns, Clock.now());
        // Without room the next event fails, too.
        if (out > 0 && room()) {
            words.put(next++, Format.EVENT_PAUSE << 60 | out);
            last += out;
            pause(out);
        }
    }

    /** What of so many ns of pauses can be since the last event: that may have come when the pause had just begun. */
    private long notRecorded(long ns, long now) {
        return Math.max(0, Math.min(ns, now - last));
    }

    /** A reader cannot tell calls into libraries from others: their ends are events of their own. */
    @Override
    boolean arriving(int at) {
        for (int i = depth - 1; i > at; i--) {
            if (LibraryCalls.isFrame(stack[i])) {
                if (!arrived(UNWIND >>> 60, Format.idPlusOne(stack[i]) - 1)) {
                    return false;
                }
                closeAbove(i - 1);
            }
        }
        return true;
    }

    /** A reader knows no muted frames: it is told how many are gone. */
    @Override
    void uncover(int frames) {
        if (arriving(frames - 1) && arrived(Format.EVENT_GONE, depth - frames)) {
            closeAbove(frames - 1);
        }
    }

    @Override
    void closeTop(int column) {
        if (stack[--depth] < 0) {
            pending--;
        }
    }

    /** Its event says it all. */
    @Override
    boolean unmatched(int id) {
        return true;
    }

    /** A reader knows no roots: it is told of the end of each frame. */
    @Override
    void abandon() {
        if (pending > 0 && room()) {
            remove(0, pending);
        }
        while (depth > beneath()) {
            long frame = stack[depth - 1];
            int idPlusOne = Format.idPlusOne(frame);
            boolean told = idPlusOne == Format.LINK_FRAME
                ? arrived(Format.EVENT_LINK_LEFT, (int) frame)
                : arrived(UNWIND >>> 60, idPlusOne - 1);
            if (!told) {
                return;
            }
            depth--;
        }
    }

    /** The innermost first: their places stay what they are. */
    @Override
    void remove(boolean[] gone) {
        for (int i = depth - 1; i >= 0; i--) {
            if (gone[i] && room()) {
                remove(i, 1);
            }
        }
    }

    /** Tells a reader of so many pending frames, the oldest from a place on, that they are gone. There is room for an event. */
    private void remove(int place, int frames) {
        words.put(next++, Format.EVENT_SURPLUS << 60 | (long) place << Format.DELTA_BITS | frames);
        int left = frames;
        int to = place;
        for (int from = place; from < depth; from++) {
            if (stack[from] < 0 && left > 0) {
                left--;
                pending--;
            } else {
                stack[to++] = stack[from];
            }
        }
        depth = to;
    }

    @Override
    void closeGone(int frames) {
        if (room()) {
            put(Format.EVENT_GONE << 60, frames, last);
            closeAbove(depth - frames - 1);
        }
    }

    @Override
    boolean abort(int frames) {
        if (!room()) {
            return false;
        }
        abortedAt = next;
        heldLast = last;
        if (!arrived(Format.EVENT_GONE, frames)) {
            return false;
        }
        closeAbove(depth - frames - 1);
        return true;
    }

    /** Nothing has been written since. */
    @Override
    void revive(boolean[] alive) {
        while (next > abortedAt) {
            words.put(--next, 0);
        }
        long clock = last;
        last = heldLast;
        int top = 0;
        while (!alive[doubted - 1 - top]) {
            top++;
        }
        if (top > 0) {
            put(Format.EVENT_GONE << 60, top, clock);
        }
        int lowest = depth;
        for (int i = 0; i < doubted - top; i++) {
            stack[depth++] = (long) doubtedFrames[i] << 32;
            pending++;
        }
        for (int i = doubted - top - 1; i >= 0; i--) {
            if (!alive[i] && room()) {
                remove(lowest + i, 1);
            }
        }
    }

    /** Entries are held by {@link #entryEnd}. */
    @Override
    void hold(boolean on) {
        if (on) {
            heldEnd = entryEnd;
            entryEnd = 0;
            covered = depth;
        } else {
            entryEnd = heldEnd;
        }
    }

    @Override
    boolean allocate(Object object) {
        ClassNames.Entry type = ClassNames.of(object);
        if (type.number <= LARGEST_NUMBER) {
            recent.add(type, object.getClass(), 0, 0);
        }
        if (type.number == 0) {
            return true;
        }
        if (!room()) {
            return false;
        }
        if (type.number > LARGEST_NUMBER) {
            drop();
            return true;
        }
        put(object, type);
        return true;
    }

    @Override
    boolean allocateAgain(Object object) {
        int i = mode == Gate.recording() && missed == 0 && doubted == 0 && next < end ? recent.find(object.getClass(), 0) : -1;
        if (i < 0) {
            return false;
        }
        ClassNames.Entry type = recent.entry(i);
        if (type.number != 0) {
            put(object, type);
        }
        return true;
    }

    private void put(Object object, ClassNames.Entry type) {
        long units = Math.min(ObjectSizes.of(object, type.size) >> 3, LARGEST_DELTA);
        words.put(next, Format.EVENT_ALLOCATION << 60 | (long) type.number << Format.DELTA_BITS | units);
        next++;
    }

    @Override
    boolean pushLink(int link) {
        if (!reserve(0) || !arrived(Format.EVENT_LINK_ENTERED, link)) {
            return false;
        }
        stack[depth++] = (long) Format.LINK_FRAME << 32 | link;
        return true;
    }

    @Override
    boolean isLink(long frame, int link) {
        return frame == ((long) Format.LINK_FRAME << 32 | link);
    }

    /** Where a link is made, the events tell. */
    @Override
    int contextNode() {
        return 0;
    }

    // ---- pieces ----

    /**
     * Room for an event; false: there is none. To get a piece takes more stack than an event may need, so entries get it in
     * advance: where they overflow the stack, the call did.
     */
    private boolean room() {
        if (next < end) {
            return true;
        }
        long began = Clock.now();
        Region fresh = spare != null ? spare : newPiece(nextLength());
        if (fresh == null) {
            return false;
        }
        spare = null;
        use(fresh);
        took(began);
        return true;
    }

    private int nextLength() {
        return Math.min(2 * piece.length, ordinal == 0 ? LARGEST_TRIAL : LARGEST_PIECE);
    }

    /** A piece that no reader sees yet, or null. */
    private static Region newPiece(int length) {
        Region fresh = Threads.file.allocate(length);
        if (fresh != null) {
            fresh.touch();
        }
        return fresh;
    }

    private void use(Region fresh) {
        // A thread on trial has no number, and no reader must see its pieces.
        if (ordinal == 0 && piece != null) {
            Threads.file.release(piece);
        }
        // Thread.stop may come between any two of these: see mend.
        end = 0;
        entryEnd = 0;
        piece = fresh;
        open(fresh);
    }

    /** May be cut off, and done again. */
    private void open(Region fresh) {
        long number = fresh.get(Format.PIECE) != 0 ? fresh.get(Format.PIECE) : pieces + 1;
        fresh.put(Format.PIECE, number);
        fresh.put(Format.PIECE_CLOCK, last);
        fresh.publish(ordinal == 0 ? Format.FREE : Format.TRACE, ordinal);
        pieces = (int) number;
        words = fresh.words;
        next = fresh.base + Format.HEADER_WORDS;
        end = fresh.base + (fresh.length >> 3) - SPARE;
        entryEnd = fresh.base + (fresh.length >> 4);
    }

    /** The recorder needed time for itself. */
    private void took(long began) {
        long ns = Clock.now() - began;
        if (next <= end) {
            words.put(next++, Format.EVENT_PAUSE << 60 | ns);
            last += ns;
            pause(ns);
        }
    }

    /** Also as an event; dropped events that follow each other are one. */
    @Override
    void drop() {
        super.drop();
        if (words == null || next > end) {
            return;
        }
        long before = words.get(next - 1);
        if (next > piece.base + Format.HEADER_WORDS && before >>> 60 == Format.EVENT_DROPPED) {
            words.put(next - 1, before + 1);
        } else {
            words.put(next++, Format.EVENT_DROPPED << 60 | 1);
        }
    }

    /** Sums up the exits since the call before. */
    @Override
    long charged() {
        if (chargedPiece != piece) {
            chargedPiece = piece;
            chargedTo = next;
            return -1;
        }
        for (; chargedTo < next; chargedTo++) {
            long event = words.get(chargedTo);
            long number = event >>> Format.DELTA_BITS & LARGEST_NUMBER;
            if (event >>> 60 == Format.EVENT_EXIT && number != CalibrationCalls.CALLER) {
                charged += event & LARGEST_DELTA;
            }
        }
        return charged;
    }

    @Override
    void timeAll(boolean all) {}

    // ---- life ----

    @Override
    boolean allocateRegions(int kind) {
        Region newHeader = Threads.file.allocate(Format.THREAD_LENGTH);
        last = Clock.now();
        Region first = newHeader == null ? null : newPiece(FIRST_PIECE);
        if (first == null) {
            return false;
        }
        use(first);
        newHeader.publish(kind, ordinal);
        header = newHeader;
        return true;
    }

    @Override
    void releaseRegions() {
        Threads.file.release(piece);
        if (spare != null) {
            Threads.file.release(spare);
        }
    }

    @Override
    boolean folds() {
        return false;
    }

    @Override
    boolean foldInto(ThreadState sum) {
        return false;
    }
}
