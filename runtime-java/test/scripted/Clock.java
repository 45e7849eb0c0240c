package instrument.runtime;

import java.util.concurrent.atomic.AtomicLong;

/**
 * In the place of the runtime's own: time stands still but where a test program lets it pass, so that every time is known exactly. Or
 * each reading takes the ns that the system property {@code timed.step} says.
 */
public final class Clock {
    static String told;
    private static final long STEP = Long.getLong("timed.step", 0);
    private static final AtomicLong NOW = new AtomicLong(1_000_000_000L);

    private Clock() {}

    /** Lets so many ns pass. */
    public static void pass(long ns) {
        NOW.addAndGet(ns);
    }

    public static long now() {
        return STEP == 0 ? NOW.get() : NOW.addAndGet(STEP);
    }

    static void registered(String lines) {
        told = lines;
    }

    static String properties() {
        return "clock=monotonic\n";
    }

    static String drift() {
        return null;
    }
}
