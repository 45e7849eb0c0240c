package instrument.runtime;

import java.util.concurrent.ConcurrentHashMap;

/**
 * Which pending constructors are still there. No handler can cover super(), so a constructor whose super() throws tells nothing. Where the exception ends in code that is
 * not recorded, nothing beneath tells, either: then the frames that are really on the stack do. A constructor is known there by a name that was read from the
 * stack at its first call.
 *
 * <p>A look at the stack takes a microsecond. An entry right under a pending constructor has one if the context is new, or the constructor is suspect: until its super() has returned
 * once, and again from when it failed without an event. So only the first such failure can go unnoticed, until an event of a frame beneath, where the same contexts were
 * entered under the constructor before.
 */
final class Constructors {
    /** The most comparisons for one look. */
    private static final long MOST = 1 << 20;
    /** A ready constructor is there: what tells of its end has not come. */
    private static final int CERTAIN = 1 << 16;
    /** So many looks without a failure acquit a suspect constructor: most programs do not notice them. */
    private static final int ACQUITTAL = 1 << 12;

    private static final ConcurrentHashMap<Integer, String> NAMES = new ConcurrentHashMap<Integer, String>();
    /** Bits of the ids that have names. */
    private static volatile long[] known = new long[64];
    /** Of the same length: bits of the ids of suspect ones, and of those that have failed without an event. */
    private static long[] suspect = new long[64];
    private static long[] failed = new long[64];
    /** How many are suspect. Not volatile: what a thread sees late it looks at late. */
    static int suspects;
    /** Looks since a suspect one failed; those of several may be in one place. */
    private static final int[] LOOKS = new int[1 << 10];

    private Constructors() {}

    /** Another recording begins: ids may be those of other constructors. */
    static synchronized void renew() {
        NAMES.clear();
        known = new long[64];
        suspect = new long[64];
        failed = new long[64];
        suspects = 0;
        java.util.Arrays.fill(LOOKS, 0);
    }

    static boolean isKnown(int id) {
        return isIn(known, id);
    }

    private static boolean isIn(long[] bits, int id) {
        int word = id >> 6;
        return word < bits.length && (bits[word] >>> id & 1) != 0;
    }

    /** Whether an entry right under this one looks at the stack. */
    static boolean isSuspect(int id) {
        return suspects != 0 && isIn(suspect, id);
    }

    /** Of frames on the shadow stack of a thread, the upper half of this one, which was pending: it is gone, and no event has told of it. */
    static synchronized void failed(int upper) {
        int id = (upper & 0x7fffffff) - 1;
        if (isKnown(id)) {
            failed[id >> 6] |= 1L << id;
            suspect(id, true);
            LOOKS[id & LOOKS.length - 1] = 0;
        }
    }

    /** The super() of a suspect one has returned. */
    static void returned(int id) {
        if (isSuspect(id) && !isIn(failed, id)) {
            suspect(id, false);
        }
    }

    private static synchronized void suspect(int id, boolean is) {
        if (isIn(suspect, id) != is) {
            suspect[id >> 6] ^= 1L << id;
            suspects += is ? 1 : -1;
        }
    }

    /** The constructor with this id is the innermost on the stack. The thread is BUSY. */
    static void learn(ThreadState state, int id) {
        if (state.onTrial || isKnown(id)) {
            return;
        }
        String name = caller();
        if (name != null) {
            NAMES.put(id, name);
        }
        know(id, name != null);
    }

    private static synchronized void know(int id, boolean hasName) {
        int word = id >> 6;
        int length = word < known.length ? known.length : Math.max(2 * known.length, word + 1);
        failed = withLength(failed, length);
        suspect = withLength(suspect, length);
        long[] more = withLength(known, length);
        more[word] |= 1L << id;
        // Also when it is the same array: others see what is in it.
        known = more;
        suspect(id, hasName);
    }

    private static long[] withLength(long[] bits, int length) {
        return bits.length == length ? bits : java.util.Arrays.copyOf(bits, length);
    }

    private static String caller() {
        try {
            return Stacks.STACKS.caller();
        } catch (Throwable e) {
            if (ThreadStop.is(e)) {
                throw (Error) e;
            }
            return null;
        }
    }

    static boolean hasName(int upper) {
        return name(upper) != null;
    }

    /** Looks need stack and memory: where there is none, nothing is known. */
    private static String[] look(int most) {
        try {
            return Stacks.STACKS.constructors(most);
        } catch (Throwable e) {
            if (ThreadStop.is(e)) {
                throw (Error) e;
            }
            return null;
        }
    }

    private static String name(int upper) {
        int id = (upper & 0x7fffffff) - 1;
        return id >= 0 && isKnown(id) ? NAMES.get(id) : null;
    }

