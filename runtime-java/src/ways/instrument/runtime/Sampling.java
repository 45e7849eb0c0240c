package instrument.runtime;

/**
 * Times some calls of each context of a tree. A call that is timed stands for those since the one before it, too: the sums of a node are estimates for
 * all its calls. Which call is the next one is drawn at random, so no period of the program keeps step with it.
 *
 * <ol>
 * <li>The first calls of a context are all timed: its head. But not those of a method whose calls are known to be short, from
 *     its other contexts: programs have many contexts with few calls.
 * <li>Then a call is timed as rarely as its length asks for: the clock adds a few percent to it.
 * <li>A context with many calls has timed so many of them that ever fewer do: its error stays.
 * </ol>
 *
 * <p>What is known of methods is shared by all threads, which may lose each other's figures: only the choice of calls depends on them, and
 * estimates for contexts of which no call was timed before their thread ended.
 */
final class Sampling {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    /** Calls that take so many ns or more are all timed. */
    private static final long LONG = 10000;
    /** Of the shortest calls, one in so many is timed. */
    static final int RARE = Recording.settings.sampled == Settings.AUTO ? 64 : Recording.settings.sampled;
    /** The logarithm of the least number of calls timed for each doubling of their number, after a head. */
    private static final int LOG_SHARE = 4;
    /** The same of the largest number: 1024 calls timed leave an error of 2 % of their deviation. */
    private static final int LOG_ENOUGH = 10;

    /** Bits of an id that tell methods apart: the agent's ids, which begin above those of rewritten jars, have the same others. */
    private static final int ID_BITS = 20;
    /** Timed calls after which a method is known. */
    private static final int KNOWN = 16;
    // Of each method: timed calls and their ns; those that were the first of their contexts, where these have no head.
    private static final int CALLS = 0;
    private static final int NS = 1;
    private static final int FIRST_CALLS = 2;
    private static final int FIRST_NS = 3;
    private static final int LOG_FIGURES = 2;
    private static volatile long[] methods = new long[1 << 10];

    private Sampling() {}

    /** Another recording begins: methods may have other ids. */
    static synchronized void renew() {
        methods = new long[1 << 10];
    }

    /** Where a new context begins: the word that says which call is timed next. -1: it has a head. */
    static long begin(int idPlusOne, int at) {
        long[] methods = Sampling.methods;
        int method = method(idPlusOne);
        if (method < 0 || method >= methods.length || methods[method + CALLS] < KNOWN) {
            return -1;
        }
        long period = basis(methods[method + NS] / methods[method + CALLS]);
        return period == 1 ? -1 : draw(0, at, period);
    }

    /** The call with the number {@code entries} of a node has ended. Period 0: as its length asks for. */
    static void add(Words words, int at, long ns, int idPlusOne, int headCalls, int fixedPeriod) {
        long entries = words.get(at + Format.ENTRIES);
        long covered = words.get(at + Format.NODE_COVERED);
        long head = words.get(at + Format.NODE_HEAD);
        long timed = words.get(at + Format.NODE_TIMED);
        long calls = Math.max(1, entries - covered);
        words.put(at + Format.NODE_TIMED, timed + 1);
        words.put(at + Format.NODE_MIN, Math.min(words.get(at + Format.NODE_MIN), ns));
        words.put(at + Format.NODE_MAX, Math.max(words.get(at + Format.NODE_MAX), ns));
        if (headCalls > 0) {
            know(idPlusOne, ns, head < 0 && timed == 0);
        }
        if (head >= 0 && entries <= headCalls) {
            words.put(at + Format.NODE_HEAD, head + ns);
            words.put(at + Format.NODE_COVERED, entries);
            addDouble(words, at + Format.NODE_SQUARES, (double) ns * ns);
            return;
        }
        long before = head < 0 ? 0 : headCalls;
        long sum = words.get(at + Format.NODE_NS);
        if (head < 0 && timed == 0) {
            words.put(at + Format.NODE_HEAD, ~ns);
        }
        if (calls > 1) {
            double mean = covered > before ? (double) sum / (covered - before)
                : head < 0 ? mean(idPlusOne) : (double) head / Math.max(1, covered);
            addDouble(words, at + Format.NODE_VARIANCE, (double) calls * (calls - 1) * (ns - mean) * (ns - mean));
        }
        sum += calls * ns;
        addDouble(words, at + Format.NODE_SQUARES, (double) calls * ns * ns);
        words.put(at + Format.NODE_NS, sum);
        words.put(at + Format.NODE_COVERED, entries);
        long period = fixedPeriod != Settings.AUTO ? fixedPeriod : period(sum / Math.max(1, entries - before), entries, head < 0);
        words.put(at + Format.NODE_NEXT, next(words.get(at + Format.NODE_NEXT), draw(entries, at, period)));
    }

