package instrument.runtime;

/**
 * Where the CPU time of threads goes, by samples: a timer in each thread's CPU time interrupts it, and a signal handler of the agent adds one to a word of the thread's
 * current context, unless the processor is in a probe. Without the agent {@link Sampler} does it. No clock is read at calls.
 *
 * <p>What either has to know of a thread is one word, the <em>mark</em>: the number of the current node, and whether a probe runs. The probes of {@link TreeState} write it, at
 * their beginning and at their end. Where compiled code of the recorder lies the handler knows by itself.
 *
 * <p>Those of {@link CountsState} write no mark: the handler finds the current method on top of the shadow stack, and is told by the compiler which instructions of a method are a
 * probe. In the interpreter a probe is its method's.
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
            begin(words.place(region.base), words.place(0), 0, false, isVirtual);
        } else if (!isVirtual) {
            // Nobody can tell the CPU time of a virtual thread.
            Sampled sampled = new Sampled(thread, number, words, region.base);
            Sampler.add(sampled);
            return sampled;
        }
        return null;
    }

    /**
     * What of the current thread is sampled from now on, by methods, goes there: only the agent does it, which looks for the method on the shadow stack. {@code before}: where
     * the counts were until now, or null; its samples move as well, with those that came after it was copied.
     */
    static void beginCounts(Region samples, Region counts, Region before, boolean isVirtual) {
        long from = before == null ? 0 : before.words.place(before.base);
        begin(samples.words.place(samples.base), counts.words.place(counts.base), from, true, isVirtual);
    }

    /** A region for samples of a thread or, of the kind {@link Format#ENDED}, of a sum; null: there is no room. */
    static Region allocate(Words words, int kind, int ordinal) {
        Region samples = words == null ? Recording.file.allocate(Format.SAMPLES_LENGTH) : Recording.file.allocate(words, Format.SAMPLES_LENGTH);
        if (samples == null) {
            return null;
        }
        // Not in the handler: a full disk ends the process that writes to a new page.
        samples.touch();
        if (kind != Format.FREE) {
            samples.publish(Format.THREAD_SAMPLES, ordinal);
        }
        return samples;
    }

    /** Moves what samples met in no context, and the CPU time, to a sum of ended threads. */
    static void fold(Region from, Region to, Region header) {
        // Those of all.
        to.put(Format.SAMPLES_PERIOD, from.get(Format.SAMPLES_PERIOD));
        to.put(Format.SAMPLES_SOURCE, from.get(Format.SAMPLES_SOURCE));
        for (int word = Format.SAMPLES_SUMS; word < Format.SAMPLES_END; word++) {
            Journal.move(header, to, word, from.get(word), from, word);
        }
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

    /** The current thread is sampled from now on: into the region at this place, and the nodes whose numbers count from the other one, or the records of that region of counts, which was there before. */
    private static native void begin(long region, long figures, long before, boolean isCounts, boolean isVirtual);

    private static native void pause(boolean on);

    private static native void end();
}
