package instrument.runtime;

/**
 * The calls that {@link CalibrationRounds} times, with and without probes: four methods under a fifth. Half of them call the method that was
 * called before, as programs do: the recorder guesses that. The probes are in the shape that is injected.
 *
 * <p>What a call does is a parameter, {@code few} of two of the methods and {@code more} of the others: processors do a part of a probe's work
 * beside that of the program, so the cost of a probe depends on it. The same code does both, since compilers take their time for each.
 */
final class CalibrationCalls {
    /** The id of the method that is open around all rounds: whatever depends on the outermost frame is not measured. */
    static final int OUTERMOST = 5;

    private CalibrationCalls() {}

    static int plain(int calls, long seed, int few, int more) {
        int x = (int) seed;
        for (int i = 0; i < calls; i += 8) {
            x = plainB(plainB(plainA(plainA(x, few), few), few), few);
            x = plainD(plainD(plainC(plainC(x, more), more), more), more);
        }
        return x;
    }

    /** A ns each time, in which a processor does as much at once as programs make it do. */
    private static int body(int x, int times) {
        int y = x;
        int z = x;
        for (int i = 0; i < times; i++) {
            y = y * 31 + i;
            z = (z ^ i) + x;
        }
        return y ^ z;
    }

    private static int plainA(int x, int times) {
        return body(x * 31 + 7, times);
    }

    private static int plainB(int x, int times) {
        return body(x * 17 + 5, times);
    }

    private static int plainC(int x, int times) {
        return body(x, times);
    }

    private static int plainD(int x, int times) {
        return body(x, times);
    }

    static int probed(int calls, long seed, int few, int more) {
        ProfilerRuntime.methodEntry(0);
        try {
            int x = (int) seed;
            for (int i = 0; i < calls; i += 8) {
                x = probedB(probedB(probedA(probedA(x, few), few), few), few);
                x = probedD(probedD(probedC(probedC(x, more), more), more), more);
            }
            ProfilerRuntime.methodExit(0);
            return x;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(0);
            throw t;
        }
    }

    private static int probedA(int x, int times) {
        ProfilerRuntime.methodEntry(1);
        try {
            int y = body(x * 31 + 7, times);
            ProfilerRuntime.methodExit(1);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(1);
            throw t;
        }
    }

    private static int probedB(int x, int times) {
        ProfilerRuntime.methodEntry(2);
        try {
            int y = body(x * 17 + 5, times);
            ProfilerRuntime.methodExit(2);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(2);
            throw t;
        }
    }

    private static int probedC(int x, int times) {
        ProfilerRuntime.methodEntry(3);
        try {
            int y = body(x, times);
            ProfilerRuntime.methodExit(3);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(3);
            throw t;
        }
    }

    private static int probedD(int x, int times) {
        ProfilerRuntime.methodEntry(4);
        try {
            int y = body(x, times);
            ProfilerRuntime.methodExit(4);
            return y;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(4);
            throw t;
        }
    }
}
