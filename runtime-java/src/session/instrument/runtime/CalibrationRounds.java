package instrument.runtime;

import java.util.Arrays;

/**
 * Rounds of calls without probes and the same with them, on a state on trial. The difference is what a pair costs; by what the recorder
 * has charged to the calls more than they take is the inner part of it, the rest is the outer.
 *
 * <p>The first rounds are interpreted or compiled for the time being, some are disturbed. Those count, as steady ones, that are not far from the
 * cheapest and came when the cost had fallen to it. The figures are their medians.
 */
final class CalibrationRounds {
    private static final int CALLS = 400;
    private static final int MOST = 4096;
    /** Rounds this much dearer than the cheapest were disturbed. */
    private static final double STEADY = 1.15;
    /** As soon as a round is this near to the cheapest, the compiler has done its best. */
    private static final double COMPILED = 1.03;
    /** A round that takes longer than so many times the one before has been interrupted: no more than that was this thread's. */
    private static final int INTERRUPTED = 2;
    /** Rounds between two looks whether there are enough. */
    private static final int CHECK = 16;

    private static int sink;

    // What the calls do.
    private final int few;
    private final int more;

    private final double[] charged = new double[MOST];
    private final double[] chargedCpu = new double[MOST];
    private final double[] pair = new double[MOST];
    /** Calls that the charged time stands for in a round in which not all were timed. */
    private final double[] covered = new double[MOST];
    private int count;
    /** The calls without the probes, at their best. */
    private double plain = Double.MAX_VALUE;
    private double least = Double.MAX_VALUE;

    private CalibrationRounds(int few, int more) {
        this.few = few;
        this.more = more;
    }

    /** Half of the calls are empty. */
    static CalibrationRounds ofShort() {
        return new CalibrationRounds(0, 4);
    }

    /** Calls that all do something. The cost of their probes falls faster at first than later, so there is one kind in between. */
    static CalibrationRounds[] ofLonger() {
        return new CalibrationRounds[] {new CalibrationRounds(3, 3), new CalibrationRounds(10, 10)};
    }

    /**
     * Goes on until so many rounds are steady and nothing has become cheaper for so long, or the time is up: ns of this thread, not
     * counting those of others in between, and at the latest when the clock says so. The rounds of {@code rare} time few calls, in
     * turn with the others: what is compiled has seen both.
     */
    static void run(
            ThreadState state,
            CalibrationRounds all,
            CalibrationRounds[] rare,
            int enough,
            long budget,
            long stable,
            long latest) {
        long spent = 0;
        long improved = 0;
        long last = budget / CHECK;
        for (int i = 1; spent < budget; i++) {
            long began = Clock.now();
            if (began >= latest) {
                return;
            }
            state.timeAll(true);
            boolean cheaper = all.round(state);
            state.timeAll(rare.length == 0);
            for (CalibrationRounds few : rare) {
                cheaper |= few.round(state);
            }
            last = Math.min(Clock.now() - began, INTERRUPTED * last);
            spent += last;
            if (cheaper) {
                improved = spent;
            }
            if (i % CHECK == 0 && spent - improved > stable && all.steady() >= enough
                    && leastSteady(rare) >= enough) {
                return;
            }
        }
    }

    /** Steady rounds of the kind that has fewest. */
    static int leastSteady(CalibrationRounds... kinds) {
        int least = Integer.MAX_VALUE;
        for (CalibrationRounds kind : kinds) {
            least = Math.min(least, kind.steady());
        }
        return least;
    }

    /** Whether it was the cheapest by far. */
    private boolean round(ThreadState state) {
        double before = least;
        measure(state);
        return least * COMPILED < before;
    }

