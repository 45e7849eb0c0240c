package instrument.runtime;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long the calls of a thread took, by context: base-2 exponential histograms of scale 6, those of calls that returned and of calls that failed apart. They lie in pieces
 * of the mapped file, in the mapping of the tree. A histogram consists of octaves, each with room for 64 counts, which are made when first needed.
 *
 * <p>Bucket {@code i} has the durations above 2^(i/64) ns, up to 2^((i+1)/64) ns: what OpenTelemetry's and Prometheus' histograms of that scale have.
 */
final class Durations {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    private static final int PER_OCTAVE = 64;
    /** The largest count that has room. */
    private static final long FULL = 0xffffffffL;
    /** Octaves that a process may have: 31 MiB. */
    private static final int MOST = 100000;
    /** Bytes of the first piece, which has three octaves, and of the largest. A new piece is an eighth of what is there. */
    private static final int FIRST_PIECE = 1 << 10;
    private static final int LARGEST_PIECE = 1 << 16;

    /** By how much a duration has to exceed a power of two to be beyond so many buckets, in parts of 2^63 of that power. */
    private static final long[] BOUNDS = new long[PER_OCTAVE + 1];
    /** For each of 256 equal parts of an octave, how many of {@link #BOUNDS} lie below its beginning. No part has two of them. */
    private static final byte[] BELOW = new byte[256];
    private static final AtomicInteger MADE = new AtomicInteger();

    private final Words words;
    /** The calls that took longest. */
    final WorstCalls worst;
    /** Indexes of octaves by hash of the key, a quarter full at most; 0: none. */
    private int[] table = new int[16];
    private Region[] pieces = new Region[2];
    private int pieceCount;
    private int count;
    /** Index of the next octave, and where the piece ends. */
    private int next;
    private int pieceEnd;

    static {
        for (int i = 0; i <= PER_OCTAVE; i++) {
            BOUNDS[i] = i == PER_OCTAVE ? Long.MAX_VALUE : (long) ((Math.pow(2, i / (double) PER_OCTAVE) - 1) * 0x1p63);
        }
        for (int part = 0; part < BELOW.length; part++) {
            int below = 0;
            while (BOUNDS[below] < (long) part << 55) {
                below++;
            }
            BELOW[part] = (byte) below;
        }
    }

    /** @param words the mapping that the tree is in */
    Durations(Words words) {
        this.words = words;
        worst = new WorstCalls(words);
    }

    /** Another recording begins. */
    static void renew() {
        MADE.set(0);
        WorstCalls.renew();
    }

    /** The bucket of a duration, and 64 more, so that none is negative; that of no time at all is 0. */
    static int bucket(long ns) {
        if (ns <= 0) {
            return 0;
        }
        int zeros = Long.numberOfLeadingZeros(ns);
        long part = ns << zeros & Long.MAX_VALUE;
        int below = BELOW[(int) (part >>> 55)];
        return PER_OCTAVE * (64 - zeros) - 1 + below + (BOUNDS[below] < part ? 1 : 0);
    }

    /** What finds the octave of a duration. */
    static long key(int node, long ns, boolean failed) {
        return (failed ? 1L << Format.FAILED_SHIFT : 0) | (long) (bucket(ns) / PER_OCTAVE) << Format.OCTAVE_SHIFT | node;
    }

    /** A call of a context that has its durations kept has ended. Gives the ns that it took to make room, as {@link #keep}. */
    long ended(ThreadState thread, Region stack, int node, long ns, int column, long end) {
        boolean failed = column == Format.UNWINDS;
        boolean isKnown = failed || column == Format.EXITS;
        long took = isKnown ? keep(thread, stack, key(node, ns, failed), ns) : 0;
        return took + worst.ended(thread, node, isKnown ? ns : -1, failed, end);
    }

