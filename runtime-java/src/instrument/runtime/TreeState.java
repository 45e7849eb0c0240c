package instrument.runtime;

/**
 * Records a calling context tree: shadow stack and nodes, both in the mapped file. A frame is two words, the second one
 * the clock at its entry; the lower half of the first is the number of its node. The stack is a path in the tree, so a
 * node has one open frame at most: a call that is open is the node's latest. Stack and nodes are in one mapping.
 *
 * <p>The node of an entry is guessed: what followed the event before it the last time, in the same context, or what did so before. If both are wrong it is found by a
 * hash of (caller, id). The first word of the node, whose cache line is needed anyway, verifies it. An entry reads the clock last and an exit reads it first, so that little of the recorder is inside.
 *
 * <p>Past the limits of depth and of contexts calls are counted per method, under the one deeper node, and not timed. {@link #limit} is the place on the stack from which on that may be so.
 */
final class TreeState extends ThreadState {
    /** Bytes of the first region of a stack. */
    private static final int FIRST_STACK = 512;
    /** Words behind the stack's last frame that may be read: where the next one would be. */
    private static final int SPARE = 2;

    /** No index is larger. Tells the compiler that none is negative. */
    private static final int INDEX = (1 << 28) - 1;

    // Constants to the compiler: the classes of the runtime are set up after the settings were read.
    private static final boolean SAMPLED = Threads.settings.sampled != 1;
    private static final boolean SAMPLES = Threads.settings.samples;
    private static final boolean CPU = Threads.settings.cpu && CpuClock.start();

    /** Calls of a context that are all timed, if not all are; 0: this thread is on trial. */
    private int head = Format.HEAD;
    /** On average one call in so many is timed; 0: see {@link Sampling}. */
    private int period = Threads.settings.sampled;

    /** The mapping that holds stack, nodes and samples. */
    private Words words;
    // Indexes in it. The two words below the first frame are 0.
    private int bottom;
    private int sp;
    /** Frames below this place are not for the fast paths to close. */
    private int floor;
    /** How many these are. */
    private int covered = roots == null ? 0 : 1;
    /** Number of the topmost frame's node: what an entry needs first. */
    private int current;
    /** Number of the node that the next entry is probably of; 0: no idea. */
    private int guess;
    /** Index of the word that it was read from; 0: nowhere. */
    private int guessAt;
    /** Place of the word that tells the sampler where this thread is: see {@link Samples}. Not an index: a probe says as early as it can that it runs. */
    private long mark;
    /** From here on a frame is not for the fast path. */
    private int limit;
    /** End of the stack. */
    private int stackEnd;

    /** It is of ended threads: it has estimates. */
    private boolean sums;

    /** The stack. */
    Region tree;
    TreeNodes nodes;
    /** What samples met in no context; null: times do not come from samples. */
    Region samples;
    /** What {@link Sampler} knows of it; null: it does not look here. */
    private Sampled sampled;
    private TreeContexts contexts;
    /** The lowest frame on the stack that is counted under the deeper node; {@code Integer.MAX_VALUE}: none. */
    private int lowestDeeper = Integer.MAX_VALUE;
    /** Number of the deeper node; 0: there is none yet. */
    int deeper;
    /** What {@link #reserve} has found: the node is under the deeper one. */
    private int reservedDeeper;
    /** The clock when the event arrived that is handled slowly. */
    private long now;
    private long cpuNow;
    /** CPU time at the last event. */
    private long cpuLast;
    /** What {@link #revive} needs of each frame: both words, its CPU time, the words of its node that its end changes. */
    private long[] undo = new long[0];
    /** False: CPU time of this thread is not measured, as of virtual ones. */
    private boolean measured = true;
    /** Of the open frames. */
    private long[] cpuStarts = CPU ? new long[FIRST_STACK / 16] : null;

    final Allocations allocations = new Allocations(Format.TREE_ALLOCATIONS, Format.TREE_ALLOCATION_WORDS);

    private TreeState(Thread owner) {
        super(owner);
    }

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static ThreadState create(Thread owner) {
        return new TreeState(owner);
    }

