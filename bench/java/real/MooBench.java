/**
 * What MooBench runs, the benchmark of monitoring frameworks of the University of Kiel, with its default settings: two million calls of a
 * method that calls itself to a depth of ten, where the innermost call reads the clock until its time is over, which is none.
 */
public final class MooBench implements Real.Program {
    private static final int CALLS = 2_000_000;
    private static final int DEPTH = 10;
    private static final long METHOD_TIME = 0;

    @Override
    public long round() {
        long before = System.nanoTime();
        long late = 0;
        for (int i = 0; i < CALLS; i++) {
            late += monitoredMethod(METHOD_TIME, DEPTH) >= before ? 1 : 0;
        }
        return late;
    }

    private long monitoredMethod(long methodTime, int depth) {
        if (depth > 1) {
            return monitoredMethod(methodTime, depth - 1);
        }
        long end = System.nanoTime() + methodTime;
        long now;
        do {
            now = System.nanoTime();
        } while (now < end);
        return now;
    }
}
