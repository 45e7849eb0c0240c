package instrument.runtime;

import java.util.Arrays;

/**
 * What the nodes beneath a context had when its last call ended: what they have more when the next one ends, that call did. A node is entered only within its caller, so beneath
 * one that has no more entries nothing has changed.
 *
 * <p>Nodes stand one behind the other, callers in front of what they call: each knows which one follows it, and which one follows all that is beneath it. A new node is the first one
 * behind its caller, so nothing else changes.
 */
final class CallImage {
    // Of each node, from its index on: the place of the node in the file, which one follows, which one follows all beneath it, and its caller. The context itself has index 0, which also
    // is the end.
    private static final int FOLLOWER = 1;
    private static final int BEHIND = 2;
    private static final int CALLER = 3;
    // And its entries, then
    private static final int EXITS = 1;
    private static final int NS = 2;
    private static final int SAMPLES = 3;
    /** Words of a node, in either table. */
    static final int STEP = 4;

    /** Times of nodes are those of their calls, and no estimates. */
    private static final boolean TIMED = Recording.settings.sampled == 1;
    private static final boolean SAMPLED = Recording.settings.samples;

    /** The context's own node. */
    final int root;
    /** The image of the nearest context above this one that has one, which has its nodes, too; null: there is none. */
    final CallImage outer;
    final WorstOf worst;
    private final Words words;
    private int[] links = new int[4 * STEP];
    private long[] had = new long[4 * STEP];
    private int end = STEP;
    /** Indexes by number of the node. */
    private final IntTable indexes = new IntTable();
    /** A call beneath the one that is open has no context of its own. */
    boolean hasDeeper;
    /** There was no room for a node. */
    boolean isPart;

    CallImage(int root, CallImage outer, WorstOf worst, Words words) {
        this.root = root;
        this.outer = outer;
        this.worst = worst;
        this.words = words;
        links[0] = TreeNodes.place(root);
    }

    /** A node has been made beneath. */
    void add(int node, int caller) {
        int from = indexes.get(caller);
        if (from == 0 && caller != root) {
            isPart = true;
            return;
        }
        if (end == links.length) {
            links = Arrays.copyOf(links, 2 * end);
            had = Arrays.copyOf(had, 2 * end);
        }
        links[end] = TreeNodes.place(node);
        links[end + FOLLOWER] = links[from + FOLLOWER];
        links[end + BEHIND] = links[from + FOLLOWER];
        links[end + CALLER] = from;
        links[from + FOLLOWER] = end;
        indexes.put(node, end);
        end += STEP;
    }

    /** A call of the context has ended. False: what it did is not known, since ends of others were not seen. */
    boolean isNext() {
        return words.get(links[0] + Format.ENTRIES) == had[0] + 1;
    }

    /** What the call did that has ended. */
    void tell(WorstCall call) {
        call.begin((int) words.get(links[0]), samples(0) - had[SAMPLES]);
        for (int i = links[FOLLOWER]; i != 0;) {
            int at = links[i];
            long entries = words.get(at + Format.ENTRIES) - had[i];
            if (entries != 0) {
                call.add(i / STEP, links[i + CALLER] / STEP, (int) words.get(at), entries, words.get(at + Format.EXITS) - had[i + EXITS], ns(i) - had[i + NS], samples(i) - had[i + SAMPLES]);
            }
            i = links[i + (entries != 0 ? FOLLOWER : BEHIND)];
        }
    }

    /** Makes the image agree with the tree, after each call. */
    void renew() {
        Words words = this.words;
        int[] links = this.links;
        long[] had = this.had;
        had[0] = words.get(links[0] + Format.ENTRIES);
        had[SAMPLES] = samples(0);
        for (int i = links[FOLLOWER]; i != 0;) {
            int at = links[i];
            long entries = words.get(at + Format.ENTRIES);
            if (entries == had[i]) {
                i = links[i + BEHIND];
            } else {
                had[i] = entries;
                had[i + EXITS] = words.get(at + Format.EXITS);
                had[i + NS] = ns(i);
                had[i + SAMPLES] = samples(i);
                i = links[i + FOLLOWER];
            }
        }
    }

    /** Where not all calls are timed nobody knows how long those of one call took. */
    private long ns(int i) {
        return TIMED ? words.get(links[i] + Format.NODE_NS) : 0;
    }

    private long samples(int i) {
        return SAMPLED ? words.get(links[i] + Format.NODE_SAMPLES) : 0;
    }

    /** Open calls have moved to other contexts: of the next call that ends it is not known what it did. */
    void disturbed() {
        for (int i = STEP; i < end; i += STEP) {
            had[i] = words.get(links[i] + Format.ENTRIES);
            had[i + EXITS] = words.get(links[i] + Format.EXITS);
            had[i + NS] = ns(i);
            had[i + SAMPLES] = samples(i);
        }
        had[0] = -2;
    }
}