    /** Another recording begins. Its settings may differ from those of this one, but not in what is a constant here. */
    static void renew() {
        if (SAMPLED) {
            Sampling.renew();
        }
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
        Words words = this.words;
        if (SAMPLES) {
            Words.put(words, mark, current | Samples.PROBE);
        }
        int top = sp & INDEX;
        if (top >= limit) {
            return enterPast(id, pendingBit, null);
        }
        long key = (long) current << 32 | id + 1;
        int node = guess;
        int at = node << Format.LOG_UNIT_WORDS & INDEX;
        if (words.get(at) != key) {
            node = follower(key);
            if (node == 0) {
                return enterPast(id, pendingBit, null);
            }
            at = node << Format.LOG_UNIT_WORDS & INDEX;
        }
        words.put(top, (long) (id + 1) << 32 | node | pendingBit);
        long entries = words.get(at + Format.ENTRIES);
        words.put(at + Format.ENTRIES, entries + 1);
        sp = top + 2;
        current = node;
        if (CPU) {
            cpuStarts[top - bottom >> 1] = cpuLast = cpuClock();
        }
        long next = words.get(at + Format.NODE_NEXT);
        entered(at, next);
        words.put(top + 1, SAMPLES || SAMPLED && Sampling.skips(entries, next) ? 0 : Clock.now());
        if (SAMPLES) {
            Words.put(words, mark, node);
        }
        return true;
    }

    @Override
    boolean enterLibrary(int id) {
        if (!enter(id, 0)) {
            return false;
        }
        if (SAMPLES) {
            // It may wait.
            words.put(sp - 1, Clock.now());
        }
        return true;
    }

    @Override
    void endOfProbe() {
        if (SAMPLES && samples != null) {
            Words.put(words, mark, mode == STOPPED ? Samples.LOST : current);
        }
    }

    // What follows an event in the same context mostly is what followed it the last time, or what did so before that: the call that a method makes first,
    // or the next one of its caller. Each node has room for these four.

    /** The topmost frame is a new one, of the node at this place, whose word NODE_NEXT is given. */
    private void entered(int at, long next) {
        guess = (int) (next >>> Format.LATEST) & Format.NODE_MASK;
        guessAt = at + Format.NODE_NEXT;
    }

    /** A frame of the node at this place has gone. */
    private void left(int at) {
        guess = (int) (words.get(at + Format.NODE_FOLLOWERS) >>> Format.LATEST) & Format.NODE_MASK;
        guessAt = at + Format.NODE_FOLLOWERS;
    }

    /** The node of a key that was not guessed, or 0; the next guess will be it. */
    private int follower(long key) {
        int at = guessAt;
        if (at == 0) {
            return nodes.find(key);
        }
        long word = words.get(at);
        int node = (int) (word >>> Format.EARLIER);
        if (words.get(TreeNodes.place(node)) != key) {
            node = nodes.find(key);
            if (node == 0) {
                return 0;
            }
        }
        words.put(at, word & Format.CALL_MASK | (long) node << Format.LATEST | word >>> Format.LATEST << Format.EARLIER);
        return node;
    }

    /**
     * A call past the limits of depth and of contexts, if its method has been met there before. It is one if a call beneath it is, or if it is too deep, or if its
     * context is not known and there is no room for more.
     */
    private boolean enterPast(int id, long pendingBit, NotInlined none) {
        int top = sp;
        if (top >= stackEnd || deeper == 0 || doubted != 0) {
            return false;
        }
        if (lowestDeeper >= top && depth() < Threads.settings.depth) {
            if (nodes.find(TreeNodes.key(current, id + 1)) != 0) {
                lowestDeeper = Integer.MAX_VALUE;
                limitTo(lowestDeeper);
                return enter(id, pendingBit);
            }
            if (nodes.count() < Threads.settings.contexts) {
                return false;
            }
        }
        int node = nodes.find(TreeNodes.key(deeper, id + 1));
        if (node == 0) {
            return false;
        }
        lowestDeeper = Math.min(lowestDeeper, top);
        limitTo(lowestDeeper);
        open(node, id + 1, pendingBit, true);
        return true;
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
        if (!close(id, Format.UNWINDS)) {
            return false;
        }
        if (words.get(sp - 2 & INDEX) < 0) {
            thrown();
        }
        return true;
    }

