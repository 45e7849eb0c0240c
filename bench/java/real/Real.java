import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * Runs a real program round by round in one thread: rounds until it is compiled, then rounds that are measured. Prints ns of CPU
 * time a round of that thread (the fastest, and the median), of the clock (the fastest), and what the last round computed.
 */
public final class Real {
    /** One of the programs. */
    public interface Program {
        /** Does the same work every time; the same result every time. */
        long round() throws Exception;
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Real() {}

    /**
     * Arguments: class of the program, ms of rounds until compiled, ms of rounds that are measured; or, to count calls, the class and
     * {@code rounds=N}; or, to print the ns of CPU time of each round until a line can be read, the class and {@code lines}.
     */
    public static void main(String[] arguments) throws Exception {
        Program program = (Program) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
        if (arguments[1].startsWith("rounds=")) {
            for (int i = Integer.parseInt(arguments[1].substring(7)); i > 0; i--) {
                program.round();
            }
            System.exit(0);
        }
        long expected = program.round();
        if (arguments[1].equals("lines")) {
            while (System.in.available() == 0) {
                long start = THREADS.getCurrentThreadCpuTime();
                check(expected, measured(program));
                System.out.println(THREADS.getCurrentThreadCpuTime() - start);
            }
            System.exit(0);
        }
        for (long end = System.nanoTime() + millis(arguments[1]); System.nanoTime() < end;) {
            check(expected, program.round());
        }
        long[] times = new long[1000];
        long wall = Long.MAX_VALUE;
        int rounds = 0;
        for (long end = System.nanoTime() + millis(arguments[2]); rounds < 3 || System.nanoTime() < end && rounds < times.length;) {
            long began = System.nanoTime();
            long start = THREADS.getCurrentThreadCpuTime();
            check(expected, measured(program));
            times[rounds++] = THREADS.getCurrentThreadCpuTime() - start;
            wall = Math.min(wall, System.nanoTime() - began);
        }
        times = Arrays.copyOf(times, rounds);
        Arrays.sort(times);
        System.out.println("rounds " + rounds + " fastest " + times[0] + " median " + times[rounds / 2] + " wall " + wall + " result " + expected);
        // Threads of the programs need not end.
        System.exit(0);
    }

    /** The calls below this method are those of the rounds that are measured. */
    private static long measured(Program program) throws Exception {
        return program.round();
    }

    private static long millis(String argument) {
        return Long.parseLong(argument) * 1000000;
    }

    private static void check(long expected, long result) {
        if (result != expected) {
            throw new AssertionError("a round computed " + result + " instead of " + expected);
        }
    }
}
