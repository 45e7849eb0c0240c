package instrument.runtime;

import java.lang.ref.WeakReference;
import java.nio.LongBuffer;

/**
 * One thread's shadow stack and counts, both in the mapped file, and the rules that match events to frames.
 *
 * <p>A frame is one word: pending bit, id + 1 (31 bits), place of the id's record in {@link #words} (32 bits).
 * An event belongs to the topmost frame of its id that it fits: exit and unwind a ready one, superReturned a pending one,
 * exceptionCaught any. Pending frames above it are orphans, anything else above it is lost; both close there. An event
 * that fits no frame is stray.
 *
 * <p>Order of writes: an entry is its frame, then its count; a close is its count, then its frame. A process that is
 * killed in between leaves the topmost frame one ahead of the counts, which is the one difference readers accept.
 *
 * <p>Every call that may fail comes before the first write of an event; what follows needs less stack than
 * {@link ProfilerRuntime} has made sure of.
 */
final class ThreadState {
    // Modes. Only RECORDING lets the fast paths through.
    static final int NEW = 0;
    static final int RECORDING = 1;
    /** Inside the runtime: probes of code that the runtime itself calls do nothing. */
    static final int BUSY = 2;
    static final int STOPPED = 3;
    static final int OFF = 4;

    /** Pending constructors before the thread's real frames are counted. */
    private static final int PENDING_LIMIT = 64;
    private static final int FIRST_STACK = 56;
    private static final int FIRST_RECORDS = 24;
    private static final int FIRST_ALLOCATIONS = 512;

    int mode = NEW;
    /** Lookup by id; a slot holds the id's frame without the pending bit. Grows at half full. */
    private long[] map;
    /** The block that holds the shadow stack and the records: one buffer, because each costs the probes several loads. */
    private LongBuffer words;
    // Indexes in it. The word below the first frame is 0.
    private int bottom;
    private int sp;
    /** End of the stack, first record. */
    private int limit;
    private int recordsEnd;
    private int recordsLimit;

    /** The THREAD or ENDED region; null until the thread is attached. */
    Region header;
    private Region counts;
    private int pending;
    private int pendingLimit = PENDING_LIMIT;
    private long dropped;

    private Region allocations;
    private long[] allocationKeys;
    private int[] allocationAt;
    private int allocationsUsed;
    /** Allocations not counted because the stack overflowed, not yet in the file. */
    int missed;

    /** Empty in the accumulator of ended threads. Final: other threads read it without a lock. */
    final WeakReference<Thread> thread;
    /** Look-ups that had to go through ThreadLocal. */
    int misses;
    /** Number of the thread in this copy's part of the file, from 1; 0 in the accumulator. */
    int ordinal;

    ThreadState(Thread owner) {
        thread = new WeakReference<Thread>(owner);
    }

    // ---- fast paths: true if the event was recorded ----

    boolean enter(int id, long pendingBit) {
        if (mode != RECORDING) {
            return false;
        }
        long frame = map[id & map.length - 1];
        if ((int) (frame >>> 32) != id + 1) {
            frame = find(id);
        }
        int top = sp;
        if (frame == 0 || top == limit) {
            return false;
        }
        LongBuffer words = this.words;
        int at = (int) frame + Format.ENTRIES;
        words.put(top, frame | pendingBit);
        words.put(at, words.get(at) + 1);
        sp = top + 1;
        return true;
    }

    boolean enterConstructor(int id) {
        if (pending < pendingLimit && enter(id, Format.PENDING)) {
            pending++;
            return true;
        }
        return false;
    }

    boolean close(int id, int column) {
        if (mode != RECORDING) {
            return false;
        }
        LongBuffer words = this.words;
        int top = sp - 1;
        long frame = words.get(top);
        if ((int) (frame >>> 32) != id + 1) {
            return false;
        }
        int at = (int) frame + column;
        words.put(at, words.get(at) + 1);
        words.put(top, 0);
        sp = top;
        return true;
    }