    private boolean close(int id, int column) {
        if (mode != Gate.recording()) {
            return false;
        }
        long now = SAMPLED || SAMPLES ? 0 : Clock.now();
        Words words = this.words;
        if (SAMPLES) {
            Words.put(words, mark, current | Samples.PROBE);
        }
        int top = sp - 2 & INDEX;
        long frame = words.get(top);
        if ((int) (frame >>> 32) != id + 1 || top < floor) {
            return false;
        }
        int at = (int) frame << Format.LOG_UNIT_WORDS & INDEX;
        long start = words.get(top + 1);
        if (start != 0) {
            if (SAMPLED || SAMPLES) {
                return closeTimed(column, null);
            }
            time(words, at, now - start, 0);
            words.put(top + 1, now);
        }
        if (CPU) {
            cpuLast = cpuClock();
            words.put(at + Format.NODE_CPU, words.get(at + Format.NODE_CPU) + cpuLast - cpuStarts[top - bottom >> 1]);
        }
        left(at);
        at += Format.nodeColumn(column);
        words.put(at, words.get(at) + 1);
        words.put(top, 0);
        sp = top;
        int below = (int) words.get(top - 2 & INDEX);
        current = below;
        if (SAMPLES) {
            Words.put(words, mark, below);
        }
        return true;
    }

    /** One in many: kept out of the way of the others. */
    private boolean closeTimed(int column, NotInlined none) {
        now = Clock.now();
        cpuNow = CPU ? cpuClock() : 0;
        cpuLast = cpuNow;
        closeTop(column);
        return true;
    }

    private void time(Words words, int at, long measured, int idPlusOne) {
        // Some processors' clocks differ by a little.
        long ns = Math.max(0, measured);
        if (SAMPLED) {
            Sampling.add(words, at, ns, idPlusOne, head, period);
            return;
        }
        words.put(at + Format.NODE_NS, words.get(at + Format.NODE_NS) + ns);
        if (SAMPLES) {
            words.put(at + Format.SAMPLES_TIMED, words.get(at + Format.SAMPLES_TIMED) + 1);
        }
        if (ns < words.get(at + Format.NODE_MIN)) {
            words.put(at + Format.NODE_MIN, ns);
        }
        if (ns > words.get(at + Format.NODE_MAX)) {
            words.put(at + Format.NODE_MAX, ns);
        }
        add(words, at + Format.NODE_SQUARES, (double) ns * ns);
    }

    private static void add(Words words, int at, double summand) {
        words.put(at, Double.doubleToRawLongBits(Double.longBitsToDouble(words.get(at)) + summand));
    }

    private long cpuClock() {
        return measured ? CpuClock.now() : 0;
    }

    @Override
    boolean superReturned(int id) {
        if (mode != Gate.recording() || sp <= floor) {
            return false;
        }
        long frame = words.get(sp - 2);
        if ((int) (frame >>> 32) != (id + 1 | 0x80000000)) {
            return false;
        }
        words.put(sp - 2, frame & ~Format.PENDING);
        pending--;
        return true;
    }

    @Override
    boolean caught(int id) {
        return mode == Gate.recording() && sp > floor && Format.idPlusOne(words.get(sp - 2)) == id + 1;
    }

    @Override
    boolean executed(int upper, long count) {
        int top = sp - 2;
        if (mode != Gate.recording() || top < floor || (int) (words.get(top) >>> 32) != upper) {
            return false;
        }
        return bytecodes.add(current, count);
    }

    // ---- for the slow paths ----

    @Override
    int consumerOf(long frame) {
        return (int) frame;
    }

    @Override
    int depth() {
        return sp - bottom >> 1;
    }

    @Override
    long frame(int index) {
        return words.get(bottom + 2 * index);
    }

    @Override
    void setFrame(int index, long frame) {
        words.put(bottom + 2 * index, frame);
    }

    @Override
    boolean arrived(long eventKind, int number) {
        now = Clock.now();
        long out = notRecorded(paused(now));
        if (CPU) {
            cpuNow = cpuClock();
            cpuNow -= cpuOf(out);
            cpuLast = cpuNow;
        }
        now -= out;
        return true;
    }

    // ---- pauses ----

