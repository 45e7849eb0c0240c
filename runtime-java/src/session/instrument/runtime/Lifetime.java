package instrument.runtime;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/** Writes into the file when the virtual machine begins to shut down, and, if asked to, now and then that it lives; calibrates late. */
final class Lifetime implements Runnable, LongSupplier, IntConsumer {
    // Of the recording that goes on.
    private static Thread hook;
    private static final List<WeakReference<Thread>> tasks = new ArrayList<WeakReference<Thread>>();

    private final ProfileFile file;
    private final Settings settings;
    private final int task;
    /** Number of the recording. */
    private final int session = Recording.number;

    /** Nothing else refers to what a {@link Keeper} is to call; null: this copy has threads of its own. */
    private static Kept kept;

    /** ms before the next calibration, and what was waited for the end of a pause. */
    private long pause = Settings.underAgent ? SOONER : LATER;
    private long waited;
    /** When the last burst began, in ns; 0: there was none. */
    private long begin;
    private boolean rests;

    // Tasks, each on a thread of its own where the copy has them.
    private static final int HOOK = 0;
    private static final int BEAT = 1;
    private static final int CALIBRATE = 2;
    private static final int BURSTS = 3;
    private static final int SAMPLE = 4;
    /** ms after the start: most of what starts a program is over, and what was killed before has hardly a time worth correcting. */
    private static final int LATER = 5000;
    /** The same under the agent, where somebody may wait for the figures: {@code --budget} goes by them. */
    private static final int SOONER = 2000;
    /** ms of the longest pause before another try. */
    private static final int LATEST = 32000;
    /** ms after which the end of a pause is noticed. */
    private static final int SOON = 10;
    /** ns. */
    private static final long MS = 1000000;
    /** A pause between bursts is at most so many times as long as it should be: a process may have been stopped for hours. */
    private static final int LONGEST_REST = 4;

    private Lifetime(ProfileFile file, Settings settings, int task) {
        this.file = file;
        this.settings = settings;
        this.task = task;
    }

    /** Runs nothing if the virtual machine is shutting down already, or does not let us. */
    static void start(final ProfileFile file, final Settings settings) {
        final ArrayList<Lifetime> later = new ArrayList<Lifetime>();
        if (settings.snapshot > 0) {
            later.add(new Lifetime(file, settings, BEAT));
        }
        if (settings.burst > 0) {
            later.add(new Lifetime(file, settings, BURSTS));
        }
        if (samples(settings)) {
            later.add(new Lifetime(file, settings, SAMPLE));
        }
        if (settings.calibrate > 0) {
            later.add(new Lifetime(file, settings, CALIBRATE));
        }
        final Lifetime atEnd = new Lifetime(file, settings, HOOK);
        prepare(settings);
        try {
            Privileged.run(new Runnable() {
                @Override
                public void run() {
                    if (Copy.LASTS || !keep(atEnd, later)) {
                        hook = OwnThreads.thread(atEnd);
                        Runtime.getRuntime().addShutdownHook(hook);
                        for (Lifetime one : later) {
                            daemon(one);
                        }
                    }
                }
            });
        } catch (IllegalStateException e) {
            file.clock(Format.SHUTDOWN);
        } catch (SecurityException e) {
            // Then the end of the process is not known.
        } catch (IllegalThreadStateException e) {
            // The group of this thread has been destroyed.
        }
    }

    /** For a copy that does not last: others have the threads, and none of them keeps it. False: there is nobody. */
    private static boolean keep(Lifetime atEnd, ArrayList<Lifetime> later) {
        AtomicBoolean ended = new AtomicBoolean();
        try {
            Keepers keeper = Keepers.get();
            kept = new Kept(atEnd, later, ended);
            keeper.atEnd(atEnd, ended);
            for (Lifetime one : later) {
                keeper.later(one, one.first());
            }
        } catch (Exception | LinkageError e) {
            if (e.getCause() instanceof IllegalStateException) {
                throw (IllegalStateException) e.getCause();
            }
            ended.set(true);
            return false;
        }
        return true;
    }

    /** What is done at the end loads no class: the files that they are in may be gone by then, and their loader closed. */
    private static void prepare(Settings settings) {
        markEnded(settings);
        if (settings.calibrate > 0) {
            Calibration.prepare();
        }
    }

    private static boolean samples(Settings settings) {
        return settings.samples && !Settings.agentSamples();
    }

    private static void markEnded(Settings settings) {
        Threads.markEnded();
        if (samples(settings)) {
            Sampler.finish();
        }
    }

