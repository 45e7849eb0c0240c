package instrument.runtime;

/**
 * Where the CPU time of threads goes, by samples: a timer in each thread's CPU time interrupts it, and a signal handler of the agent adds one to a word of the thread's
 * current context, unless the processor is in a probe. No clock is read at calls.
 *
 * <p>What the handler has to know of a thread is one word, the <em>mark</em>: the number of the current node, and whether a probe runs. The probes of {@link TreeState} write it, at
 * their beginning and at their end. Where compiled code of the recorder lies the handler knows by itself.
 */
final class Samples {
    // Bits of a mark beside the number of a node.
    /** A probe runs. */
    static final long PROBE = 1L << 63;
    /** The thread is not recorded any more. */
    static final long LOST = 1L << 62;

    /** What the agent says of its sampler, as lines of properties; null: there is none. */
    private static String told;

    private Samples() {}

    /** The native methods are registered. Before any settings are read. */
    static void registered(String lines) {
        told = lines;
    }

    static boolean areAvailable() {
        return told != null;
    }

    /** For the profile: lines of KEY=VALUE. */
    static String properties() {
        return told;
    }

    /** The current thread is sampled from now on: into the region at this place, and the nodes whose numbers count from the other one. */
    static native void begin(long region, long nodes, boolean isVirtual);

    /** Whether samples are of what is not recorded. */
    static native void pause(boolean on);

    /** No thread is sampled any more. When this returns no handler writes into the file. */
    static native void end();
}
