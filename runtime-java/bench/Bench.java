import instrument.runtime.ProfilerRuntime;

/**
 * What one entry and exit probe cost, in the shape that is injected, beside two readings of the clock in the same run: a
 * tiny static method in a loop, a recursion ten deep, and fib(27); each the best of short rounds, for the machine may be
 * shared. Usage: java -Dinstrument.record=MODE Bench [THREADS [ROUNDS [paused|resumed]]]. A trace grows by 16 bytes a call.
 */
public class Bench {
    static int sink;
    static long clocks;

    static int tiny(int x) {
        return x * 31 + 7;
    }

    static int probedTiny(int x) {
        ProfilerRuntime.methodEntry(70001);
        try {
            int r = x * 31 + 7;
            ProfilerRuntime.methodExit(70001);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(70001);
            throw t;
        }
    }

    static int deep(int n) {
        return n == 1 ? 1 : deep(n - 1) + 1;
    }

    static int probedDeep(int n) {
        ProfilerRuntime.methodEntry(70002);
        try {
            int r = n == 1 ? 1 : probedDeep(n - 1) + 1;
            ProfilerRuntime.methodExit(70002);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(70002);
            throw t;
        }
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int probedFib(int n) {
        ProfilerRuntime.methodEntry(70003);
        try {
            int r = n < 2 ? n : probedFib(n - 1) + probedFib(n - 2);
            ProfilerRuntime.methodExit(70003);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(70003);
            throw t;
        }
    }

    static final int LOOPS = 200_000;
    static final int FIB = 23;
    /** Calls that fib(FIB) makes: 2 fib(FIB + 1) - 1. */
    static final int FIB_CALLS = 2 * fib(FIB + 1) - 1;

    /** Two readings of the clock, as a pair of probes makes them. */
    static long clocks(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            long start = System.nanoTime();
            sum += System.nanoTime() - start;
        }
        return sum;
    }

    static int run(int what) {
        int x = 1;
        switch (what) {
            case 0: clocks += clocks(LOOPS); return LOOPS;
            case 1: for (int i = 0; i < LOOPS; i++) x = tiny(x); sink += x; return LOOPS;
            case 2: for (int i = 0; i < LOOPS; i++) x = probedTiny(x); sink += x; return LOOPS;
            case 3: for (int i = 0; i < LOOPS; i += 10) x += deep(10); sink += x; return LOOPS;
            case 4: for (int i = 0; i < LOOPS; i += 10) x += probedDeep(10); sink += x; return LOOPS;
            case 5: sink += fib(FIB); return FIB_CALLS;
            default: sink += probedFib(FIB); return FIB_CALLS;
        }
    }

    static void measure(int rounds) {
        double[] best = new double[7];
        java.util.Arrays.fill(best, Double.MAX_VALUE);
        // Interleaved: a disturbance meets all alike.
        for (int round = 0; round < rounds; round++) {
            for (int what = 0; what < best.length; what++) {
                long start = System.nanoTime();
                int calls = run(what);
                best[what] = Math.min(best[what], (System.nanoTime() - start) / (double) calls);
            }
        }
        StringBuilder line = new StringBuilder(Thread.currentThread().getName());
        line.append(String.format(": two clocks %.2f ns", best[0]));
        String[] shapes = {"tiny", "deep", "fib"};
        for (int i = 0; i < shapes.length; i++) {
            double cost = best[2 * i + 2] - best[2 * i + 1];
            line.append(String.format("; %s +%.2f ns (%.2f)", shapes[i], cost, cost / best[0]));
        }
        System.out.println(line);
    }

    public static void main(String[] args) throws Exception {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 60;
        if (args.length > 2) {
            // As a request to the agent does.
            probedTiny(1);
            java.lang.reflect.Method set = Class.forName("instrument.runtime.Pauses").getDeclaredMethod("set", boolean.class);
            set.setAccessible(true);
            set.invoke(null, true);
            if (args[2].equals("resumed")) {
                set.invoke(null, false);
            }
        }
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            all[t] = new Thread(() -> measure(rounds), "bench-" + t);
            all[t].start();
        }
        for (Thread t : all) t.join();
    }
}