    /**
     * Whether the topmost frame, a pending constructor, is certainly there. This looks at its neighbours only.
     *
     * @param entering what is entered: 1 if it is a constructor, which is not on the shadow stack yet, else 0
     */
    static boolean isOnTop(ThreadState state, int entering) {
        int at = state.depth() - 1;
        String name = name((int) (state.frame(at) >>> 32));
        if (name == null) {
            return true;
        }
        looked(Format.idPlusOne(state.frame(at)) - 1);
        for (at--; at >= 0; at--) {
            String other = name((int) (state.frame(at) >>> 32));
            if (other != null) {
                if (other.equals(name)) {
                    return false;
                }
                break;
            }
        }
        String[] innermost = look(1 + entering);
        return innermost == null || innermost.length > entering && innermost[entering].equals(name);
    }

    private static void looked(int id) {
        int place = id & LOOKS.length - 1;
        if (isSuspect(id) && ++LOOKS[place] >= ACQUITTAL) {
            LOOKS[place] = 0;
            suspect(id, false);
        }
    }

    /** Which of the constructors that are held for aborted are still there. */
    static boolean[] alive(ThreadState state, int entering) {
        int depth = state.depth();
        int[] uppers = new int[depth + state.doubted];
        for (int i = 0; i < depth; i++) {
            uppers[i] = (int) (state.frame(i) >>> 32);
        }
        System.arraycopy(state.doubtedFrames, 0, uppers, depth, state.doubted);
        boolean[] gone = gone(uppers, entering);
        boolean[] alive = new boolean[state.doubted];
        for (int i = 0; i < alive.length; i++) {
            alive[i] = gone == null || !gone[depth + i];
        }
        return alive;
    }

    /**
     * Which of these frames, the outermost first, are of pending constructors that are no longer there; null: this is not known.
     *
     * @param uppers the upper halves of the frames
     */
    static boolean[] gone(int[] uppers, int entering) {
        String[] real = look(Integer.MAX_VALUE);
        if (real == null) {
            return null;
        }
        int[] places = new int[uppers.length];
        String[] names = new String[uppers.length];
        int count = 0;
        for (int i = 0; i < uppers.length; i++) {
            String name = name(uppers[i]);
            if (name != null) {
                names[count] = name;
                places[count++] = i;
            }
        }
        boolean[] gone = new boolean[uppers.length];
        int there = Math.max(0, real.length - entering);
        // What both have outermost is the same.
        int same = 0;
        while (same < count && same < there && names[same].equals(real[real.length - 1 - same])) {
            same++;
        }
        if (same < count && !match(uppers, names, places, count, real, there, same, gone)) {
            return null;
        }
        endNameless(uppers, there, gone);
        return gone;
    }

    /** Those without a name may be any that is on the stack and was not found to be another one: what is more, the oldest, is gone. */
    private static void endNameless(int[] uppers, int there, boolean[] gone) {
        int surplus = -there;
        for (int i = 0; i < uppers.length; i++) {
            boolean counts = uppers[i] < 0 || name(uppers[i]) != null;
            surplus += counts && !gone[i] ? 1 : 0;
        }
        for (int i = 0; i < uppers.length && surplus > 0; i++) {
            if (uppers[i] < 0 && name(uppers[i]) == null) {
                gone[i] = true;
                surplus--;
            }
        }
    }

    /** By the longest common subsequence of both stacks, without the outermost frames, which are the same. */
    private static boolean match(int[] uppers, String[] names, int[] places, int count, String[] real, int there, int same, boolean[] gone) {
        int rows = count - same;
        int columns = there - same;
        if ((long) rows * columns > MOST) {
            return false;
        }
        int[][] best = new int[rows + 1][columns + 1];
        for (int i = 1; i <= rows; i++) {
            int weight = uppers[places[same + i - 1]] < 0 ? 1 : CERTAIN;
            for (int j = 1; j <= columns; j++) {
                int without = Math.max(best[i - 1][j], best[i][j - 1]);
                boolean equal = names[same + i - 1].equals(real[real.length - same - j]);
                best[i][j] = equal ? Math.max(without, best[i - 1][j - 1] + weight) : without;
            }
        }
        int j = columns;
        for (int i = rows; i > 0; i--) {
            int frame = places[same + i - 1];
            if (best[i][j] == best[i - 1][j]) {
                // Of two frames that may be the one that is there it is the outer one: what is on top may just have failed.
                gone[frame] = uppers[frame] < 0;
                continue;
            }
            while (best[i][j] == best[i][j - 1]) {
                j--;
            }
            j--;
        }
        return true;
    }
}