    /** The recording ends before the virtual machine does: takes back what {@link #start} has left. */
    static void stop() {
        final Thread atEnd = hook;
        hook = null;
        Privileged.run(new Runnable() {
            @Override
            public void run() {
                try {
                    if (atEnd != null) {
                        Runtime.getRuntime().removeShutdownHook(atEnd);
                    }
                } catch (IllegalStateException e) {
                    // The virtual machine shuts down: it runs.
                }
                for (WeakReference<Thread> one : tasks) {
                    Thread thread = one.get();
                    if (thread != null) {
                        thread.interrupt();
                    }
                }
                tasks.clear();
            }
        });
    }

    private static void daemon(Runnable task) {
        Thread thread = OwnThreads.thread(task);
        thread.setDaemon(true);
        tasks.add(new WeakReference<Thread>(thread));
        thread.start();
    }

    /** What can be measured only when everything is over. */
    static void measure(ProfileFile file, Settings settings) {
        if (settings.calibrate > 0) {
            Calibration.end(file, settings);
        }
        String drift = Clock.drift();
        if (drift != null) {
            file.write(Format.PROPERTIES, drift);
        }
    }

    /** Ends the recording of a copy of the recorder that goes while the program runs on. */
    private static final class Kept {
        private final Lifetime atEnd;
        @SuppressWarnings("unused") // nothing else refers to them
        private final ArrayList<Lifetime> later;
        final AtomicBoolean ended;

        Kept(Lifetime atEnd, ArrayList<Lifetime> later, AtomicBoolean ended) {
            this.atEnd = atEnd;
            this.later = later;
            this.ended = ended;
        }

        /** Nothing refers to the copy any more but this. */
        @Override
        protected void finalize() {
            if (ended.get()) {
                // The virtual machine ends, and has called it.
                return;
            }
            try {
                markEnded(atEnd.settings);
                Lines.write(atEnd.file, Threads.lines());
                atEnd.file.leave();
            } finally {
                ended.set(true);
            }
        }
    }

    /** The virtual machine ends: what is measured is measured by one copy. */
    @Override
    public void accept(int before) {
        file.clock(Format.SHUTDOWN);
        markEnded(settings);
        if (before == 0) {
            measure(file, settings);
        }
        // Late, so that what other hooks execute is among it.
        Lines.write(file, Threads.lines());
    }

    @Override
    public void run() {
        if (task == HOOK) {
            accept(0);
            return;
        }
        if (task == SAMPLE) {
            Sampler.run(session);
            return;
        }
        try {
            for (long ns = first(); ns >= 0; ns = getAsLong()) {
                sleepUntil(System.nanoTime() + ns);
            }
        } catch (InterruptedException e) {
            // Somebody wants this thread to end.
        }
    }

    /** ns until the task is due first. */
    private long first() {
        return task == CALIBRATE ? pause * MS : 0;
    }

    /** Does what is due; how many ns later the task is due again; below 0: never. */
    @Override
    public long getAsLong() {
        switch (task) {
            case BEAT:
                file.clock(Format.BEAT);
                Threads.markEnded();
                return settings.snapshot * 1000 * MS;
            case BURSTS:
                return burst();
            case SAMPLE:
                return Sampler.step(session);
            default:
                return calibrate();
        }
    }

    /** Where the compilers are late, the next time finds what they have made meanwhile. */
    private long calibrate() {
        // Between bursts there is nothing to measure.
        if (Pauses.isOn() && waited < LATEST) {
            waited += SOON;
            return SOON * MS;
        }
        waited = 0;
        pause *= 2;
        return Calibration.late(file, settings) || pause > LATEST ? -1 : pause * MS;
    }

    /** Recording is on in the first part of every period, and paused in the rest. */
    private long burst() {
        if (begin == 0) {
            CurrentThread.leaveOut();
        } else if (!rests) {
            Pauses.between(session, true);
            Samples.followPauses();
            rests = true;
            long end = System.nanoTime();
            long rest = settings.period - settings.burst;
            // A burst that ended late is followed by a longer pause: recording stays on for its part of the time.
            return Math.min((end - begin) / settings.burst * rest, LONGEST_REST * rest * MS);
        } else {
            Pauses.between(session, false);
            Samples.followPauses();
            rests = false;
        }
        begin = System.nanoTime();
        return settings.burst * MS;
    }

    private static void sleepUntil(long time) throws InterruptedException {
        for (long left; (left = time - System.nanoTime()) > 0;) {
            Thread.sleep(left / MS, (int) (left % MS));
        }
    }
}