    @Override
    void cover(int frames) {
        covered = frames;
        floor = bottom + 2 * frames;
    }

    @Override
    void takeOut(long ns) {
        now = Clock.now();
        long out = notRecorded(ns);
        long cpuOut = 0;
        if (CPU) {
            cpuNow = cpuClock();
            cpuOut = cpuOf(out);
        }
        for (int at = bottom + 1; at < sp; at += 2) {
            if (words.get(at) != 0) {
                words.put(at, words.get(at) + out);
            }
            if (CPU) {
                cpuStarts[at - bottom >> 1] += cpuOut;
            }
        }
        pause(out);
    }

    /** What of so many ns of pauses can be since the last event: that may have come when the pause had just begun. */
    private long notRecorded(long ns) {
        return Math.max(0, Math.min(ns, now - lastClock()));
    }

    /** The clock at the last event, if it was timed. */
    private long lastClock() {
        return Math.max(words.get(sp - 1), words.get(sp + 1));
    }

    /** The share that so many ns since the last event have in the CPU time since then. */
    private long cpuOf(long ns) {
        long since = now - lastClock();
        return since <= 0 ? 0 : (long) ((double) (cpuNow - cpuLast) * ns / since);
    }

    @Override
    void closeTop(int column) {
        int top = sp - 2;
        long frame = words.get(top);
        long start = words.get(top + 1);
        end((int) frame, start, top, column);
        left(TreeNodes.place((int) frame));
        words.put(top, 0);
        if (start != 0) {
            words.put(top + 1, now);
        }
        sp = top;
        current = (int) words.get(top - 2);
        endOfProbe();
        if (frame < 0) {
            pending--;
        }
    }

    /** Counts and times the end of the call of the frame at this place. Start 0: it is not timed. */
    private void end(int node, long start, int frame, int column) {
        int at = TreeNodes.place(node);
        if (start != 0) {
            // A call that is not timed does not tell when it began: a pause may have begun just before.
            // A trial tells nothing of methods.
            time(words, at, Math.max(0, now - start), onTrial ? 0 : Format.idPlusOne(words.get(frame)));
        }
        if (CPU) {
            words.put(at + Format.NODE_CPU, words.get(at + Format.NODE_CPU) + Math.max(0, cpuNow - cpuStarts[frame - bottom >> 1]));
        }
        at += Format.nodeColumn(column);
        words.put(at, words.get(at) + 1);
    }

    @Override
    void mend() {
        if (mode != Gate.recording()) {
            return;
        }
        long entered = sp < stackEnd ? words.get(sp) : 0;
        if (entered != 0) {
            // An entry: its frame was not on the stack yet.
            words.put(sp, 0);
            balance((int) entered);
        }
        if (sp > bottom && words.get(sp - 2) == 0) {
            // An end, which is counted.
            sp -= 2;
        } else if (sp > bottom) {
            balance((int) words.get(sp - 2));
        }
        current = (int) words.get(sp - 2);
        pending = 0;
        for (int at = bottom; at < sp; at += 2) {
            pending += words.get(at) < 0 ? 1 : 0;
        }
    }

    /** Calls of a node that have ended, in whatever way. */
    long closed(int node) {
        int at = TreeNodes.place(node);
        long closed = words.get(at + Format.EXITS);
        for (int column = Format.UNWINDS; column < Format.UNCLOSED; column++) {
            closed += words.get(at + Format.nodeColumn(column));
        }
        return closed + (words.get(at + Format.nodeColumn(Format.UNCLOSED)) & Format.NODE_UNMATCHED - 1);
    }

    /** A call that was counted and has no frame is unclosed; the topmost frame goes if its end was counted. */
    private void balance(int node) {
        int at = TreeNodes.place(node);
        long more = words.get(at + Format.ENTRIES) - closed(node);
        for (int frame = bottom; frame < sp; frame += 2) {
            more -= (int) words.get(frame) == node ? 1 : 0;
        }
        if (more > 0) {
            int unclosed = at + Format.nodeColumn(Format.UNCLOSED);
            words.put(unclosed, words.get(unclosed) + more);
        } else if (more < 0 && sp > bottom && (int) words.get(sp - 2) == node) {
            words.put(sp - 2, 0);
            sp -= 2;
        }
    }

