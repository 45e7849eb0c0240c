package instrument.runtime;

/**
 * The events of a thread, in pieces of the mapped file, and its shadow stack. What events are written says {@link TraceState}.
 */
abstract class MappedTrace extends ThreadState {
    static final int FIRST_PIECE = 512;
    static final int LARGEST_PIECE = 1 << 20;
    static final int LARGEST_TRIAL = 1 << 16;
    /** Words kept at the end of a piece for what may have to go before an event. */
    static final int SPARE = 2;
    static final long LARGEST_DELTA = (1L << Format.DELTA_BITS) - 1;
    /** No index is larger. Tells the compiler that none is negative. */
    static final int INDEX = (1 << 28) - 1;
    static final int LARGEST_NUMBER = (1 << Format.NUMBER_BITS) - 1;
    static final long ENTRY = Format.EVENT_ENTRY << 60;
    static final long CONSTRUCTOR = Format.EVENT_CONSTRUCTOR << 60;
    static final long EXIT = Format.EVENT_EXIT << 60;
    static final long UNWIND = EXIT + (1L << 60);
    static final long SUPER_RETURNED = Format.EVENT_SUPER_RETURNED << 60;
    static final long CAUGHT = Format.EVENT_CAUGHT << 60;

    /** The block that holds the current piece. */
    Words words;
    /** The next event. */
    int next;
    /** From here on an event is not for the fast path. */
    int end;
    /** The same for an entry: in the middle of the piece, until the next piece is there. */
    int entryEnd;
    /** The clock at the event before. */
    long last;
    Region piece;
    /** The next piece, if it is there. */
    Region spare;
    int pieces;

    /** Frames as {@link ThreadState} has them; the lower half is the number of a link. */
    long[] stack = new long[64];
    int depth;
    /** So many frames are not for the fast paths to close. */
    int covered = Recording.roots == null ? 0 : 1;

    // Of a thread on trial: what was read back.
    Region chargedPiece;
    int chargedTo;
    long charged;

    MappedTrace(Thread owner) {
        super(owner);
    }

    final void put(long kind, int number, long clock) {
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
    final long far(long delta) {
        if (delta > 0) {
            words.put(next++, Format.EVENT_CLOCK << 60 | delta & ~LARGEST_DELTA & (1L << 60) - 1);
        }
        return delta > 0 ? delta & LARGEST_DELTA : 0;
    }

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
    final long notRecorded(long ns, long now) {
        return Math.max(0, Math.min(ns, now - last));
    }

    // ---- pieces ----

    /**
     * Room for an event; false: there is none. To get a piece takes more stack than an event may need, so entries get it in
     * advance: where they overflow the stack, the call did.
     */
    final boolean room() {
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

    final int nextLength() {
        return Math.min(2 * piece.length, ordinal == 0 ? LARGEST_TRIAL : LARGEST_PIECE);
    }

    /** A piece that no reader sees yet, or null. */
    static Region newPiece(int length) {
        Region fresh = Recording.file.allocate(length);
        if (fresh != null) {
            fresh.touch();
        }
        return fresh;
    }

    final void use(Region fresh) {
        // A thread on trial has no number, and no reader must see its pieces.
        if (ordinal == 0 && piece != null) {
            Recording.file.release(piece);
        }
        // Thread.stop may come between any two of these: see mend.
        end = 0;
        entryEnd = 0;
        piece = fresh;
        open(fresh);
    }

    /** May be cut off, and done again. */
    final void open(Region fresh) {
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
    final void took(long began) {
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
            if (event >>> 60 == Format.EVENT_EXIT && number != ThreadState.TRIAL_CALLER) {
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
        Region newHeader = Recording.file.allocate(Format.THREAD_LENGTH);
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
        Recording.file.release(piece);
        if (spare != null) {
            Recording.file.release(spare);
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
