import instrument.runtime.ProfilerRuntime;

/**
 * Nanoseconds per call, without and with one entry and exit probe in the shape that is injected: a tiny method in a loop
 * (the best of 200 short rounds: the machine may be shared), and fib(27). Usage: Bench [THREADS]
 */
public class Bench {
    static int sink;

    static int plain(int x) {
        return x * 31 + 7;
    }

    static int probed(int x) {
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

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int probedFib(int n) {
        ProfilerRuntime.methodEntry(70002);
        try {
            int r = n < 2 ? n : probedFib(n - 1) + probedFib(n - 2);
            ProfilerRuntime.methodExit(70002);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(70002);
            throw t;
        }
    }

    static int loop(boolean probes, int n) {
        int x = 1;
        if (probes) {
            for (int i = 0; i < n; i++) x = probed(x);
        } else {
            for (int i = 0; i < n; i++) x = plain(x);
        }
        return x;
    }

    static final int FIB_CALLS = 832_039; // calls made by fib(27), rounded to what the recursion does

    static double best(String what) {
        double best = Double.MAX_VALUE;
        for (int round = 0; round < 200; round++) {
            long calls = what.contains("fib") ? FIB_CALLS : 1_000_000;
            long start = System.nanoTime();
            switch (what) {
                case "tiny": sink += loop(false, (int) calls); break;
                case "tiny+probes": sink += loop(true, (int) calls); break;
                case "fib": sink += fib(27); break;
                default: sink += probedFib(27);
            }
            best = Math.min(best, (System.nanoTime() - start) / (double) calls);
        }
        return best;
    }

    public static void main(String[] args) throws Exception {
        int threads = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            String name = "bench-" + t;
            all[t] = new Thread(() -> {
                for (String what : new String[] {"tiny", "tiny+probes", "fib", "fib+probes"}) {
                    System.out.printf("%s %s %.2f ns%n", Thread.currentThread().getName(), what, best(what));
                }
            }, name);
            all[t].start();
        }
        for (Thread t : all) t.join();
    }
}
