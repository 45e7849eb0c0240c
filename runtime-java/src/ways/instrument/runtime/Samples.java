package instrument.runtime;

/**
 * Where the CPU time of threads goes, by samples: a timer in each thread's CPU time interrupts it, and a signal handler of the agent adds one to a word of the thread's
 * current context, unless the processor is in a probe. Without the agent {@link Sampler} does it. No clock is read at calls.
 *
 * <p>What either has to know of a thread is one word, the <em>mark</em>: the number of the current node, and whether a probe runs. The probes of {@link TreeState} write it, at
 * their beginning and at their end. Where compiled code of the recorder lies the handler knows by itself.
 */
final class Samples {
    private Samples() {}

    /** For the profile: lines of KEY=VALUE. */
    static String properties() {
        return Settings.agentSamples() ? Settings.agentSampler : "samples.source=thread\nsamples.period=" + Sampled.PERIOD + "\nsamples.probes=mark\n";
    }

    /** What of the current thread is sampled from now on; null: it is the agent that samples it, or nobody does. */
    static Sampled begin(Thread thread, long number, Words words, Region region, boolean isVirtual) {
        if (Settings.agentSamples()) {
            begin(words.place(region.base), words.place(0), isVirtual);
        } else if (!isVirtual) {
            // Nobody can tell the CPU time of a virtual thread.
            Sampled sampled = new Sampled(thread, number, words, region.base);
            Sampler.add(sampled);
            return sampled;
        }
        return null;
    }

    /** Recording was paused, or goes on: so it is with the agent's samples. Those of {@link Sampler} look for themselves. */
    static void followPauses() {
        synchronized (Pauses.LOCK) {
            if (Settings.agentSamples()) {
                pause(Pauses.isOn());
            }
        }
    }

    /** No thread is sampled any more. When this returns nobody writes samples into the file. */
    static void endAll() {
        if (Settings.agentSamples()) {
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