    @Override
    boolean unmatched(int id) {
        if (!reserve(id)) {
            return false;
        }
        int node = reservedDeeper != 0 ? reservedDeeper : nodes.find(TreeNodes.key(contextNode(), id + 1));
        int at = TreeNodes.place(node) + Format.nodeColumn(Format.UNCLOSED);
        words.put(at, words.get(at) + Format.NODE_UNMATCHED);
        return true;
    }

    /**
     * When they failed is not known, but that it was before what is above them began. Calls of what is above go on in other contexts, under the callers that they have.
     */
    @Override
    void remove(boolean[] gone) {
        int to = bottom;
        boolean above = false;
        int end = sp;
        for (int from = bottom; from < end; from += 2) {
            long frame = words.get(from);
            boolean aborted = gone[from - bottom >> 1];
            above = aborted || above && muted.isEmpty() && LibraryCalls.isFrame(frame);
            if (above) {
                now = startAbove(from, end);
                cpuNow = CPU && from + 2 < end ? cpuStarts[from + 2 - bottom >> 1] : 0;
                end((int) frame, words.get(from + 1) == 0 || now == 0 ? 0 : words.get(from + 1), from, aborted ? Format.ABORTED : Format.UNWINDS);
                pending -= aborted ? 1 : 0;
            } else {
                words.put(to + 1, words.get(from + 1));
                words.put(to, from == to ? frame : frame & 0xffffffffL << 32 | moved((int) words.get(to - 2), (int) frame));
                if (CPU) {
                    cpuStarts[to - bottom >> 1] = cpuStarts[from - bottom >> 1];
                }
                to += 2;
            }
        }
        while (sp > to) {
            sp -= 2;
            words.put(sp, 0);
        }
        current = (int) words.get(sp - 2);
        forget();
        endOfProbe();
    }

    /** When the frame above this one began, or the first above that has a time; 0: none has. */
    private long startAbove(int at, int end) {
        long start = 0;
        for (int above = at + 2; start == 0 && above < end; above += 2) {
            start = words.get(above + 1);
        }
        return start;
    }

    /** A call that is open in a node goes on in that of the same method under another caller, whose number this is. */
    private int moved(int caller, int node) {
        long key = TreeNodes.key(caller, nodes.consumerOf(node));
        if (isDeeper(node) || nodes.callerOf(node) == caller) {
            return node;
        }
        boolean room = nodes.find(key) != 0 || nodes.count() < Threads.settings.contexts;
        int other = room ? node(key) : 0;
        if (other == 0) {
            return node;
        }
        int at = TreeNodes.place(other) + Format.ENTRIES;
        words.put(at, words.get(at) + 1);
        at = TreeNodes.place(node) + Format.ENTRIES;
        words.put(at, words.get(at) - 1);
        return other;
    }

    /** What follows is not known. */
    private void forget() {
        guess = 0;
        guessAt = 0;
    }

    @Override
    void closeGone(int frames) {
        // At the latest when the last call above them ended.
        now = lastClock();
        cpuNow = cpuLast;
        for (int i = 0; i < frames; i++) {
            closeTop(Format.ABORTED);
        }
        forget();
    }

    @Override
    boolean isNew(int id) {
        return nodes.find(TreeNodes.key(current, id + 1)) == 0;
    }

    // The words of a node from here on are what the end of a call changes, but for the followers, which are a guess, and the samples, which others write.
    private static final int UNDO_FROM = 2;
    private static final int UNDO = 3 + Format.NODE_WORDS - UNDO_FROM;

    @Override
    boolean abort(int frames) {
        arrived(0, 0);
        if (undo.length < frames * UNDO) {
            undo = new long[frames * UNDO];
        }
        for (int i = frames - 1; i >= 0; i--) {
            int top = sp - 2;
            undo[i * UNDO] = words.get(top);
            undo[i * UNDO + 1] = words.get(top + 1);
            undo[i * UNDO + 2] = CPU ? cpuStarts[top - bottom >> 1] : 0;
            for (int word = UNDO_FROM; word < Format.NODE_WORDS; word++) {
                undo[i * UNDO + 3 + word - UNDO_FROM] = words.get(TreeNodes.place((int) words.get(top)) + word);
            }
            closeTop(Format.ABORTED);
        }
        return true;
    }

