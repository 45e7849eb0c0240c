package instrument.runtime;

/**
 * Records a calling context tree: what events do to a {@link MappedTree}.
 *
 * <p>The node of an entry is guessed: what followed the event before it the last time, in the same context, or what did so before. If both are wrong it is found by a
 * hash of (caller, id). The first word of the node, whose cache line is needed anyway, verifies it. An entry reads the clock last and an exit reads it first, so that little of the recorder is inside.
 *
 * <p>Past the limits of depth and of contexts calls are counted per method, under the one deeper node, and not timed. {@link #limit} is the place on the stack from which on that may be so.
 * Where the limit of contexts is near, recursion is given none: see {@link #folded}. The stack is no path in the tree then, but each frame still has the node that its call is counted in.
 */
final class TreeState extends MappedTree {
    /** No index is larger. Tells the compiler that none is negative. */
    private static final int INDEX = (1 << 28) - 1;

    /** Number of the node that the next entry is probably of; 0: no idea. */
    private int guess;
    /** Index of the word that it was read from; 0: nowhere. */
    private int guessAt;
    /** What {@link #revive} needs of each frame: both words, its CPU time, the words of its node that its end changes. */
    private long[] undo = new long[0];
    /** Of {@link Kept}, which this thread has followed. */
    private int keptAdditions = Kept.additions();

