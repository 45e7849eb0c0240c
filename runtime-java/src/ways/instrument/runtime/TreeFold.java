package instrument.runtime;

/**
 * Moves the tree of an ended thread into the accumulator: nodes are matched by their paths, figures are moved one word at a
 * time under the accumulator's journal. In between a reader adds up both.
 *
 * <ol>
 * <li>The times of a tree in which not all calls were timed are replaced by the estimates that a reader would make of them.
 * <li>Open frames are popped: each is counted as open, with its time up to the thread's last event.
 * <li>Callers come before their callees, so one pass over the nodes finds each under the node that its caller became.
 * </ol>
 */
final class TreeFold {
    /** Words of a node that add up: entries, exits, unwinds, aborted, unclosed and unmatched, open. */
    private static final int[] COUNTS = {1, 2, 8, 9, 10, Format.NODE_OPEN};
    private static final int[] TIMES = {Format.NODE_NS, Format.NODE_CPU, Format.NODE_OPEN_NS};
    private static final int[] SAMPLES = {Format.NODE_NS, Format.SAMPLES_TIMED, Format.NODE_SAMPLES, Format.NODE_OPEN_NS};
    private static final int[] ESTIMATES = {Format.NODE_NS, Format.ESTIMATE_TIMED, Format.NODE_OPEN_NS};

    private final MappedTree from;
    private final MappedTree to;
    private final Region source;
    /** Numbers in the accumulator. */
    private final IntTable nodes = new IntTable();
    /** Those of the thread's nodes. */
    private final int[] numbers;
    private boolean isEstimated;

    TreeFold(MappedTree from, MappedTree to) {
        this.from = from;
        this.to = to;
        source = from.tree;
        numbers = from.nodes.numbers();
    }

    /** False: there was no room; then the rest stays where it is. */
    boolean run() {
        if ((source.get(Format.TREE_FLAGS) & Format.SAMPLED) != 0) {
            estimate();
        }
        isEstimated = (source.get(Format.TREE_FLAGS) & Format.ESTIMATED) != 0;
        from.flag(Format.FOLDING, true);
        closeOpen();
        for (int node : numbers) {
            if (!moveNode(node)) {
                return false;
            }
        }
        if (from.durations != null) {
            from.durations.foldInto(source, to.keepDurations(), to, to.tree, nodes);
        }
        if (from.samples != null) {
            Samples.fold(from.samples, to.samples, to.header);
        }
        if (!from.allocations.foldInto(to, to.allocations, nodes) || !from.bytecodes.foldInto(to.bytecodes, to.header, to.ordinal, nodes)) {
            return false;
        }
        to.countRecursive(source.get(Format.TREE_RECURSIVE));
        Links.folded(from, nodes, to.ordinal);
        return true;
    }

    private void estimate() {
        for (int node : numbers) {
            long closed = from.nodes.closed(node);
            long covered = get(node, Format.NODE_COVERED);
            int method = (int) get(node, 0);
            boolean headless = get(node, Format.NODE_HEAD) < 0;
            long head = Math.max(0, get(node, Format.NODE_HEAD));
            double ns = get(node, Format.NODE_NS);
            double squares = Double.longBitsToDouble(get(node, Format.NODE_SQUARES));
            double variance = Double.longBitsToDouble(get(node, Format.NODE_VARIANCE));
            // Calls since the last one that was timed.
            double rest = Math.max(0, closed - covered);
            if (rest > 0 && covered == 0 && headless) {
                double mean = Sampling.mean(method);
                ns = rest * mean;
                squares = 2 * rest * mean * mean;
                variance = rest * Sampling.variance(method);
            } else if (rest > 0 && covered > 0) {
                // As readers do: calls after the head are like each other, and not like the head.
                double mean = headless ? ns / covered : (double) head / covered;
                double square = squares / covered;
                if (!headless && covered > Format.HEAD) {
                    mean = ns / (covered - Format.HEAD);
                    square = (squares - (double) head * head / Format.HEAD) / (covered - Format.HEAD);
                }
                double spread = Math.max(0, square - mean * mean);
                long timed = get(node, Format.NODE_TIMED);
                ns += rest * mean;
                squares += rest * (mean * mean + spread);
                variance += spread * rest * (1 + rest / timed);
            }
            put(node, Format.NODE_NS, head + Math.round(ns));
            put(node, Format.NODE_SQUARES, Double.doubleToRawLongBits(squares));
            put(node, Format.ESTIMATE_TIMED, get(node, Format.NODE_TIMED));
            put(node, Format.ESTIMATE_VARIANCE, Double.doubleToRawLongBits(variance));
            put(node, Format.NODE_OPEN, 0);
            put(node, Format.NODE_HEAD, 0);
            put(node, Format.NODE_OPEN_NS, 0);
        }
        source.put(Format.TREE_FLAGS, source.get(Format.TREE_FLAGS) & ~Format.SAMPLED | Format.ESTIMATED);
    }