    @Override
    void revive(boolean[] alive) {
        for (int i = 0; i < doubted; i++) {
            if (!alive[i]) {
                continue;
            }
            long frame = undo[i * UNDO];
            int at = TreeNodes.place((int) frame);
            for (int word = UNDO_FROM; word < Format.NODE_WORDS; word++) {
                if (word != Format.NODE_FOLLOWERS && !(SAMPLES && word == Format.NODE_SAMPLES)) {
                    words.put(at + word, undo[i * UNDO + 3 + word - UNDO_FROM]);
                }
            }
            int node = moved(current, (int) frame);
            words.put(sp, frame & 0xffffffffL << 32 | node);
            words.put(sp + 1, undo[i * UNDO + 1]);
            if (CPU) {
                cpuStarts[sp - bottom >> 1] = undo[i * UNDO + 2];
            }
            sp += 2;
            current = node;
            pending++;
        }
        forget();
        endOfProbe();
    }

    @Override
    void hold(boolean on) {
        limitTo(lowestDeeper);
        if (on) {
            limit = sp;
            floor = sp;
        }
    }

    @Override
    boolean allocate(Object object) {
        return allocations.count(this, object, contextNode());
    }

    @Override
    boolean allocateAgain(Object object) {
        return mode == Gate.recording() && missed == 0 && allocations.countAgain(object, current);
    }

    @Override
    boolean pushLink(int link) {
        if (!reserveKey(contextNode(), Format.LINK | link)) {
            return false;
        }
        push(Format.LINK | link, Format.LINK_FRAME, 0);
        return true;
    }

    @Override
    boolean isLink(long frame, int link) {
        return (int) (frame >>> 32) == Format.LINK_FRAME && nodes.consumerOf((int) frame) == (Format.LINK | link);
    }

    @Override
    int contextNode() {
        return current;
    }

    @Override
    int context() {
        return current == 0 ? 0 : contexts.of(current);
    }

    @Override
    Chain newChain(int node) {
        return contexts.chain(node);
    }

    @Override
    void contextIs(int node, int context) {
        contexts.put(node, context);
    }

    // ---- entering the slow way ----

    @Override
    boolean reserve(int id) {
        return reserveKey(contextNode(), id + 1);
    }

    /** Room on the stack, and a node: of the context, or past the limits of the consumer under the deeper node. */
    private boolean reserveKey(int caller, int consumer) {
        int top = sp;
        if (lowestDeeper >= top) {
            lowestDeeper = Integer.MAX_VALUE;
        }
        if (top == stackEnd && !growStack()) {
            return false;
        }
        top = sp;
        reservedDeeper = 0;
        boolean past = lowestDeeper != Integer.MAX_VALUE || depth() >= Threads.settings.depth;
        if (!past && nodes.find(TreeNodes.key(caller, consumer)) == 0) {
            if (nodes.count() < Threads.settings.contexts) {
                return node(TreeNodes.key(caller, consumer)) != 0 && limitTo(Integer.MAX_VALUE);
            }
            past = true;
        }
        if (!past) {
            return limitTo(Integer.MAX_VALUE);
        }
        if (deeper == 0) {
            deeper = node(TreeNodes.key(0, Format.DEEPER));
        }
        reservedDeeper = deeper == 0 ? 0 : node(TreeNodes.key(deeper, consumer));
        if (reservedDeeper == 0) {
            return false;
        }
        lowestDeeper = Math.min(lowestDeeper, sp);
        return limitTo(lowestDeeper);
    }

    private boolean limitTo(int index) {
        limit = (int) Math.min(Math.min(index, stackEnd), bottom + 2L * Threads.settings.depth);
        return true;
    }

    @Override
    void enterReserved(int id, long pendingBit) {
        push(id + 1, id + 1, pendingBit);
    }

    private void push(int consumer, int idPlusOne, long pendingBit) {
        boolean untimed = reservedDeeper != 0;
        open(untimed ? reservedDeeper : nodes.find(TreeNodes.key(contextNode(), consumer)), idPlusOne, pendingBit, untimed);
    }