    /**
     * Keeps the duration of a call of a thread, whose stack is in this region. Gives the ns that it took to make room for the first one of its octave: they are no part of any open
     * call.
     */
    long keep(ThreadState thread, Region stack, long key, long ns) {
        if (add(key, ns)) {
            return 0;
        }
        int before = thread.mode;
        thread.mode = ThreadState.BUSY;
        long began = Clock.now();
        try {
            StackLevels.need(StackLevels.OF_FILE);
            // The node begins with its consumer.
            long threshold = Kept.threshold((int) words.get(TreeNodes.place((int) key)));
            if (!make(key, threshold == Kept.NO_THRESHOLD ? 0 : threshold, stack, thread.ordinal) || !add(key, ns)) {
                leaveOut(stack, 1);
            }
            return Clock.now() - began;
        } catch (StackOverflowError e) {
            // The end of the call is not counted yet.
            leaveOut(stack, 1);
            return 0;
        } finally {
            thread.mode = before;
        }
    }

    void warmUp(ThreadState thread, Region stack, long key) {
        keep(thread, stack, key, 1);
        keep(thread, stack, key, 1);
    }

    private static void leaveOut(Region stack, long calls) {
        stack.put(Format.DURATIONS_LEFT_OUT, stack.get(Format.DURATIONS_LEFT_OUT) + calls);
    }

    /** Adds a duration; false: {@link #make} has to make its octave first. */
    private boolean add(long key, long ns) {
        int at = find(key);
        if (at == 0) {
            return false;
        }
        Words words = this.words;
        int bucket = bucket(ns) & PER_OCTAVE - 1;
        int counts = at + Format.OCTAVE_COUNTS + (bucket >> 1);
        int shift = 32 * (bucket & 1);
        long both = words.get(counts);
        if ((both >>> shift & FULL) == FULL) {
            return false;
        }
        words.put(counts, both + (1L << shift));
        words.put(at + Format.OCTAVE_NS, words.get(at + Format.OCTAVE_NS) + ns);
        if (ns < words.get(at + Format.OCTAVE_MIN)) {
            words.put(at + Format.OCTAVE_MIN, ns);
        }
        if (ns > words.get(at + Format.OCTAVE_MAX)) {
            words.put(at + Format.OCTAVE_MAX, ns);
        }
        long threshold = words.get(at + Format.OCTAVE_THRESHOLD);
        if (ns > threshold && threshold != 0) {
            words.put(at + Format.OCTAVE_OVER, words.get(at + Format.OCTAVE_OVER) + 1);
        }
        return true;
    }

    private static int hash(long key) {
        return (int) (key * GOLDEN >>> 40);
    }

    /** The index of the newest octave of a key, or 0. */
    private int find(long key) {
        int[] table = this.table;
        for (int i = hash(key);; i++) {
            int at = table[i & table.length - 1];
            if (at == 0 || words.get(at) == key) {
                return at;
            }
        }
    }

    /** Makes the octave of a key; of two that have the same one, since a count was full, the newer is found. False: there is no room. */
    private boolean make(long key, long threshold, Region stack, int ordinal) {
        if (next == pieceEnd && !addPiece(stack, ordinal)) {
            return false;
        }
        if (MADE.get() >= MOST) {
            return false;
        }
        MADE.incrementAndGet();
        if (4 * (count + 1) > table.length) {
            int[] old = table;
            table = new int[2 * old.length];
            for (int at : old) {
                if (at != 0) {
                    insert(at, words.get(at));
                }
            }
        }
        int at = next;
        words.put(at + Format.OCTAVE_MIN, Long.MAX_VALUE);
        words.put(at + Format.OCTAVE_THRESHOLD, threshold);
        words.put(at, key);
        next += Format.OCTAVE_WORDS;
        count++;
        insert(at, key);
        return true;
    }

    private void insert(int at, long key) {
        int i = hash(key);
        while (table[i & table.length - 1] != 0 && words.get(table[i & table.length - 1]) != key) {
            i++;
        }
        table[i & table.length - 1] = at;
    }

    private static int firstOf(Region piece) {
        return piece.base + Format.HEADER_WORDS;
    }

    private static int endOf(Region piece) {
        return firstOf(piece) + ((piece.length >> 3) - Format.HEADER_WORDS) / Format.OCTAVE_WORDS * Format.OCTAVE_WORDS;
    }

