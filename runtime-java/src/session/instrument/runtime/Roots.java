package instrument.runtime;

import java.util.Arrays;

/** The root methods: recording goes on only below them. */
final class Roots extends MethodSearch {
    private long[] ids = new long[1];
    /** Those that are found when the program begins. */
    private static volatile Roots first;
    /** What an agent has added; guarded by the class, as what follows. */
    private static long[] added = new long[1];
    private static boolean published;

    private Roots(String list) {
        super(split(list));
    }

    @Override
    void found(int pattern, int id) {
        ids = with(ids, id);
    }

    /** Bits of the ids of the methods that match a list of patterns. Code of the program's class loader may run. */
    static long[] find(String list) {
        Roots roots = new Roots(list);
        roots.run("the root");
        first = roots;
        return roots.ids;
    }

    /** Lets the states know those that were found. */
    static synchronized void publish(long[] found) {
        Recording.roots = union(found, added);
        published = true;
    }

    /** Another recording begins. */
    static synchronized void renew() {
        first = null;
        added = new long[1];
        published = false;
        Recording.roots = null;
    }

    /** Adds ids, four bytes each, that methods are about to have. */
    static synchronized void add(byte[] ids) {
        for (int i = 0; i + 3 < ids.length; i += 4) {
            added = with(added, id(ids, i));
        }
        if (published) {
            Recording.roots = union(Recording.roots, added);
        }
    }

    /** Takes out ids, four bytes each. A call that is open goes on to be recorded, and what it calls. Without any root nothing is recorded. */
    static synchronized void remove(byte[] ids) {
        long[] left = Arrays.copyOf(added, added.length);
        long[] known = Recording.roots == null ? new long[1] : Arrays.copyOf(Recording.roots, Recording.roots.length);
        for (int i = 0; i + 3 < ids.length; i += 4) {
            int id = id(ids, i);
            if (id >> 6 < left.length) {
                left[id >> 6] &= ~(1L << id);
            }
            if (id >> 6 < known.length) {
                known[id >> 6] &= ~(1L << id);
            }
        }
        added = left;
        if (published) {
            Recording.roots = known;
        }
    }

    private static int id(byte[] ids, int at) {
        return ids[at] << 24 | (ids[at + 1] & 0xff) << 16 | (ids[at + 2] & 0xff) << 8 | ids[at + 3] & 0xff;
    }

    /** Whether a pattern matched when the program began. */
    static boolean wasFound(String pattern) {
        Roots roots = first;
        return roots != null && roots.isFound(pattern);
    }

    /** A new array: others look at the old one without a lock. */
    private static long[] union(long[] a, long[] b) {
        long[] union = Arrays.copyOf(a, Math.max(a.length, b.length));
        for (int i = 0; i < b.length; i++) {
            union[i] |= b[i];
        }
        return union;
    }

    private static long[] with(long[] ids, int id) {
        long[] more = id >> 6 < ids.length ? ids : Arrays.copyOf(ids, Math.max(2 * ids.length, (id >> 6) + 1));
        more[id >> 6] |= 1L << id;
        return more;
    }
}
