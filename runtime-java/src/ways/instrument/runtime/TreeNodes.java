package instrument.runtime;

import java.util.Arrays;

/**
 * The nodes of a tree: pieces of the mapped file, which never move, and the table that finds a node by its key. All pieces are in one mapping, and the
 * number of a node is its place there, in units of {@link Format#UNIT_WORDS}. A node's first word is its key: number of the caller's node, and what is called.
 */
final class TreeNodes {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;
    /** Bytes of the first piece, and of the largest. A new piece is an eighth of what is there. */
    private static final int FIRST_PIECE = 1 << 10;
    private static final int LARGEST_PIECE = 1 << 18;
    private static final int NODE_BYTES = 8 * Format.NODE_WORDS;
    /** Recursion that takes more calls than so many is not looked for. */
    private static final int NEAR = 64;
    /** From the number of a node to that of the next one in its piece. */
    private static final int STEP = Format.NODE_WORDS / Format.UNIT_WORDS;

    private final Words words;
    /** Numbers by hash of the key, a quarter full at most. Number 0 is the head of a block, which is the key of no node. */
    private int[] table = new int[32];
    private Region[] pieces = new Region[4];
    private int pieceCount;
    private int count;
    /** Number of the next node, and where the piece ends. */
    private int next;
    private int pieceEnd;

    /** @param words the mapping that the tree's stack is in */
    TreeNodes(Words words) {
        this.words = words;
    }

    static long key(int caller, int consumer) {
        return (long) caller << 32 | consumer & 0xffffffffL;
    }

    /** Index of a node's first word. */
    static int place(int node) {
        return node << Format.LOG_UNIT_WORDS;
    }

    /** The high half of the product is good, and enough for the largest table. */
    private static int hash(long key) {
        return (int) (key * GOLDEN >>> 40);
    }

    int count() {
        return count;
    }

    /** The node that {@link #outermost} was last asked about, and its answer: the way may be as long as the stack. */
    private int recursive;
    private int beginning;

    long keyOf(int node) {
        return words.get(place(node));
    }

    int callerOf(int node) {
        return (int) (words.get(place(node)) >>> 32);
    }

    /** Id + 1 of a method, or one of the other consumers. */
    int consumerOf(int node) {
        return (int) words.get(place(node));
    }

    /** Whether a node or one of its callers is of this consumer. */
    boolean isWithin(int node, int consumer) {
        int at = node;
        while (at != 0 && consumerOf(at) != consumer) {
            at = callerOf(at);
        }
        return at != 0;
    }

    /** The first node of a consumer from this one up. 0: it is too far, or there is none below the next link or call that is timed for itself. */
    int nearest(int node, int consumer) {
        int at = node;
        for (int level = 0; level < NEAR && at != 0 && isPlain(at); level++) {
            if (consumerOf(at) == consumer) {
                return at;
            }
            at = callerOf(at);
        }
        return 0;
    }

    /** The node where the recursion began that this one is a part of: one of its callers is of the same method, and so on. */
    int outermost(int node) {
        if (node != recursive) {
            recursive = node;
            beginning = beginning(node);
        }
        return beginning;
    }

    private int beginning(int node) {
        int at = node;
        for (int up = at; up != 0; up = nearest(callerOf(at), consumerOf(at))) {
            at = up;
            if (!isPlain(at)) {
                return at;
            }
        }
        return at;
    }

    /** Where a task comes from that is handed over in this context. A method that calls itself hands over where it was called first. */
    Origin origin(int node) {
        int first = outermost(node);
        int length = 0;
        int at = first;
        for (; at != 0 && !isLink(at); at = callerOf(at)) {
            length++;
        }
        int link = at == 0 ? 0 : consumerOf(at) & ~Format.LINK;
        int[] path = new int[length];
        at = first;
        for (int i = 0; i < length; i++, at = callerOf(at)) {
            path[i] = consumerOf(at);
        }
        return new Origin(first, link, path);
    }

