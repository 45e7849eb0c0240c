package instrument.runtime;

import java.io.IOException;

/** Sets up the recorder at the first event: reads the settings, opens the file, and makes ready what probes will need. */
final class Start extends Recorder {
    static {
        Recorder.set(new Start());
    }

    private Start() {}

    @Override
    void configure() {
        Settings read = new Settings();
        long[] roots = read.roots == null ? null : Roots.find(read.roots);
        if (read.latency != null) {
            KeptMethods.find(read.latency);
        }
        // Not under the lock: to load a class may take one of a class loader.
        Recording.recordsTree = read.record == Settings.TREE;
        TreeProbes.setUp();
        Gate.set();
        synchronized (Threads.LOCK) {
            if (Recording.settings == null) {
                if (roots != null) {
                    Roots.publish(roots);
                }
                Recording.settings = read;
            }
        }
        ThreadState nowhere = Threads.newState(null);
        nowhere.mode = ThreadState.OFF;
        LocalState.nowhere = nowhere;
    }

    @Override
    ThreadState newState(Thread owner) {
        return Threads.newState(owner);
    }

    @Override
    ThreadState stateOf(Thread thread) {
        return Threads.stateOf(thread);
    }

    @Override
    boolean attach(ThreadState state) {
        return Threads.attach(state);
    }

    @Override
    void arrive(ThreadState state) {
        if (Thread.currentThread().getName() == null) {
            // A thread of native code: its Thread is still being constructed.
            return;
        }
        state.mode = ThreadState.BUSY;
        try {
            if (!start()) {
                state.mode = ThreadState.OFF;
            } else if (Recording.roots != null && !ThreadLinks.isLinked(Thread.currentThread())) {
                // A thread that was started inside belongs there.
                state.mode = ThreadState.OUTSIDE;
            } else if (Threads.attach(state)) {
                state.goLive();
                state.isInside(Recording.roots != null);
                state.mode = state.live;
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.header == null ? ThreadState.NEW : state.live;
            }
        }
    }

    @Override
    boolean start() {
        boolean first = false;
        synchronized (Threads.LOCK) {
            if (!Recording.started) {
                if (Recording.settings.record != Settings.OFF) {
                    try {
                        Recording.file = open(Recording.settings);
                        first = true;
                    } catch (Throwable e) {
                        if (ThreadStop.is(e)) {
                            // The thread ends; another one begins anew.
                            throw (Error) e;
                        }
                        String cure = !Privileged.managed()
                            ? ""
                            : ". There is a security manager: grant the program's jar java.security.AllPermission in its policy"
                                + " file, or start the program as it was with `instrument run`";
                        Recording.refusal = e + cure;
                        Log.say("cannot create the profile, nothing is recorded: " + Recording.refusal);
                    }
                }
                if (Recording.file == null) {
                    Gate.close();
                    Recording.mode = Recording.NEVER;
                }
                Recording.started = true;
            }
        }
        if (first) {
            // Code of the program's class loader may run, so no lock is held.
            Recording.file.write(Format.PROPERTIES, Host.properties(Recording.settings));
            Agent.opened(Recording.file);
            try {
                Host.copyIdMaps(Recording.file);
            } catch (Exception e) {
                Log.say("the profile has no id map: " + e);
            }
            PatchedJdk.check(Recording.settings);
            warmUp();
            Lifetime.start(Recording.file, Recording.settings);
            if (Recording.roots != null) {
                Gate.watch();
                // From now on who is inside keeps it open.
                Gate.count(-1);
            }
        }
        return Recording.file != null;
    }

    /**
     * Uses once what a probe may need later, so that nothing is loaded or linked in one when the stack is nearly full. The
     * thread is inside the runtime: its probes do nothing.
     */
    private static void warmUp() {
        Throwable throwable = new Throwable();
        throwable.getStackTrace();
        ThreadStop.is(throwable);
        ClassNames.of(new Object());
        HandOver.wrap((Runnable) null);
        LinkedTask.leave(null, 0);
        TaskLinks.given(null);
        TaskLinks.taskEnds(TaskLinks.taskBegins(null));
        References.of(null, 0);
        StreamTasks.of(null, null, 0);
        Regions.end(0);
        Bytecodes.methodExit(0, 0);
        Bytecodes.methodUnwind(0, 0);
        Bytecodes.pending(0, 0);
        Lines.counters(0, 0, 0);
        ProfilerRuntime.methodExit(0);
        ProfilerRuntime.methodUnwind(0);
        ProfilerRuntime.superReturned(0);
        ProfilerRuntime.exceptionCaught(0);
        ThreadState scratch = Threads.scratch(null);
        if (scratch != null) {
            Warmup.run(scratch);
        }
    }

    /** The file of this process. */
    private static ProfileFile open(final Settings settings) throws IOException {
        final ProfileFile[] file = new ProfileFile[1];
        final IOException[] failure = new IOException[1];
        Privileged.run(new Runnable() {
            @Override
            public void run() {
                try {
                    file[0] = new ProfileFile(settings, Host.pid());
                } catch (IOException e) {
                    failure[0] = e;
                }
            }
        });
        if (failure[0] != null) {
            throw failure[0];
        }
        return file[0];
    }
}
