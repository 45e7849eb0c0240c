package instrument.runtime;

/**
 * The calls that {@link CalibrationRounds} times, with and without probes: four methods under a fifth. Half of the calls are empty, half
 * do something: processors do a part of a probe's work beside that of the program. Half of them call the method that was called before, as
 * programs do: the recorder guesses that. The probes are in the shape that is injected.
 */
final class CalibrationCalls {
    /** The id of the method that calls the others; what it is charged with is not counted. */
    static final int CALLER = 0;
    /** The id of the method that is open around all rounds: whatever depends on the outermost frame is not measured. */
    static final int OUTERMOST = 5;

    private static final int BODY = 6;

    private CalibrationCalls() {}

    static int plain(int calls, long seed) {
        int x = (int) seed;
        for (int i = 0; i < calls; i += 8) {
            x = plainD(plainD(plainC(plainC(plainB(plainB(plainA(plainA(x))))))));
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

    static int probed(int calls, long seed) {
        ProfilerRuntime.methodEntry(0);
        try {
            int x = (int) seed;
            for (int i = 0; i < calls; i += 8) {
                x = probedD(probedD(probedC(probedC(probedB(probedB(probedA(probedA(x))))))));
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