    private boolean isPlain(int node) {
        return !isLink(node) && !LibraryCalls.has(consumerOf(node) - 1) && (words.get(place(node) + Format.NODE_FOLLOWERS) & Format.KEPT) == 0;
    }

    boolean isLink(int node) {
        return (consumerOf(node) & Format.LINK) != 0;
    }

    /** The number of a node, or 0. */
    int find(long key) {
        int[] table = this.table;
        for (int i = hash(key);; i++) {
            int node = table[i & table.length - 1];
            if (node == 0 || words.get(place(node)) == key) {
                return node;
            }
        }
    }

    /** Whether the next node needs a piece first. */
    boolean isFull() {
        return next == pieceEnd;
    }

    /** Number of the next node. What is written into its words before {@link #add} is there for readers when the node is. */
    int next() {
        return next;
    }

    /** Makes the next node that of a key which has none. */
    int add(long key) {
        if (4 * (count + 1) > table.length) {
            grow();
        }
        int node = next;
        words.put(place(node), key);
        next += STEP;
        count++;
        insert(node, key);
        return node;
    }

    private void insert(int node, long key) {
        int i = hash(key);
        while (table[i & table.length - 1] != 0) {
            i++;
        }
        table[i & table.length - 1] = node;
    }

    private void grow() {
        table = new int[2 * table.length];
        for (int node : numbers()) {
            insert(node, words.get(place(node)));
        }
    }

    /** The numbers of all nodes, in the order in which they were made. */
    int[] numbers() {
        int[] numbers = new int[count];
        int known = 0;
        for (int i = 0; i < pieceCount; i++) {
            int end = i + 1 < pieceCount ? endOf(pieces[i]) : next;
            for (int node = firstOf(pieces[i]); node < end; node += STEP) {
                numbers[known++] = node;
            }
        }
        return numbers;
    }

    /** Number of the first node in a piece. */
    private static int firstOf(Region piece) {
        return piece.base + Format.HEADER_WORDS >> Format.LOG_UNIT_WORDS;
    }

    private static int endOf(Region piece) {
        return firstOf(piece) + (piece.length - Format.HEADER) / NODE_BYTES * STEP;
    }

    /** Room for more nodes, where a reader of the stack finds it; false: there is none. */
    boolean addPiece(Region stack, int ordinal) {
        long least = Math.max(FIRST_PIECE, Math.min(LARGEST_PIECE, (long) count * NODE_BYTES >> 3));
        Region piece = Recording.file.allocate(words, Integer.highestOneBit((int) least));
        if (piece == null) {
            return false;
        }
        if (pieceCount == pieces.length) {
            pieces = Arrays.copyOf(pieces, 2 * pieceCount);
        }
        piece.put(Format.NODES_FIRST, firstOf(piece));
        piece.touch();
        piece.publish(Format.TREE_NODES, ordinal);
        if (pieceCount == 0) {
            stack.put(Format.TREE_NODES_AT, piece.fileOffset);
        } else {
            pieces[pieceCount - 1].put(Format.NODES_NEXT, piece.fileOffset);
        }
        pieces[pieceCount++] = piece;
        next = firstOf(piece);
        pieceEnd = endOf(piece);
        return true;
    }

    void release() {
        for (int i = 0; i < pieceCount; i++) {
            Recording.file.release(pieces[i]);
        }
    }

    /** Calls of a node that have ended, in whatever way. */
    long closed(int node) {
        int at = place(node);
        long closed = words.get(at + Format.EXITS);
        for (int column = Format.UNWINDS; column < Format.UNCLOSED; column++) {
            closed += words.get(at + Format.nodeColumn(column));
        }
        return closed + (words.get(at + Format.nodeColumn(Format.UNCLOSED)) & Format.NODE_UNMATCHED - 1);
    }

    /** Sum of a word over the nodes, but for those of one method. */
    long sum(int word, int withoutIdPlusOne) {
        long sum = 0;
        for (int node : numbers()) {
            if (consumerOf(node) != withoutIdPlusOne) {
                sum += words.get(place(node) + word);
            }
        }
        return sum;
    }
}