    private boolean addPiece(Region stack, int ordinal) {
        int least = Math.max(FIRST_PIECE, Math.min(LARGEST_PIECE, count * Format.OCTAVE_WORDS));
        Region piece = Recording.file.allocate(words, Integer.highestOneBit(least));
        if (piece == null) {
            return false;
        }
        if (pieceCount == pieces.length) {
            pieces = Arrays.copyOf(pieces, 2 * pieceCount);
        }
        piece.touch();
        piece.publish(Format.DURATIONS, ordinal);
        if (pieceCount == 0) {
            stack.put(Format.DURATIONS_AT, piece.fileOffset);
        } else {
            pieces[pieceCount - 1].put(Format.DURATIONS_NEXT, piece.fileOffset);
        }
        pieces[pieceCount++] = piece;
        next = firstOf(piece);
        pieceEnd = endOf(piece);
        return true;
    }

    /** Moves everything to a sum of ended threads, under the journal of its header. {@code stack}: the stack here; {@code sumStack}: there; {@code nodes}: the numbers of nodes there. */
    void foldInto(Region stack, Durations target, ThreadState sum, Region sumStack, IntTable nodes) {
        for (int i = 0; i < pieceCount; i++) {
            Region piece = pieces[i];
            int end = i + 1 < pieceCount ? endOf(piece) : next;
            for (int at = firstOf(piece); at < end; at += Format.OCTAVE_WORDS) {
                target.take(piece, at - piece.base, sum, sumStack, nodes.get((int) words.get(at)));
            }
        }
        Journal.move(sum.header, sumStack, Format.DURATIONS_LEFT_OUT, stack.get(Format.DURATIONS_LEFT_OUT), stack, Format.DURATIONS_LEFT_OUT);
    }

    /** Takes an octave of an ended thread's piece, for this node of the sum. */
    private void take(Region piece, int from, ThreadState sum, Region sumStack, int node) {
        long key = piece.get(from) >>> 32 << 32 | node;
        int at = withRoom(key, piece, from);
        if (at == 0 && make(key, piece.get(from + Format.OCTAVE_THRESHOLD), sumStack, sum.ordinal)) {
            at = find(key);
        }
        if (at == 0) {
            leaveOut(sumStack, calls(piece, from));
            return;
        }
        // Regions of a mapping have offsets from one another.
        int to = at - sumStack.base;
        // The shortest and the longest stay there: to merge them twice does no harm.
        words.put(at + Format.OCTAVE_MIN, Math.min(words.get(at + Format.OCTAVE_MIN), piece.get(from + Format.OCTAVE_MIN)));
        words.put(at + Format.OCTAVE_MAX, Math.max(words.get(at + Format.OCTAVE_MAX), piece.get(from + Format.OCTAVE_MAX)));
        Journal.move(sum.header, sumStack, to + Format.OCTAVE_NS, piece.get(from + Format.OCTAVE_NS), piece, from + Format.OCTAVE_NS);
        Journal.move(sum.header, sumStack, to + Format.OCTAVE_OVER, piece.get(from + Format.OCTAVE_OVER), piece, from + Format.OCTAVE_OVER);
        for (int word = Format.OCTAVE_COUNTS; word < Format.OCTAVE_WORDS; word++) {
            Journal.move(sum.header, sumStack, to + word, piece.get(from + word), piece, from + word);
        }
    }

    private static long calls(Region piece, int at) {
        long calls = 0;
        for (int word = Format.OCTAVE_COUNTS; word < Format.OCTAVE_WORDS; word++) {
            long both = piece.get(at + word);
            calls += (both & FULL) + (both >>> 32);
        }
        return calls;
    }

    /** The index of an octave of this key that has room for the counts of another; 0: there is none. */
    private int withRoom(long key, Region piece, int from) {
        int at = find(key);
        for (int word = Format.OCTAVE_COUNTS; at != 0 && word < Format.OCTAVE_WORDS; word++) {
            long here = words.get(at + word);
            long there = piece.get(from + word);
            if ((here & FULL) + (there & FULL) > FULL || (here >>> 32) + (there >>> 32) > FULL) {
                return 0;
            }
        }
        return at;
    }

    void release() {
        MADE.addAndGet(-count);
        worst.release();
        for (int i = 0; i < pieceCount; i++) {
            Recording.file.release(pieces[i]);
        }
    }
}
