package instrument.runtime;

/** Makes a tree keep the durations of methods that it may have contexts of already: see {@link Kept#added}. */
final class LateKept {
    private LateKept() {}

    /** From the next call on, for a thread that is BUSY. */
    static void follow(MappedTree tree) {
        long began = Clock.now();
        int[] numbers = tree.nodes.numbers();
        boolean found = false;
        for (int node : numbers) {
            found |= keep(tree, node);
        }
        if (found) {
            renew(tree, tree.keepDurations().worst, numbers);
        }
        tree.takeOutOwn(Clock.now() - began);
    }

    /** False: nothing changes for this node. */
    private static boolean keep(MappedTree tree, int node) {
        Words words = tree.words;
        int at = TreeNodes.place(node);
        int consumer = tree.nodes.consumerOf(node);
        if (Kept.threshold(consumer) == 0 || tree.isKept(at) || tree.isDeeper(node) || tree.nodes.isWithin(tree.nodes.callerOf(node), consumer)) {
            return false;
        }
        words.put(at + Format.NODE_FOLLOWERS, words.get(at + Format.NODE_FOLLOWERS) | Format.KEPT);
        long next = words.get(at + Format.NODE_NEXT);
        words.put(at + Format.NODE_NEXT, MappedTree.SAMPLED ? Sampling.next(next, words.get(at + Format.ENTRIES)) : next | Format.KEPT);
        return true;
    }

    private static void renew(MappedTree tree, WorstCalls worst, int[] numbers) {
        worst.clear();
        for (int node : numbers) {
            worst.made(node, tree.nodes.keyOf(node), tree.isKept(TreeNodes.place(node)));
        }
        worst.cleared();
        for (int i = 0; i < tree.depth(); i++) {
            worst.isOpen((int) tree.frame(i));
        }
    }
}
