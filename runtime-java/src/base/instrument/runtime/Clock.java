package instrument.runtime;

/**
 * The clock of everything that is recorded. Without the agent it is {@link System#nanoTime}; the agent may put a cheaper one in its
 * place, which shows the same moments, before the first reading.
 */
final class Clock {
    /** What the agent says of its clock, as lines of properties; null: it has registered none. */
    static String told;

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

    /**
     * Where the agent's clock is by now, as the virtual machine's sees it, for the profile; null: it is the same clock. The
     * best of some readings: the thread may be interrupted in between.
     */
    static String drift() {
        if (!Source.NATIVE) {
            return null;
        }
        long narrowest = Long.MAX_VALUE;
        long drift = 0;
        for (int i = 0; i < 20; i++) {
            long before = System.nanoTime();
            long now = ticks();
            long width = System.nanoTime() - before;
            if (width < narrowest) {
                narrowest = width;
                drift = now - before - width / 2;
            }
        }
        return "clock.drift=" + drift + "\n";
    }

    static native long ticks();

    /** Set up at the first reading, and a constant to the compiler from then on. */
    private static final class Source {
        static final boolean NATIVE = told != null;
    }
}