    /** A call of this node begins. */
    private void open(int node, int idPlusOne, long pendingBit, boolean untimed) {
        int top = sp;
        int at = TreeNodes.place(node);
        words.put(top, (long) idPlusOne << 32 | node | pendingBit);
        long entries = words.get(at + Format.ENTRIES);
        words.put(at + Format.ENTRIES, entries + 1);
        sp = top + 2;
        current = node;
        if (CPU) {
            cpuStarts[top - bottom >> 1] = cpuLast = cpuClock();
        }
        long next = words.get(at + Format.NODE_NEXT);
        entered(at, next);
        // Of calls that come this way hardly any is the first of a call that waits: LibraryCalls knows which.
        boolean timed = SAMPLES ? LibraryCalls.has(idPlusOne - 1) : !SAMPLED || !Sampling.skips(entries, next);
        words.put(top + 1, untimed || !timed ? 0 : Clock.now());
        endOfProbe();
    }

    // ---- nodes ----

    /** The number of a node that is made if there is none yet; 0: there is no room. */
    int node(long key) {
        int node = nodes.find(key);
        if (node != 0) {
            return node;
        }
        if (nodes.isFull() && !addPiece()) {
            return 0;
        }
        int at = TreeNodes.place(nodes.next());
        words.put(at + Format.NODE_MIN, Long.MAX_VALUE);
        long first = SAMPLED && head > 0 && period == Settings.AUTO && !sums ? Sampling.begin((int) key, at) : -1;
        if (first >= 0) {
            words.put(at + Format.NODE_NEXT, Sampling.next(0, first));
            words.put(at + Format.NODE_HEAD, -1);
        }
        return nodes.add(key);
    }

    /** The node for an ended thread's node, under the one that its caller became; 0: there is no room. */
    int merged(int caller, int consumer) {
        if (consumer == Format.DEEPER) {
            deeper = node(TreeNodes.key(0, Format.DEEPER));
            return deeper;
        }
        boolean past = isDeeper(caller) || nodes.count() >= Threads.settings.contexts && nodes.find(TreeNodes.key(caller, consumer)) == 0;
        if (!past || caller == deeper && deeper != 0) {
            return node(TreeNodes.key(caller, consumer));
        }
        if (deeper == 0) {
            deeper = node(TreeNodes.key(0, Format.DEEPER));
        }
        return deeper == 0 ? 0 : node(TreeNodes.key(deeper, consumer));
    }

    /** True for the nodes that have no times. */
    boolean isDeeper(int node) {
        return deeper != 0 && node != 0 && nodes.callerOf(node) == deeper;
    }

    // ---- regions ----

    /** Room for more nodes; false: there is none. The time it takes is taken out of open calls. */
    private boolean addPiece() {
        long began = Clock.now();
        boolean added = nodes.addPiece(tree, ordinal);
        takeOutOwn(Clock.now() - began);
        return added;
    }

    /** Moves the stack to a larger region; false: there is no room. The time it takes is taken out of open calls. */
    private boolean growStack() {
        long began = Clock.now();
        Region larger = tree.length > 1 << 29 ? null : Threads.file.allocate(words, 2 * tree.length);
        if (larger == null) {
            return false;
        }
        if (CPU) {
            cpuStarts = java.util.Arrays.copyOf(cpuStarts, larger.length / 16);
        }
        larger.put(Format.HEADER_WORDS, tree, Format.HEADER_WORDS, stackEnd - bottom);
        prepare(larger, tree.get(Format.TREE_FLAGS));
        larger.put(Format.TREE_NODES_AT, tree.get(Format.TREE_NODES_AT));
        larger.touch();
        larger.publish(Format.TREE, ordinal);
        header.put(Format.DATA_AT, larger.fileOffset);
        Region old = tree;
        if (lowestDeeper != Integer.MAX_VALUE) {
            lowestDeeper += larger.base - tree.base;
        }
        use(larger, sp - bottom);
        Threads.file.release(old);
        takeOutOwn(Clock.now() - began);
        return true;
    }

    /** The recorder took time for itself: it is no part of any open call. */
    private void takeOutOwn(long took) {
        for (int at = bottom + 1; at < sp; at += 2) {
            if (words.get(at) != 0) {
                words.put(at, words.get(at) + took);
            }
        }
        if (header != null) {
            pause(took);
        }
    }

