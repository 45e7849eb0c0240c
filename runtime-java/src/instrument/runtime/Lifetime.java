package instrument.runtime;

import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;

/** Writes into the file when the virtual machine begins to shut down, and, if asked to, now and then that it lives; calibrates late. */
final class Lifetime implements Runnable {
    /** Never changed, but replaced: whoever reads it takes no lock. */
    private static volatile List<WeakReference<Thread>> own = new ArrayList<WeakReference<Thread>>();

    // Of the recording that goes on.
    private static Thread hook;
    private static final List<WeakReference<Thread>> tasks = new ArrayList<WeakReference<Thread>>();

    private final ProfileFile file;
    private final Settings settings;
    private final int task;
    /** Number of the recording. */
    private final int session = Session.number;

    // Tasks, each on a thread of its own.
    private static final int HOOK = 0;
    private static final int BEAT = 1;
    private static final int CALIBRATE = 2;
    private static final int BURSTS = 3;
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
        // Loads and links now what the hook needs.
        Threads.markEnded();
        try {
            Privileged.run(new Runnable() {
                @Override
                public void run() {
                    hook = thread(new Lifetime(file, settings, HOOK));
                    Runtime.getRuntime().addShutdownHook(hook);
                    if (settings.snapshot > 0) {
                        daemon(new Lifetime(file, settings, BEAT));
                    }
                    if (settings.burst > 0) {
                        daemon(new Lifetime(file, settings, BURSTS));
                    }
                    if (settings.calibrate > 0) {
                        daemon(new Lifetime(file, settings, CALIBRATE));
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

    /** Whether a thread is one of our own. */
    static boolean isOwn(Thread thread) {
        for (WeakReference<Thread> one : own) {
            if (one.get() == thread) {
                return true;
            }
        }
        return false;
    }

    private static synchronized Thread own(Thread thread) {
        List<WeakReference<Thread>> more = new ArrayList<WeakReference<Thread>>();
        for (WeakReference<Thread> one : own) {
            if (one.get() != null) {
                more.add(one);
            }
        }
        more.add(new WeakReference<Thread>(thread));
        own = more;
        return thread;
    }

    private static void daemon(Runnable task) {
        Thread thread = thread(task);
        thread.setDaemon(true);
        tasks.add(new WeakReference<Thread>(thread));
        thread.start();
    }

    /** A thread of our own. Newer virtual machines have a constructor that runs no code of inheritable thread locals. */
    static Thread thread(Runnable task) {
        return own(newThread(task));
    }

    private static Thread newThread(Runnable task) {
        try {
            Constructor<Thread> plain = Thread.class.getConstructor(
                ThreadGroup.class, Runnable.class, String.class, long.class, boolean.class);
            return plain.newInstance(null, task, "instrument", Long.valueOf(0), Boolean.FALSE);
        } catch (Exception e) {
            // Java 8.
        }
        return new Thread(null, task, "instrument");
    }

    /** What can be measured only when everything is over. */
    static void measure(ProfileFile file, Settings settings) {
        Calibration.end(file, settings);
        String drift = Clock.drift();
        if (drift != null) {
            file.write(Format.PROPERTIES, drift);
        }
    }

    @Override
    public void run() {
        if (task == HOOK) {
            file.clock(Format.SHUTDOWN);
            Threads.markEnded();
            measure(file, settings);
            // Late, so that what other hooks execute is among it.
            Lines.write(file);
            return;
        }
        try {
            if (task == CALIBRATE) {
                // Where the compilers are late, the next time finds what they have made meanwhile.
                for (int pause = Agent.present ? SOONER : LATER; pause <= LATEST; pause *= 2) {
                    Thread.sleep(pause);
                    // Between bursts there is nothing to measure.
                    for (int ms = 0; Pauses.isOn() && ms < LATEST; ms += SOON) {
                        Thread.sleep(SOON);
                    }
                    if (Calibration.late(file, settings)) {
                        return;
                    }
                }
                return;
            }
            if (task == BURSTS) {
                bursts();
                return;
            }
            while (true) {
                file.clock(Format.BEAT);
                Threads.markEnded();
                Thread.sleep(settings.snapshot * 1000L);
            }
        } catch (InterruptedException e) {
            // Somebody wants this thread to end.
        }
    }

    /** Recording is on in the first part of every period, and paused in the rest. */
    private void bursts() throws InterruptedException {
        ProfilerRuntime.leaveOut();
        long rest = settings.period - settings.burst;
        while (true) {
            long begin = System.nanoTime();
            sleepUntil(begin + settings.burst * MS);
            Pauses.between(session, true);
            long end = System.nanoTime();
            // A burst that ended late is followed by a longer pause: recording stays on for its part of the time.
            long even = (end - begin) / settings.burst * rest;
            sleepUntil(end + Math.min(even, LONGEST_REST * rest * MS));
            Pauses.between(session, false);
        }
    }

    private static void sleepUntil(long time) throws InterruptedException {
        for (long left; (left = time - System.nanoTime()) > 0;) {
            Thread.sleep(left / MS, (int) (left % MS));
        }
    }
}