    boolean superReturned(int id) {
        if (mode != RECORDING) {
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

    boolean caught(int id) {
        return mode == RECORDING && Format.idPlusOne(words.get(sp - 1)) == id + 1;
    }

    // ---- slow paths ----

    /** False: the event is not to be recorded. True: the thread is BUSY until {@link #done}. */
    private boolean begin() {
        if (mode == RECORDING) {
            mode = BUSY;
            return true;
        }
        if (mode == NEW) {
            mode = BUSY;
            try {
                if (Threads.attach(this)) {
                    return true;
                }
            } finally {
                if (mode == BUSY && header == null) {
                    mode = NEW;
                }
            }
        }
        if (mode == STOPPED) {
            drop();
        }
        return false;
    }

    private void done() {
        if (mode == BUSY) {
            mode = RECORDING;
        }
    }

    /** Entry where the fast path would not do. Lets StackOverflowError and ThreadDeath through. */
    void enterSlowly(int id, long pendingBit) {
        if (!begin()) {
            return;
        }
        boolean room;
        try {
            if (pendingBit != 0 && pending >= pendingLimit) {
                closeSurplus();
            }
            room = (find(id) != 0 || add(id)) && (sp != limit || growStack());
        } finally {
            done();
        }
        if (!room) {
            stop();
            drop();
        } else if (enter(id, pendingBit) && pendingBit != 0) {
            pending++;
        }
    }

    /** Exit and unwind. */
    void closeSlowly(int id, int column) {
        if (!begin()) {
            return;
        }
        try {
            int at = sp - 1;
            while (at >= bottom && (int) (words.get(at) >>> 32) != id + 1) {
                at--;
            }
            if (at < bottom) {
                stray(id);
            } else {
                closeAbove(at);
                close(column);
            }
        } finally {
            done();
        }
    }

    void superReturnedSlowly(int id) {
        if (!begin()) {
            return;
        }
        try {
            int at = sp - 1;
            while (at >= bottom && (int) (words.get(at) >>> 32) != (id + 1 | 0x80000000)) {
                at--;
            }
            if (at < bottom) {
                stray(id);
            } else {
                closeAbove(at);
                words.put(at, words.get(at) & ~Format.PENDING);
                pending--;
            }
        } finally {
            done();
        }
    }

    void caughtSlowly(int id) {
        if (!begin()) {
            return;
        }
        try {
            int at = sp - 1;
            while (at >= bottom && Format.idPlusOne(words.get(at)) != id + 1) {
                at--;
            }
            if (at < bottom) {
                stray(id);
            } else {
                closeAbove(at);
            }
        } finally {
            done();
        }
    }

    private void closeAbove(int at) {
        while (sp - 1 > at) {
            close(words.get(sp - 1) < 0 ? Format.ORPHANS : Format.LOST);
        }
    }

    /** Closes the topmost frame. */
    private void close(int column) {
        int top = sp - 1;
        long frame = words.get(top);
        count(frame, column);
        words.put(top, 0);
        sp = top;
        if (frame < 0) {
            pending--;
        }
    }

    private void count(long frame, int column) {
        int at = (int) frame + column;
        words.put(at, words.get(at) + 1);
    }

    private void stray(int id) {
        if (find(id) != 0 || add(id)) {
            count(find(id), Format.STRAY);
        } else {
            stop();
            drop();
        }
    }

    /**
     * Where nobody instrumented lies beneath, nothing closes the frames of constructors whose super() failed. The thread's
     * real constructor frames bound the live ones; the surplus, oldest first, is orphaned. The next count is due when
     * twice as many are pending as are left now.
     */
    private void closeSurplus() {
        int real = constructorsOnStack();
        // The constructor that is being entered is real already, but not yet on the shadow stack.
        int surplus = real < 0 ? 0 : pending - (real - 1);
        if (surplus > 0) {
            flag(Format.REPAIRING, true);
            int to = bottom;
            for (int from = bottom; from < sp; from++) {
                long frame = words.get(from);
                if (frame < 0 && surplus > 0) {
                    count(frame, Format.ORPHANS);
                    surplus--;
                    pending--;
                } else {
                    words.put(to++, frame);
                }
            }
            while (sp > to) {
                words.put(--sp, 0);
            }
            flag(Format.REPAIRING, false);
        }
        pendingLimit = Math.max(PENDING_LIMIT, 2 * pending);
    }

    /** Real frames of constructors; -1 if the trace may have been cut. */
    private static int constructorsOnStack() {
        StackTraceElement[] trace = new Throwable().getStackTrace();
        // -XX:MaxJavaStackTraceDepth is 1024 unless set; an empty trace means that there are none.
        if (trace.length == 0 || trace.length >= 1024) {
            return -1;
        }
        int constructors = 0;
        for (int i = 0; i < trace.length; i++) {
            if ("<init>".equals(trace[i].getMethodName())) {
                constructors++;
            }
        }
        return constructors;
    }

    // ---- records ----

    /** The id's frame, or 0. */
    private long find(int id) {
        long[] map = this.map;
        for (int i = id;; i++) {
            long frame = map[i & map.length - 1];
            if (frame == 0 || (int) (frame >>> 32) == id + 1) {
                return frame;
            }
        }
    }

    /** A record for an id that has none; false: there is no room. */
    private boolean add(int id) {
        int used = (recordsEnd - limit) / Format.RECORD_WORDS;
        if (recordsEnd == recordsLimit && !grow(limit - bottom, 2 * used)) {
            return false;
        }
        if (2 * (used + 1) > map.length) {
            long[] larger = new long[2 * map.length];
            for (int i = 0; i < map.length; i++) {
                if (map[i] != 0) {
                    insert(larger, map[i]);
                }
            }
            map = larger;
        }
        int at = recordsEnd;
        words.put(at, id + 1);
        insert(map, (long) (id + 1) << 32 | at);
        recordsEnd = at + Format.RECORD_WORDS;
        return true;
    }

    private static void insert(long[] map, long frame) {
        int i = (int) (frame >>> 32) - 1 & map.length - 1;
        while (map[i] != 0) {
            i = i + 1 & map.length - 1;
        }
        map[i] = frame;
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
        larger.publish(Format.COUNTS, ordinal);
        Region old = counts;
        header.put(Format.COUNTS_AT, larger.fileOffset);
        int depth = sp - bottom;
        counts = larger;
        map = movedMap;
        words = larger.words;
        bottom = first;
        sp = first + depth;
        limit = first + stackWords;
        recordsEnd = limit + used;
        recordsLimit = larger.base + (larger.length >> 3);
        Threads.file.release(old);
        return true;
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

    // ---- allocations ----

    /** Counts one object of a class under the method on top of the shadow stack. */
    void allocated(Class<?> type) {
        if (mode != RECORDING) {
            if (!begin()) {
                return;
            }
            done();
        }
        long key = (long) Format.idPlusOne(words.get(sp - 1)) << 32 | ClassNames.number(type);
        int at = allocation(key);
        if (at == 0) {
            mode = BUSY;
            try {
                at = addAllocation(key);
            } finally {
                done();
            }
            if (at == 0) {
                stop();
                drop();
                return;
            }
        }
        allocations.put(at + 1, allocations.get(at + 1) + 1);
        if (missed != 0) {
            dropped += missed;
            missed = 0;
            header.put(Format.THREAD_DROPPED, dropped);
        }
    }

    private static int hash(long key) {
        long h = key * 0x9E3779B97F4A7C15L;
        return (int) (h >>> 32);
    }

    /** Offset of the record of a key in the allocations region, in words; 0: there is none. */
    private int allocation(long key) {
        long[] keys = allocationKeys;
        if (keys != null) {
            for (int i = hash(key);; i++) {
                long found = keys[i & keys.length - 1];
                if (found == key) {
                    return allocationAt[i & keys.length - 1];
                }
                if (found == 0) {
                    break;
                }
            }
        }
        return 0;
    }

    private int addAllocation(long key) {
        int at = Format.HEADER_WORDS + 2 * allocationsUsed;
        if (allocations == null) {
            Region region = Threads.file.allocate(FIRST_ALLOCATIONS);
            if (region == null) {
                return 0;
            }
            region.publish(Format.ALLOCATIONS, ordinal);
            header.put(Format.ALLOCATIONS_AT, region.fileOffset);
            allocations = region;
        } else if (at + 2 > allocations.length >> 3) {
            Region old = allocations;
            Region larger = old.length > 1 << 29 ? null : Threads.file.allocate(old.length * 2);
            if (larger == null) {
                return 0;
            }
            for (int i = 2, end = old.length >> 3; i < end; i++) {
                larger.put(i, old.get(i));
            }
            larger.publish(Format.ALLOCATIONS, ordinal);
            header.put(Format.ALLOCATIONS_AT, larger.fileOffset);
            allocations = larger;
            Threads.file.release(old);
        }
        long[] keys = allocationKeys;
        if (keys == null || 2 * (allocationsUsed + 1) > keys.length) {
            long[] larger = new long[keys == null ? 32 : 2 * keys.length];
            int[] places = new int[larger.length];
            for (int i = 0; keys != null && i < keys.length; i++) {
                if (keys[i] != 0) {
                    insert(larger, places, keys[i], allocationAt[i]);
                }
            }
            allocationKeys = larger;
            allocationAt = places;
        }
        allocations.put(at, key);
        insert(allocationKeys, allocationAt, key, at);
        allocationsUsed++;
        return at;
    }

    private static void insert(long[] keys, int[] places, long key, int at) {
        int i = hash(key) & keys.length - 1;
        while (keys[i] != 0) {
            i = i + 1 & keys.length - 1;
        }
        keys[i] = key;
        places[i] = at;
    }

    // ---- life ----

    /** Takes the thread's regions; false: there is no room. */
    boolean allocateRegions(int kind) {
        ProfileFile file = Threads.file;
        Region newHeader = file.allocate(Format.THREAD_LENGTH);
        Region newCounts = newHeader == null ? null : countsRegion(FIRST_STACK, FIRST_RECORDS);
        if (newCounts == null) {
            return false;
        }
        long[] newMap = new long[32];
        newCounts.publish(Format.COUNTS, ordinal);
        newHeader.put(Format.COUNTS_AT, newCounts.fileOffset);
        newHeader.publish(kind, ordinal);
        map = newMap;
        counts = newCounts;
        words = newCounts.words;
        bottom = newCounts.base + Format.HEADER_WORDS;
        sp = bottom;
        limit = bottom + FIRST_STACK;
        recordsEnd = limit;
        recordsLimit = newCounts.base + (newCounts.length >> 3);
        header = newHeader;
        return true;
    }

    /** Runs every path once, on regions that no reader sees, and gives them back. */
    void exercise() {
        mode = RECORDING;
        for (int id = 0; id < 100; id++) {
            enterSlowly(id, id == 0 ? 0 : Format.PENDING);
        }
        superReturnedSlowly(98);
        caughtSlowly(97);
        superReturned(97);
        close(97, Format.EXITS);
        closeSlowly(0, Format.UNWINDS);
        closeSlowly(0, Format.UNWINDS);
        allocated(Object.class);
        mode = STOPPED;
        Threads.file.release(header);
        Threads.file.release(counts);
        if (allocations != null) {
            Threads.file.release(allocations);
        }
    }

    private void flag(long bit, boolean on) {
        long flags = header.get(Format.THREAD_FLAGS);
        header.put(Format.THREAD_FLAGS, on ? flags | bit : flags & ~bit);
    }

    /** Ends the recording of this thread; what comes is counted as dropped. */
    void stop() {
        mode = STOPPED;
        if (header != null) {
            flag(Format.STOPPED, true);
        }
    }

    void drop() {
        if (header != null) {
            header.put(Format.THREAD_DROPPED, ++dropped);
        } else if (Threads.file != null) {
            Threads.file.drop();
        }
    }

    // ---- folding: moving an ended thread's figures into the accumulator ----

    /** False: there was no room; then the rest stays where it is. */
    boolean foldInto(ThreadState sum) {
        flag(Format.FOLDING, true);
        while (sp > bottom) {
            long frame = words.get(sp - 1);
            int to = sum.recordOf(Format.idPlusOne(frame) - 1);
            if (to == 0) {
                return false;
            }
            sum.move(sum.counts, to + Format.OPEN - sum.counts.base, 1, counts, sp - 1 - counts.base);
            sp--;
        }
        for (int at = limit; at < recordsEnd; at += Format.RECORD_WORDS) {
            int to = sum.recordOf((int) words.get(at) - 1);
            if (to == 0) {
                return false;
            }
            for (int column = Format.ENTRIES; column <= Format.OPEN; column++) {
                int target = to + column - sum.counts.base;
                sum.move(sum.counts, target, words.get(at + column), counts, at + column - counts.base);
            }
        }
        for (int i = 0; i < allocationsUsed; i++) {
            int at = Format.HEADER_WORDS + 2 * i;
            long key = allocations.get(at);
            int to = sum.allocation(key);
            if (to == 0) {
                to = sum.addAllocation(key);
            }
            if (to == 0) {
                return false;
            }
            sum.move(sum.allocations, to + 1, allocations.get(at + 1), allocations, at + 1);
        }
        sum.move(sum.header, Format.THREAD_DROPPED, dropped, header, Format.THREAD_DROPPED);
        sum.header.put(Format.THREAD_EXTRA, sum.header.get(Format.THREAD_EXTRA) + 1);
        ProfileFile file = Threads.file;
        file.release(header);
        file.release(counts);
        if (allocations != null) {
            file.release(allocations);
        }
        return true;
    }

    private int recordOf(int id) {
        long frame = find(id);
        if (frame == 0) {
            frame = add(id) ? find(id) : 0;
        }
        return (int) frame;
    }

    /** Adds a figure here and clears it there. A reader that finds the journal valid finishes the move. */
    private void move(Region target, int targetWord, long figure, Region source, int sourceWord) {
        if (figure == 0) {
            return;
        }
        long sum = target.get(targetWord) + figure;
        header.put(Format.JOURNAL_TARGET, target.fileOffset + 8L * targetWord);
        header.put(Format.JOURNAL_VALUE, sum);
        header.put(Format.JOURNAL_SOURCE, source.fileOffset + 8L * sourceWord);
        header.put(Format.JOURNAL_VALID, 1);
        target.put(targetWord, sum);
        source.put(sourceWord, 0);
        header.put(Format.JOURNAL_VALID, 0);
    }
}
