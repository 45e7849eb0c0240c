package instrument.runtime;

/**
 * Where the CPU time of threads goes, by samples: a timer in each thread's CPU time interrupts it, and a signal handler of the agent adds one to a word of the thread's
 * current context, unless the processor is in a probe. Without the agent {@link Sampler} does it. No clock is read at calls.
 *
 * <p>What either has to know of a thread is one word, the <em>mark</em>: the number of the current node, and whether a probe runs. The probes of {@link TreeState} write it, at
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
        return areOfAgent() || Sampler.isPossible();
    }

    /** Whether the agent has a sampler: else it is a thread of the recorder. */
    static boolean areOfAgent() {
        return told != null;
    }

    /** For the profile: lines of KEY=VALUE. */
    static String properties() {
        return told != null ? told : "samples.source=thread\nsamples.period=" + Sampler.PERIOD + "\nsamples.probes=mark\n";
    }

    /** What of the current thread is sampled from now on; null: it is the agent that samples it, or nobody does. */
    static Sampled begin(Thread thread, Words words, Region region, boolean isVirtual) {
        if (areOfAgent()) {
            begin(words.place(region.base), words.place(0), isVirtual);
        } else if (!isVirtual) {
            // Nobody can tell the CPU time of a virtual thread.
            Sampled sampled = new Sampled(thread, words, region.base);
            Sampler.add(sampled);
            return sampled;
        }
        return null;
    }

    /** Whether samples are of what is not recorded. */
    static void pauseAll(boolean on) {
        if (areOfAgent()) {
            pause(on);
        } else {
            Sampler.pause(on);
        }
    }

    /** No thread is sampled any more. When this returns nobody writes samples into the file. */
    static void endAll() {
        if (areOfAgent()) {
            end();
        } else {
            Sampler.end();
        }
    }

    // ---- what the agent registers ----

    /** The current thread is sampled from now on: into the region at this place, and the nodes whose numbers count from the other one. */
    private static native void begin(long region, long nodes, boolean isVirtual);

    private static native void pause(boolean on);

    private static native void end();
}
