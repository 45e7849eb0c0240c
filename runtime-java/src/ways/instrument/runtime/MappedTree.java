package instrument.runtime;

/**
 * The calling context tree of a thread, in the mapped file: shadow stack and nodes, in one mapping. A frame is two words, the second one
 * the clock at its entry; the lower half of the first is the number of its node. The stack is a path in the tree, so a
 * node has one open frame at most, unless there is no room for recursion (see {@link #folded}): a call that is open is the node's latest. What events do to it says {@link TreeState}.
 */
abstract class MappedTree extends ThreadState {
    /** Bytes of the first region of a stack. */
    static final int FIRST_STACK = 512;
    /** Words behind the stack's last frame that may be read: where the next one would be. */
    static final int SPARE = 2;

    // Constants to the compiler: the classes of the runtime are set up after the settings were read.
    static final boolean SAMPLED = Recording.settings.sampled != 1;
    static final boolean SAMPLES = Recording.settings.samples;
    static final boolean CPU = Recording.settings.cpu && CpuClock.start();
    /** From so many contexts on there is no room for recursion: see {@link #folded}. */
    private static final int CROWDED = Recording.settings.contexts - Recording.settings.contexts / 10;

    /** Calls of a context that are all timed, if not all are; 0: this thread is on trial. */
    int head = Format.HEAD;
    /** On average one call in so many is timed; 0: see {@link Sampling}. */
    int period = Recording.settings.sampled;

    /** The mapping that holds stack, nodes and samples. */
    Words words;
    // Indexes in it. The two words below the first frame are 0.
    int bottom;
    int sp;
    /** Frames below this place are not for the fast paths to close. */
    int floor;
    /** How many these are. */
    int covered = Recording.roots == null ? 0 : 1;
    /** Number of the topmost frame's node: what an entry needs first. */
    int current;
    /** Place of the word that tells the sampler where this thread is: see {@link Samples}. Not an index: a probe says as early as it can that it runs. */
    long mark;
    /** From here on a frame is not for the fast path. */
    int limit;
    /** End of the stack. */
    int stackEnd;

    /** It is of ended threads: it has estimates. */
    boolean sums;

    /** The stack. */
    Region tree;
    TreeNodes nodes;
    /** What samples met in no context; null: times do not come from samples. */
    Region samples;
    /** What {@link Sampler} knows of it; null: it does not look here. */
    Sampled sampled;
    TreeContexts contexts;
    /** Null: no context has its durations kept. */
    Durations durations;
    /** The lowest frame on the stack that is counted under the deeper node; {@code Integer.MAX_VALUE}: none. */
    int lowestDeeper = Integer.MAX_VALUE;
    /** Number of the deeper node; 0: there is none yet. */
    int deeper;
    /** What {@link #reserve} has found for a call that has no context of its own, and no time: a node under the deeper one, or one of {@link #folded}; 0: it has one. */
    int reserved;
    /** The clock when the event arrived that is handled slowly. */
    long now;
    long cpuNow;
    /** CPU time at the last event. */
    long cpuLast;
    /** False: CPU time of this thread is not measured, as of virtual ones. */
    boolean measured = true;
    /** Of the open frames. */
    long[] cpuStarts = CPU ? new long[FIRST_STACK / 16] : null;

    final Allocations allocations = new Allocations(Format.TREE_ALLOCATIONS, Format.TREE_ALLOCATION_WORDS);

    MappedTree(Thread owner) {
        super(owner);
    }

    @Override
    void endOfProbe() {
        if (SAMPLES && samples != null) {
            Memory.put(words, mark, mode == STOPPED ? Sampled.LOST : current);
        }
    }

