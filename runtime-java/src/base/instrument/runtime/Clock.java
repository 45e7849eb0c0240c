package instrument.runtime;

/**
 * The clock of everything that is recorded. Without the agent it is {@link System#nanoTime}; the agent may put a cheaper one in its
 * place, which shows the same moments, before the first reading.
 */
final class Clock {
    /** What the agent says of its clock, as lines of properties; null: it has registered none. */
    static String told;
    /** {@link #ahead} when the recording began; 0 for the first one, before which the clock was set. */
    private static long drift;

    private Clock() {}

    /** ns on the monotonic clock. */
    static long now() {
        return Source.NATIVE ? ticks() : System.nanoTime();
    }

    /** {@link #ticks} has been registered. */
    static void registered(String lines) {
        told = lines;
    }

    /** For the profile: lines of KEY=VALUE. */
    static String properties() {
        return Source.NATIVE ? told : "clock=monotonic\n";
    }

    /** A recording begins: its clock is true now, wherever it is. */
    static void renew() {
        drift = Source.NATIVE ? ahead() : 0;
    }

    /** How far the agent's clock went from the virtual machine's since the recording began, for the profile; null: it is the same clock. */
    static String drift() {
        return Source.NATIVE ? "clock.drift=" + (ahead() - drift) + "\n" : null;
    }

    /** ns that the agent's clock is ahead. The best of some readings: the thread may be interrupted in between. */
    private static long ahead() {
        long narrowest = Long.MAX_VALUE;
        long best = 0;
        for (int i = 0; i < 20; i++) {
            long before = System.nanoTime();
            long now = ticks();
            long width = System.nanoTime() - before;
            if (width < narrowest) {
                narrowest = width;
                best = now - before - width / 2;
            }
        }
        return best;
    }

    static native long ticks();

    /** Set up at the first reading, and a constant to the compiler from then on. */
    private static final class Source {
        static final boolean NATIVE = told != null;
    }
}
