package instrument.runtime;

import java.util.Arrays;

/** What one call did, as the differences that a {@link CallImage} finds, until it is written into a region of its own. Of one thread, which uses it again. */
final class WorstCall {
    /** Contexts that a call can have beneath it; of a call with more some are left out. */
    private static final int MOST = 4096;
    private static final int FIRST = 64;

    private long[] nodes = new long[FIRST * Format.WORST_NODE_WORDS];
    private int count;
    /** By index in the image, numbers of the nodes here. */
    private int[] numbers = new int[FIRST];
    private boolean isPart;

    /** The method itself. */
    void begin(int consumer, long samples) {
        count = 0;
        isPart = false;
        add(0, -1, consumer, 1, 1, 0, samples);
    }

    /** A node with this index in the image. It has been entered within its caller. */
    void add(int index, int caller, int consumer, long entries, long exits, long ns, long samples) {
        if (index >= numbers.length) {
            numbers = Arrays.copyOf(numbers, Math.max(index + 1, 2 * numbers.length));
        }
        int above = caller < 0 ? 0 : numbers[caller];
        if (count == MOST || above == 0 && caller >= 0) {
            numbers[index] = 0;
            isPart = true;
            return;
        }
        int at = count * Format.WORST_NODE_WORDS;
        if (at == nodes.length) {
            nodes = Arrays.copyOf(nodes, 2 * at);
        }
        nodes[at] = (long) above << 32 | consumer & 0xffffffffL;
        nodes[at + 1] = entries;
        nodes[at + 2] = exits;
        nodes[at + 3] = ns;
        nodes[at + 4] = samples;
        numbers[index] = ++count;
    }

    /** A region with it that readers do not see yet; null: there is no room, of so many bytes. */
    Region write(long ns, long end, long flags, long room) {
        int words = Format.HEADER_WORDS + count * Format.WORST_NODE_WORDS;
        // A power of two can be used again.
        int length = Integer.highestOneBit(8 * words - 1) << 1;
        Region region = length <= room ? Recording.file.allocate(length) : null;
        if (region == null) {
            return null;
        }
        // The method itself: all of the call.
        nodes[2] = (flags & Format.WORST_FAILED) == 0 ? 1 : 0;
        nodes[3] = ns;
        region.put(Format.WORST_FLAGS, flags | (isPart ? Format.WORST_PART : 0));
        region.put(Format.WORST_NS, ns);
        region.put(Format.WORST_END, end);
        region.put(Format.WORST_NODES, count);
        for (int word = 0; word < count * Format.WORST_NODE_WORDS; word++) {
            region.put(Format.HEADER_WORDS + word, nodes[word]);
        }
        return region;
    }

    /** What it did is not known. */
    void forget() {
        count = 1;
        isPart = false;
        nodes[4] = 0;
    }
}