    private void measure(ThreadState state) {
        long began = Clock.now();
        sink += CalibrationCalls.plain(CALLS, began, few, more);
        long between = Clock.now();
        long before = state.charged();
        long cpuBefore = state.chargedCpu();
        long coveredBefore = state.coveredCalls();
        long start = Clock.now();
        sink += CalibrationCalls.probed(CALLS, start, few, more);
        long stop = Clock.now();
        long ns = state.charged() - before;
        plain = Math.min(plain, (double) (between - began) / CALLS);
        if (count == MOST) {
            forget();
        }
        if (before >= 0 && ns > 0 && count < MOST) {
            charged[count] = (double) ns / CALLS;
            chargedCpu[count] = (double) (state.chargedCpu() - cpuBefore) / CALLS;
            covered[count] = state.coveredCalls() - coveredBefore;
            pair[count] = (double) (stop - start) / (CALLS + 1);
            least = Math.min(least, pair[count]);
            count++;
        }
    }

    /** Makes room where the compiler was late: rounds that do not count now never will, since the cheapest only gets cheaper. */
    private void forget() {
        double[][] columns = {charged, chargedCpu, covered, pair};
        double[][] kept = new double[columns.length][];
        for (int i = 0; i < columns.length; i++) {
            kept[i] = steady(columns[i]);
        }
        count = kept[0].length;
        for (int i = 0; i < columns.length; i++) {
            System.arraycopy(kept[i], 0, columns[i], 0, count);
        }
    }

    // ---- what was found, in ns a call ----

    /** Rounds that count. */
    int steady() {
        return steady(pair).length;
    }

    /** What a call takes without probes. */
    double plain() {
        return plain;
    }

    /** What a pair costs. */
    double cost() {
        return typical(pair) - plain;
    }

    double inner() {
        return typical(charged) - plain;
    }

    double innerCpu() {
        return typical(chargedCpu) - plain;
    }

    /** Of a call that is one of the few that are timed: the processor did not expect it to be. */
    double innerOfRare() {
        double[] ns = steady(charged);
        double[] calls = steady(covered);
        double sum = 0;
        double all = 0;
        for (int i = 0; i < ns.length; i++) {
            sum += ns[i] * CALLS;
            all += calls[i];
        }
        return all == 0 ? 0 : sum / all - plain;
    }

    /** Half the distance of the quartiles of what a pair costs. */
    double spread() {
        double[] steady = sorted(pair);
        return steady.length == 0 ? 0 : (steady[steady.length * 3 / 4] - steady[steady.length / 4]) / 2;
    }

    private double typical(double[] values) {
        double[] steady = sorted(values);
        return steady.length == 0 ? 0 : steady[steady.length / 2];
    }

    private double[] sorted(double[] values) {
        double[] steady = steady(values);
        Arrays.sort(steady);
        return steady;
    }

    /** Of the steady rounds. */
    private double[] steady(double[] values) {
        double[] steady = new double[count];
        int found = 0;
        boolean compiled = false;
        for (int i = 0; i < count; i++) {
            compiled |= pair[i] <= COMPILED * least;
            if (compiled && pair[i] <= STEADY * least) {
                steady[found++] = values[i];
            }
        }
        return Arrays.copyOf(steady, found);
    }

    // ---- single costs ----

    /** One reading of the clock. */
    static double clock(long budget) {
        double least = Double.MAX_VALUE;
        for (long end = Clock.now() + budget; Clock.now() < end;) {
            long start = Clock.now();
            sink += readings();
            least = Math.min(least, (double) (Clock.now() - start) / CALLS);
        }
        return least;
    }

    /** Not a part of the loop around it: what is called often is compiled soon. */
    private static int readings() {
        long sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += Clock.now();
        }
        return (int) sum;
    }

    /** One allocation event. */
    static double allocation(long budget) {
        double least = Double.MAX_VALUE;
        Object object = new Object();
        for (long end = Clock.now() + budget; Clock.now() < end;) {
            long start = Clock.now();
            allocations(object);
            least = Math.min(least, (double) (Clock.now() - start) / CALLS);
        }
        return least;
    }

    private static void allocations(Object object) {
        for (int i = 0; i < CALLS; i++) {
            HeapProxy.ObjectAlloc(object);
        }
    }
}
