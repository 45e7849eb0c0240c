package instrument.runtime;

/**
 * Records every event, 8 bytes each, in pieces of the mapped file. The events are written as the probes saw them; the shadow
 * stack here is only for what a reader cannot know: the surplus of pending constructors, and the end of a root method.
 */
final class TraceState extends MappedTrace {
    // What abort has changed: where it wrote, and what the clock was.
    private int abortedAt;
    private long heldLast;
    /** From this depth on an entry is not for the fast path. */
    private int limit = Integer.MAX_VALUE;

    private final RecentClasses recent = new RecentClasses();

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
        if (pending < pendingLimit && Constructors.isKnown(id) && !Constructors.isSuspect(id) && enter(CONSTRUCTOR, id, Format.PENDING)) {
            pending++;
            return true;
        }
        return false;
    }

    private boolean enter(long kind, int id, long pendingBit) {
        int top = depth;
        long[] stack = this.stack;
        if (mode != Gate.recording() || next >= entryEnd || top >= stack.length || top >= limit || id > LARGEST_NUMBER) {
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
        if (top > 0 && stack[top - 1] < 0 && Constructors.suspects != 0) {
            watch();
        }
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

    @Override
    void hold(boolean on) {
        limit = on ? depth : Integer.MAX_VALUE;
        if (on) {
            covered = depth;
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
}
