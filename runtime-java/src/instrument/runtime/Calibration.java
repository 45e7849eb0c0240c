package instrument.runtime;

import java.util.Arrays;

/**
 * Measures what the probes cost, before the first event of the program and again at its end; under the agent, where nobody shall wait for
 * it, when the program has run for a while, if it does, and at its end. In the way to record that is in use, on regions that
 * no reader sees. The probes are called in the shape that is injected, from four methods under a fifth.
 *
 * <ol>
 * <li>A round times the loop of calls without probes and the same with them. The difference is what a pair costs; by what
 * the recorder has charged to the calls more than they take is the inner part of it, the rest is the outer. Half of the
 * calls are empty, half do something: processors do a part of a probe's work beside that of the program.
 * <li>Rounds go on until the time is up. The first ones are interpreted or compiled for the time being, some are
 * disturbed: those count whose cost is not far from the least.
 * <li>The medians of those are written as properties, with half the distance of their quartiles.
 * </ol>
 */
final class Calibration {
    private static final int CALLS = 400;
    private static final int BODY = 6;
    private static final int MOST_ROUNDS = 4096;
    /** Rounds this much dearer than the cheapest were disturbed, or were not compiled yet. */
    private static final double STEADY = 1.15;

    private static int sink;
    /** What a pair cost in the calibration that the file has; 0: none was. */
    private static double cheapest;

    private final ThreadState state;
    private final double[] charged = new double[MOST_ROUNDS];
    private final double[] pair = new double[MOST_ROUNDS];
    /** Calls that were timed in a round in which not all were. */
    private final double[] timed = new double[MOST_ROUNDS];
    private int rounds;
    private double cost;
    /** The calls without the probes, at their best. */
    private double plain = Double.MAX_VALUE;

    private Calibration(ThreadState state) {
        this.state = state;
    }

    /** Calibrates in the time that the settings allow; the thread's own state is put back afterwards. */
    static void start(ProfileFile file, Settings settings) {
        run(file, settings, settings.calibrate * 1000000L);
    }

    /**
     * Calibrates once more when the program ends: by now the compiler has done its best with the probes, as with the program.
     * Takes a third of the time.
     */
    static void end(ProfileFile file, Settings settings) {
        run(file, settings, settings.calibrate * 1000000L / 3);
    }

    private static void run(ProfileFile file, Settings settings, long budget) {
        // A pause would make the probes cheap.
        synchronized (Pauses.LOCK) {
            runAlone(file, settings, budget);
        }
    }

    private static void runAlone(ProfileFile file, Settings settings, long budget) {
        ThreadState scratch = budget == 0 ? null : Threads.scratch(Thread.currentThread());
        if (scratch == null) {
            return;
        }
        Calibration calibration = new Calibration(scratch);
        String found;
        scratch.tryOut();
        ProfilerRuntime.onTrial(scratch);
        try {
            found = calibration.measure(settings, budget);
        } finally {
            ProfilerRuntime.onTrial(null);
            // Another thread may have moved it to another place: there it is nobody's from now on.
            scratch.thread.clear();
            scratch.release();
        }
        if (found != null && (cheapest == 0 || calibration.cost < cheapest)) {
            cheapest = calibration.cost;
            file.write(Format.PROPERTIES, found);
        }
    }

    /** What was found; null: nothing, for lack of time. */
    private String measure(Settings settings, long budget) {
        StringBuilder text = new StringBuilder();
        boolean sampled = settings.sampled > 1;
        Calibration rare = sampled ? new Calibration(state) : null;
        rounds(budget * 7 / 10, rare);
        if (rounds == 0 || sampled && rare.rounds == 0) {
            return null;
        }
        cost = typical(pair) - plain;
        double inner = typical(charged) - plain;
        Host.line(text, "calibration.outer", decimal(Math.max(0, cost - inner)));
        Host.line(text, "calibration.spread", decimal(spread()));
        Host.line(text, "calibration.rounds", Integer.toString(rounds));
        if (sampled) {
            inner = rare.rarelyTimed() - plain;
            // One call in N is timed even so. The time of the others is not measured, so nothing of the cost is inside.
            double share = 1.0 / settings.sampled;
            double untimed = (rare.typical(rare.pair) - plain - share * cost) / (1 - share);
            Host.line(text, "calibration.inner.untimed", "0");
            Host.line(text, "calibration.outer.untimed", decimal(Math.max(0, untimed)));
        }
        Host.line(text, "calibration.inner", decimal(Math.max(0, inner)));
        Host.line(text, "calibration.clock", decimal(clock(budget / 10)));
        Host.line(text, "calibration.allocation", decimal(allocation(budget * 2 / 10)));
        return text.toString();
    }