    private TreeState(Thread owner) {
        super(owner);
    }

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static ThreadState create(Thread owner) {
        return new TreeState(owner);
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
            Memory.put(words, mark, current | Sampled.PROBE);
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
        words.put(top + 1, (SAMPLES ? (next & Format.KEPT) == 0 : SAMPLED && Sampling.skips(entries, next)) ? 0 : Clock.now());
        if (SAMPLES) {
            Memory.put(words, mark, node);
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
        if (top >= stackEnd || isHeld()) {
            return false;
        }
        if (lowestDeeper >= top && depth() < Recording.settings.depth) {
            if (nodes.find(TreeNodes.key(current, id + 1)) != 0) {
                lowestDeeper = Integer.MAX_VALUE;
                limitTo(lowestDeeper);
                return enter(id, pendingBit);
            }
            long key = folded(current, id + 1);
            boolean isFolded = key != TreeNodes.key(current, id + 1);
            int node = isFolded && SAMPLES ? nodes.find(key) : 0;
            if (node != 0) {
                // An entry above a pending constructor may tell that it is gone.
                return words.get(top - 2) >= 0 && openFolded(node, id, pendingBit);
            }
            if ((SAMPLES || !isFolded) && nodes.count() < Recording.settings.contexts) {
                return false;
            }
        }
        int node = deeper == 0 ? 0 : nodes.find(TreeNodes.key(deeper, id + 1));
        if (node == 0) {
            return false;
        }
        lowestDeeper = Math.min(lowestDeeper, top);
        limitTo(lowestDeeper);
        open(node, id + 1, pendingBit, true);
        return true;
    }

    private boolean openFolded(int node, int id, long pendingBit) {
        lowestDeeper = Integer.MAX_VALUE;
        limitTo(lowestDeeper);
        countRecursive(1);
        open(node, id + 1, pendingBit, true);
        return true;
    }

    @Override
    boolean enterConstructor(int id) {
        if (pending < pendingLimit && !Constructors.isSuspect(id) && enter(id, Format.PENDING)) {
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
            Memory.put(words, mark, current | Sampled.PROBE);
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
                return closeTimed(Clock.now(), column, null);
            }
            if (isKept(at)) {
                return closeTimed(now, column, null);
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
        long caller = words.get(top - 2 & INDEX);
        int below = (int) caller;
        current = below;
        if (SAMPLES) {
            Memory.put(words, mark, below);
        }
        if (caller < 0 && Constructors.suspects != 0) {
            watch();
        }
        return true;
    }

    /** One in many: kept out of the way of the others. */
    private boolean closeTimed(long at, int column, NotInlined none) {
        now = at;
        cpuNow = CPU ? cpuClock() : 0;
        cpuLast = cpuNow;
        closeTop(column);
        if (words.get(sp - 2) < 0) {
            watch();
        }
        return true;
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

    /** A call that is open in a node goes on in that of the same method under another caller, whose number this is. */
    private int moved(int caller, int node) {
        long key = TreeNodes.key(caller, nodes.consumerOf(node));
        if (isDeeper(node) || nodes.callerOf(node) == caller || SAMPLES && nodes.find(key) == 0 && folded(caller, nodes.consumerOf(node)) == nodes.keyOf(node)) {
            return node;
        }
        boolean room = nodes.find(key) != 0 || nodes.count() < Recording.settings.contexts;
        int other = room ? node(key) : 0;
        if (other == 0) {
            return node;
        }
        int at = TreeNodes.place(other) + Format.ENTRIES;
        words.put(at, words.get(at) + 1);
        at = TreeNodes.place(node) + Format.ENTRIES;
        words.put(at, words.get(at) - 1);
        if (durations != null) {
            durations.worst.disturbed();
        }
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
    boolean allocate(Object object) {
        return allocations.count(this, object, contextNode());
    }

    @Override
    boolean allocateAgain(Object object) {
        return mode == Gate.recording() && missed == 0 && allocations.countAgain(object, current);
    }

    @Override
    Origin origin(int node) {
        return nodes.origin(node);
    }

    @Override
    boolean pushLink(int link) {
        if (!reserveKey(contextNode(), Format.LINK | link)) {
            return false;
        }
        push(Format.LINK | link, Format.LINK_FRAME, 0);
        return true;
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
        reserved = 0;
        boolean past = lowestDeeper != Integer.MAX_VALUE || depth() >= Recording.settings.depth;
        if (!past && nodes.find(TreeNodes.key(caller, consumer)) == 0) {
            // Of several pending constructors each has a context that no other has.
            long key = words.get(top - 2) < 0 ? TreeNodes.key(caller, consumer) : folded(caller, consumer);
            boolean isFolded = key != TreeNodes.key(caller, consumer);
            past = isFolded && !SAMPLES || nodes.count() >= Recording.settings.contexts && nodes.find(key) == 0;
            if (!past) {
                int node = node(key);
                reserved = isFolded ? node : 0;
                return node != 0 && limitTo(Integer.MAX_VALUE);
            }
        }
        if (!past) {
            return limitTo(Integer.MAX_VALUE);
        }
        if (deeper == 0) {
            deeper = node(TreeNodes.key(0, Format.DEEPER));
        }
        reserved = deeper == 0 ? 0 : node(TreeNodes.key(deeper, consumer));
        if (reserved == 0) {
            return false;
        }
        lowestDeeper = Math.min(lowestDeeper, sp);
        return limitTo(lowestDeeper);
    }

    @Override
    void enterReserved(int id, long pendingBit) {
        push(id + 1, id + 1, pendingBit);
    }

    private void push(int consumer, int idPlusOne, long pendingBit) {
        boolean untimed = reserved != 0;
        if (untimed && !isDeeper(reserved)) {
            countRecursive(1);
        }
        open(untimed ? reserved : nodes.find(TreeNodes.key(contextNode(), consumer)), idPlusOne, pendingBit, untimed);
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
        if (untimed && durations != null && isDeeper(node)) {
            // Below the first frame lie zeros.
            durations.worst.deeper((int) words.get(lowestDeeper - 2));
        }
        boolean timed = SAMPLES ? LibraryCalls.has(idPlusOne - 1) || isKept(at) : !SAMPLED || !Sampling.skips(entries, next);
        words.put(top + 1, untimed || !timed ? 0 : Clock.now());
        endOfProbe();
    }

    @Override
    boolean foldInto(ThreadState sum) {
        endSamples();
        return new TreeFold(this, (TreeState) sum).run();
    }

    // ---- calibration ----

    @Override
    long charged() {
        return nodes.sum(Format.NODE_NS, TRIAL_CALLER + 1) + (SAMPLED ? nodes.sum(Format.NODE_HEAD, TRIAL_CALLER + 1) : 0);
    }

    @Override
    long chargedCpu() {
        return CPU ? nodes.sum(Format.NODE_CPU, TRIAL_CALLER + 1) : 0;
    }

    @Override
    long coveredCalls() {
        return SAMPLED ? nodes.sum(Format.NODE_COVERED, TRIAL_CALLER + 1) : 0;
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

    @Override
    void followKept() {
        int additions = Kept.additions();
        if (additions != keptAdditions && nodes != null) {
            keptAdditions = additions;
            LateKept.follow(this);
        }
    }

    @Override
    void warmUpDurations() {
        if (Recording.settings.latency != null) {
            keepDurations().warmUp(this, tree, Durations.key(current, 1, false));
        }
    }
}