    final void time(Words words, int at, long measured, int idPlusOne) {
        // Some processors' clocks differ by a little.
        long ns = Math.max(0, measured);
        if (SAMPLED) {
            Sampling.add(words, at, ns, idPlusOne, head, isKept(at) ? 1 : period);
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

    static void add(Words words, int at, double summand) {
        words.put(at, Double.doubleToRawLongBits(Double.longBitsToDouble(words.get(at)) + summand));
    }

    final long cpuClock() {
        return measured ? CpuClock.now() : 0;
    }

    // ---- frames ----

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
    void cover(int frames) {
        covered = frames;
        floor = bottom + 2 * frames;
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

    /** A call that was counted and has no frame is unclosed; the topmost frame goes if its end was counted. */
    final void balance(int node) {
        int at = TreeNodes.place(node);
        long more = words.get(at + Format.ENTRIES) - nodes.closed(node);
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
        int node = reserved != 0 ? reserved : nodes.find(TreeNodes.key(contextNode(), id + 1));
        int at = TreeNodes.place(node) + Format.nodeColumn(Format.UNCLOSED);
        words.put(at, words.get(at) + Format.NODE_UNMATCHED);
        return true;
    }

    /** When the frame above this one began, or the first above that has a time; 0: none has. */
    final long startAbove(int at, int end) {
        long start = 0;
        for (int above = at + 2; start == 0 && above < end; above += 2) {
            start = words.get(above + 1);
        }
        return start;
    }

    @Override
    void hold(boolean on) {
        limitTo(lowestDeeper);
        if (on) {
            limit = sp;
            floor = sp;
        }
    }

    // ---- pauses ----

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
    final long notRecorded(long ns) {
        return Math.max(0, Math.min(ns, now - lastClock()));
    }

    /** The clock at the last event, if it was timed. */
    final long lastClock() {
        return Math.max(words.get(sp - 1), words.get(sp + 1));
    }

    /** The share that so many ns since the last event have in the CPU time since then. */
    final long cpuOf(long ns) {
        long since = now - lastClock();
        return since <= 0 ? 0 : (long) ((double) (cpuNow - cpuLast) * ns / since);
    }

    /** Counts and times the end of the call of the frame at this place. Start 0: it is not timed. */
    final void end(int node, long start, int frame, int column) {
        int at = TreeNodes.place(node);
        if (start != 0) {
            // A call that is not timed does not tell when it began: a pause may have begun just before.
            // A trial tells nothing of methods.
            time(words, at, Math.max(0, now - start), onTrial ? 0 : Format.idPlusOne(words.get(frame)));
        }
        if (start != 0 && isKept(at)) {
            takeOutOwn(durations.ended(this, tree, node, Math.max(0, now - start), column, now));
        }
        if (CPU) {
            words.put(at + Format.NODE_CPU, words.get(at + Format.NODE_CPU) + Math.max(0, cpuNow - cpuStarts[frame - bottom >> 1]));
        }
        at += Format.nodeColumn(column);
        words.put(at, words.get(at) + 1);
    }

    @Override
    boolean isNew(int id) {
        return nodes.find(TreeNodes.key(current, id + 1)) == 0;
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

    final boolean limitTo(int index) {
        limit = (int) Math.min(Math.min(index, stackEnd), bottom + 2L * Recording.settings.depth);
        return true;
    }

    // ---- nodes ----

    /**
     * The key of the context that a call in a new one is counted in: where there is room for few more, as if recursion had none. Where calls are timed such a call is past the
     * limit, since of a context with two open calls the time of the inner one would count twice.
     */
    final long folded(int caller, int consumer) {
        if (nodes.count() < CROWDED || consumer <= 0 || LibraryCalls.has(consumer - 1) || Kept.threshold(consumer) != 0) {
            return TreeNodes.key(caller, consumer);
        }
        int outermost = nodes.outermost(caller);
        int same = nodes.nearest(outermost, consumer);
        return same != 0 ? nodes.keyOf(same) : TreeNodes.key(outermost, consumer);
    }

    /** The number of a node that is made if there is none yet; 0: there is no room. */
    final int node(long key) {
        int node = nodes.find(key);
        if (node != 0) {
            return node;
        }
        if (nodes.isFull() && !addPiece()) {
            return 0;
        }
        int at = TreeNodes.place(nodes.next());
        words.put(at + Format.NODE_MIN, Long.MAX_VALUE);
        boolean kept = Kept.threshold((int) key) != 0 && !nodes.isWithin((int) (key >>> 32), (int) key);
        if (kept) {
            keepDurations();
            words.put(at + Format.NODE_FOLLOWERS, Format.KEPT);
            words.put(at + Format.NODE_NEXT, SAMPLED ? 0 : Format.KEPT);
        }
        long first = SAMPLED && !kept && head > 0 && period == Settings.AUTO && !sums ? Sampling.begin((int) key, at) : -1;
        if (first >= 0) {
            words.put(at + Format.NODE_NEXT, Sampling.next(0, first));
            words.put(at + Format.NODE_HEAD, -1);
        }
        int made = nodes.add(key);
        if (durations != null && !sums && !onTrial) {
            durations.worst.made(made, key, kept);
        }
        return made;
    }

    /** So many calls were counted as if recursion had no contexts. */
    final void countRecursive(long calls) {
        tree.put(Format.TREE_RECURSIVE, tree.get(Format.TREE_RECURSIVE) + calls);
    }

    /** True for the nodes that have no times. */
    final boolean isDeeper(int node) {
        return deeper != 0 && node != 0 && nodes.callerOf(node) == deeper;
    }

    final Durations keepDurations() {
        if (durations == null) {
            durations = new Durations(words);
        }
        return durations;
    }

    /** Whether the durations of the node at this place are kept. */
    final boolean isKept(int at) {
        return (words.get(at + Format.NODE_FOLLOWERS) & Format.KEPT) != 0;
    }

    // ---- regions ----

    /** Room for more nodes; false: there is none. The time it takes is taken out of open calls. */
    final boolean addPiece() {
        long began = Clock.now();
        boolean added = nodes.addPiece(tree, ordinal);
        takeOutOwn(Clock.now() - began);
        return added;
    }

    /** Moves the stack to a larger region; false: there is no room. The time it takes is taken out of open calls. */
    final boolean growStack() {
        long began = Clock.now();
        Region larger = tree.length > 1 << 29 ? null : Recording.file.allocate(words, 2 * tree.length);
        if (larger == null) {
            return false;
        }
        if (CPU) {
            cpuStarts = java.util.Arrays.copyOf(cpuStarts, larger.length / 16);
        }
        larger.put(Format.HEADER_WORDS, tree, Format.HEADER_WORDS, stackEnd - bottom);
        prepare(larger, tree.get(Format.TREE_FLAGS));
        for (int word = Format.TREE_NODES_AT; word <= Format.TREE_RECURSIVE; word++) {
            larger.put(word, tree.get(word));
        }
        larger.touch();
        larger.publish(Format.TREE, ordinal);
        header.put(Format.DATA_AT, larger.fileOffset);
        Region old = tree;
        if (lowestDeeper != Integer.MAX_VALUE) {
            lowestDeeper += larger.base - tree.base;
        }
        use(larger, sp - bottom);
        Recording.file.release(old);
        takeOutOwn(Clock.now() - began);
        return true;
    }

    /** The recorder took time for itself: it is no part of any open call. */
    final void takeOutOwn(long took) {
        for (int at = bottom + 1; took != 0 && at < sp; at += 2) {
            if (words.get(at) != 0) {
                words.put(at, words.get(at) + took);
            }
        }
        if (took != 0 && header != null) {
            pause(took);
        }
    }

    static void prepare(Region stack, long flags) {
        stack.put(Format.STACK_WORDS, (stack.length >> 3) - Format.HEADER_WORDS);
        stack.put(Format.TREE_FLAGS, flags);
    }

    final void use(Region stack, int depth) {
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
        ProfileFile file = Recording.file;
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

    final boolean allocateSamples(int kind) {
        samples = Samples.allocate(words, kind, ordinal);
        if (samples == null) {
            return false;
        }
        mark = words.place(samples.base + Format.MARK);
        return true;
    }

    @Override
    void attached() {
        if (SAMPLES) {
            sampled = Samples.begin(Thread.currentThread(), Owner.of(Thread.currentThread()), words, samples, isVirtual);
        }
    }

    /** From here on nobody writes samples. */
    final void endSamples() {
        if (sampled != null) {
            sampled.leave();
        }
    }

    @Override
    void releaseRegions() {
        if (SAMPLES) {
            endSamples();
            Recording.file.release(samples);
        }
        Recording.file.release(tree);
        nodes.release();
        if (durations != null) {
            durations.release();
        }
        allocations.release();
    }

    /** Offset of a word of a node from the beginning of the stack's region, which may lie behind it. */
    final int wordOf(int node, int word) {
        return TreeNodes.place(node) - tree.base + word;
    }
}