    /** Whether the call with this number, from 0, comes before the one that is timed next: it is fewer than half as many calls away as the bits can tell. */
    static boolean skips(long entries, long next) {
        return entries - next << 64 - Format.CALL_BITS < 0;
    }

    /** The word of a node, with the number of the call that is timed next. */
    static long next(long word, long call) {
        return word & ~Format.CALL_MASK | call & Format.CALL_MASK;
    }

    /** Calls that take so many ns on average are timed once in so many. */
    private static long period(long mean, long entries, boolean headless) {
        long basis = basis(mean);
        if (basis == 1) {
            return 1;
        }
        long most = headless ? basis : Math.max(1, entries >> LOG_SHARE);
        return Math.max(Math.min(basis, most), Math.min(entries >> LOG_ENOUGH, Settings.MAX_SAMPLED));
    }

    private static long basis(long mean) {
        return mean * RARE <= LONG ? RARE : Math.max(1, LONG / mean);
    }

    /** The number of a call after so many, on average a period later. */
    private static long draw(long entries, int at, long period) {
        long random = (entries + at) * GOLDEN >>> 32;
        return entries + (random * (2 * period - 1) >>> 32);
    }

    /** Where the figures of a method are; -1: it is none, or a value, whose contexts all have a head. */
    private static int method(int idPlusOne) {
        return idPlusOne <= 0 || idPlusOne == Format.LINK_FRAME || LibraryCalls.isValue(idPlusOne - 1) ? -1 : (idPlusOne - 1 & (1 << ID_BITS) - 1) << LOG_FIGURES;
    }

    private static void know(int idPlusOne, long ns, boolean isFirst) {
        int method = method(idPlusOne);
        if (method < 0) {
            return;
        }
        if (method >= methods.length) {
            grow(method);
        }
        long[] methods = Sampling.methods;
        methods[method + CALLS]++;
        methods[method + NS] += ns;
        if (isFirst) {
            methods[method + FIRST_CALLS]++;
            methods[method + FIRST_NS] += ns;
        }
    }

    private static synchronized void grow(int method) {
        if (method >= methods.length) {
            // Not by java.util, whose methods may have probes themselves: this is one.
            long[] more = new long[Integer.highestOneBit(method) << 1];
            System.arraycopy(methods, 0, more, 0, methods.length);
            methods = more;
        }
    }

    /**
     * What a call of a method takes, in ns, for contexts of which none was timed: which calls without a head are the first to be timed is
     * left to chance, so all such contexts have the same share in them.
     */
    static double mean(int idPlusOne) {
        long[] methods = Sampling.methods;
        int method = method(idPlusOne);
        if (method < 0 || method >= methods.length || methods[method + CALLS] == 0) {
            return 0;
        }
        boolean drawn = methods[method + FIRST_CALLS] > 0;
        return (double) methods[method + (drawn ? FIRST_NS : NS)] / methods[method + (drawn ? FIRST_CALLS : CALLS)];
    }

    /**
     * The variance of {@link #mean}, in ns², for a call of such a context. How much the calls differ is not known: as times between events do. The error
     * of the mean is common to all contexts, which have as many calls for each that was the first to be timed as the number of that one is drawn from.
     */
    static double variance(int idPlusOne) {
        double mean = mean(idPlusOne);
        return mean * mean * (2 * basis((long) mean) - 1);
    }

    private static void addDouble(Words words, int at, double summand) {
        words.put(at, Double.doubleToRawLongBits(Double.longBitsToDouble(words.get(at)) + summand));
    }
}
