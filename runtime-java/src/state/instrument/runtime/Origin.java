package instrument.runtime;

import java.util.Arrays;

/** Where a task is handed over: by which methods, below which link. Two threads that do the same work on behalf of one link have the same. */
final class Origin {
    /** The node of it in the thread that asked. */
    final int node;
    /** The number of the innermost link; 0: there is none. */
    final int link;
    /** The consumers below that, the innermost first. */
    final int[] path;
    /** How many links are above it; set when it becomes known. */
    int links;

    Origin(int node, int link, int[] path) {
        this.node = node;
        this.link = link;
        this.path = path;
    }

    /** Whether the same methods hand over. */
    boolean isLike(Origin other) {
        return Arrays.equals(path, other.path);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(path) + link;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Origin && ((Origin) other).link == link && isLike((Origin) other);
    }
}