    private void closeOpen() {
        int words = (int) source.get(Format.STACK_WORDS);
        long last = 0;
        for (int at = Format.HEADER_WORDS + 1; at < Format.HEADER_WORDS + words; at += 2) {
            last = Math.max(last, source.get(at));
        }
        for (int depth = from.depth() - 1; depth >= 0; depth--) {
            int at = Format.HEADER_WORDS + 2 * depth;
            int node = (int) source.get(at);
            long start = source.get(at + 1);
            if (start != 0) {
                put(node, Format.NODE_OPEN_NS, get(node, Format.NODE_OPEN_NS) + last - start);
            }
            Journal.replace(to.header, source, from.wordOf(node, Format.NODE_OPEN), get(node, Format.NODE_OPEN) + 1, source, at);
        }
    }

    private boolean moveNode(int node) {
        long key = get(node, 0);
        int caller = (int) (key >>> 32);
        int consumer = (int) key;
        int target = caller == 0 || nodes.get(caller) != 0 ? merged(nodes.get(caller), consumer) : 0;
        if (target == 0) {
            return false;
        }
        nodes.put(node, target);
        if (caller != 0 && to.nodes.callerOf(target) != nodes.get(caller) && !to.isDeeper(target)) {
            to.countRecursive(get(node, Format.ENTRIES));
        }
        moveWords(COUNTS, node, target);
        if (!to.isDeeper(target)) {
            moveTimes(node, target);
        }
        return true;
    }

    /** The node in the accumulator, under the one that its caller became; 0: there is no room. */
    private int merged(int caller, int consumer) {
        if (consumer == Format.DEEPER) {
            return deeper();
        }
        long key = TreeNodes.key(caller, consumer);
        boolean past = to.isDeeper(caller);
        boolean isOfDeeper = to.deeper != 0 && caller == to.deeper;
        if (!past && !isOfDeeper && to.nodes.find(key) == 0) {
            key = to.folded(caller, consumer);
            boolean isFolded = key != TreeNodes.key(caller, consumer);
            past = isFolded && !MappedTree.SAMPLES || to.nodes.count() >= Recording.settings.contexts && to.nodes.find(key) == 0;
        }
        if (!past) {
            return to.node(key);
        }
        return deeper() == 0 ? 0 : to.node(TreeNodes.key(to.deeper, consumer));
    }

    private int deeper() {
        to.deeper = to.node(TreeNodes.key(0, Format.DEEPER));
        return to.deeper;
    }

    private void moveTimes(int node, int target) {
        // The shortest and the longest stay here: to merge them twice does no harm.
        int at = to.wordOf(target, Format.NODE_MIN);
        to.tree.put(at, Math.min(to.tree.get(at), get(node, Format.NODE_MIN)));
        at = to.wordOf(target, Format.NODE_MAX);
        to.tree.put(at, Math.max(to.tree.get(at), get(node, Format.NODE_MAX)));
        moveDouble(Format.NODE_SQUARES, node, target);
        if (isEstimated) {
            moveDouble(Format.ESTIMATE_VARIANCE, node, target);
        }
        moveWords(isEstimated ? ESTIMATES : from.samples != null ? SAMPLES : TIMES, node, target);
    }

    private void moveDouble(int word, int node, int target) {
        double figure = Double.longBitsToDouble(get(node, word));
        if (figure != 0) {
            int at = to.wordOf(target, word);
            long sum = Double.doubleToRawLongBits(figure + Double.longBitsToDouble(to.tree.get(at)));
            Journal.replace(to.header, to.tree, at, sum, source, from.wordOf(node, word));
        }
    }

    private void moveWords(int[] which, int node, int target) {
        for (int word : which) {
            Journal.move(to.header, to.tree, to.wordOf(target, word), get(node, word), source, from.wordOf(node, word));
        }
    }

    private long get(int node, int word) {
        return source.get(from.wordOf(node, word));
    }

    private void put(int node, int word, long value) {
        source.put(from.wordOf(node, word), value);
    }
}