    private static void prepare(Region stack, long flags) {
        stack.put(Format.STACK_WORDS, (stack.length >> 3) - Format.HEADER_WORDS);
        stack.put(Format.TREE_FLAGS, flags);
    }

    private void use(Region stack, int depth) {
        tree = stack;
        words = stack.words;
        bottom = stack.base + Format.HEADER_WORDS;
        sp = bottom + depth;
        cover(covered);
        stackEnd = stack.base + (stack.length >> 3) - SPARE;
        limitTo(lowestDeeper);
    }

    @Override
    boolean allocateRegions(int kind) {
        ProfileFile file = Threads.file;
        Region newHeader = file.allocate(Format.THREAD_LENGTH);
        Region newTree = newHeader == null ? null : file.allocate(FIRST_STACK);
        if (newTree == null) {
            return false;
        }
        sums = kind == Format.ENDED;
        measured = CPU && !sums && CpuClock.measures();
        // Times of ended threads are estimates already: see TreeFold.
        long sampled = !SAMPLED ? 0 : sums ? Format.ESTIMATED : Format.SAMPLED;
        prepare(newTree, Format.IN_PIECES | Format.FOLLOWERS | sampled | (CPU ? Format.CPU : 0) | (SAMPLES ? Format.SAMPLES : 0));
        use(newTree, 0);
        if (SAMPLES && !allocateSamples(kind)) {
            return false;
        }
        nodes = new TreeNodes(words);
        contexts = new TreeContexts(nodes);
        newTree.publish(Format.TREE, ordinal);
        newHeader.put(Format.DATA_AT, newTree.fileOffset);
        newHeader.publish(kind, ordinal);
        header = newHeader;
        return true;
    }

    private boolean allocateSamples(int kind) {
        samples = Threads.file.allocate(words, Format.SAMPLES_LENGTH);
        if (samples == null) {
            return false;
        }
        mark = words.place(samples.base + Format.MARK);
        // Not in the handler: a full disk ends the process that writes to a new page.
        samples.touch();
        if (kind != Format.FREE) {
            samples.publish(Format.THREAD_SAMPLES, ordinal);
        }
        return true;
    }

    @Override
    void attached() {
        if (SAMPLES) {
            sampled = Samples.begin(Thread.currentThread(), words, samples, isVirtual);
        }
    }

    /** From here on nobody writes samples. */
    private void endSamples() {
        if (sampled != null) {
            sampled.leave();
        }
    }

    @Override
    void releaseRegions() {
        if (SAMPLES) {
            endSamples();
            Threads.file.release(samples);
        }
        Threads.file.release(tree);
        nodes.release();
        allocations.release();
    }

    @Override
    boolean foldInto(ThreadState sum) {
        endSamples();
        return new TreeFold(this, (TreeState) sum).run();
    }

    /** Offset of a word of a node from the beginning of the stack's region, which may lie behind it. */
    int wordOf(int node, int word) {
        return TreeNodes.place(node) - tree.base + word;
    }

    @Override
    long charged() {
        return onTrial(Format.NODE_NS) + (SAMPLED ? onTrial(Format.NODE_HEAD) : 0);
    }

    @Override
    long chargedCpu() {
        return CPU ? onTrial(Format.NODE_CPU) : 0;
    }

    @Override
    long coveredCalls() {
        return SAMPLED ? onTrial(Format.NODE_COVERED) : 0;
    }

    /** Sum over the nodes of calls that calibration counts. */
    private long onTrial(int word) {
        long sum = 0;
        for (int node : nodes.numbers()) {
            if ((int) words.get(TreeNodes.place(node)) != CalibrationCalls.CALLER + 1) {
                sum += words.get(TreeNodes.place(node) + word);
            }
        }
        return sum;
    }

    @Override
    void timeAll(boolean all) {
        if (SAMPLED) {
            head = 0;
            period = all ? 1 : Sampling.RARE;
            for (int node : nodes.numbers()) {
                int at = TreeNodes.place(node);
                words.put(at + Format.NODE_NEXT, Sampling.next(words.get(at + Format.NODE_NEXT), words.get(at + Format.ENTRIES)));
            }
        }
    }
}