    /** Rounds in which all calls are timed, in turn with rounds in which few are: what is compiled has seen both. */
    private void rounds(long budget, Calibration rare) {
        long end = Clock.now() + budget;
        while (rounds < MOST_ROUNDS && Clock.now() < end) {
            state.timeAll(true);
            round();
            if (rare != null) {
                state.timeAll(false);
                rare.round();
            }
        }
    }

    private void round() {
        long began = Clock.now();
        sink += plain(CALLS, began);
        long between = Clock.now();
        long before = state.charged();
        long timedBefore = state.timedCalls();
        long start = Clock.now();
        sink += probed(CALLS, start);
        long stop = Clock.now();
        long ns = state.charged() - before;
        if (before >= 0 && ns > 0) {
            charged[rounds] = (double) ns / CALLS;
            timed[rounds] = state.timedCalls() - timedBefore;
            pair[rounds] = (double) (stop - start) / (CALLS + 1);
            rounds = Math.min(rounds + 1, MOST_ROUNDS - 1);
        }
        plain = Math.min(plain, (double) (between - began) / CALLS);
    }

    /** The median of the steady rounds. */
    private double typical(double[] values) {
        double[] steady = steady(values);
        return steady.length == 0 ? 0 : steady[steady.length / 2];
    }

    /** What a call is charged with that is one of the few that are timed: the processor did not expect it to be. */
    private double rarelyTimed() {
        double least = Double.MAX_VALUE;
        for (int i = 0; i < rounds; i++) {
            least = Math.min(least, pair[i]);
        }
        double ns = 0;
        double calls = 0;
        for (int i = 0; i < rounds; i++) {
            if (pair[i] <= STEADY * least) {
                ns += charged[i] * CALLS;
                calls += timed[i];
            }
        }
        return calls == 0 ? plain : ns / calls;
    }

    private double spread() {
        double[] steady = steady(pair);
        return steady.length == 0 ? 0 : (steady[steady.length * 3 / 4] - steady[steady.length / 4]) / 2;
    }

    private double[] steady(double[] values) {
        double least = Double.MAX_VALUE;
        for (int i = 0; i < rounds; i++) {
            least = Math.min(least, pair[i]);
        }
        double[] steady = new double[rounds];
        int count = 0;
        for (int i = 0; i < rounds; i++) {
            if (pair[i] <= STEADY * least) {
                steady[count++] = values[i];
            }
        }
        steady = Arrays.copyOf(steady, count);
        Arrays.sort(steady);
        return steady;
    }

    private static double clock(long budget) {
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

    private static double allocation(long budget) {
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

    /** With two digits, and a point whatever the locale says. */
    private static String decimal(double ns) {
        long hundredths = ns >= 1e9 ? 0 : Math.round(ns * 100);
        return hundredths / 100 + "." + hundredths / 10 % 10 + hundredths % 10;
    }

    // ---- the shape that is injected ----

    private static int plain(int calls, long seed) {
        int x = (int) seed;
        for (int i = 0; i < calls; i += 4) {
            x = plainD(plainC(plainB(plainA(x))));
        }
        return x;
    }

    /** Some 5 ns. */
    private static int body(int x) {
        int y = x;
        for (int i = 0; i < BODY; i++) {
            y = y * 31 + i;
        }
        return y;
    }

    private static int plainA(int x) {
        return x * 31 + 7;
    }

    private static int plainB(int x) {
        return x * 17 + 5;
    }

    private static int plainC(int x) {
        return body(x);
    }

    private static int plainD(int x) {
        return body(x);
    }

    private static int probed(int calls, long seed) {
        ProfilerRuntime.methodEntry(0);
        try {
            int x = (int) seed;
            for (int i = 0; i < calls; i += 4) {
                x = probedD(probedC(probedB(probedA(x))));
            }
            ProfilerRuntime.methodExit(0);
            return x;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(0);
            throw t;
        }
    }

    private static int probedA(int x) {
        ProfilerRuntime.methodEntry(1);
        try {
            int y = x * 31 + 7;
            ProfilerRuntime.methodExit(1);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(1);
            throw t;
        }
    }

    private static int probedB(int x) {
        ProfilerRuntime.methodEntry(2);
        try {
            int y = x * 17 + 5;
            ProfilerRuntime.methodExit(2);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(2);
            throw t;
        }
    }

    private static int probedC(int x) {
        ProfilerRuntime.methodEntry(3);
        try {
            int y = body(x);
            ProfilerRuntime.methodExit(3);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(3);
            throw t;
        }
    }

    private static int probedD(int x) {
        ProfilerRuntime.methodEntry(4);
        try {
            int y = body(x);
            ProfilerRuntime.methodExit(4);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(4);
            throw t;
        }
    }
}
