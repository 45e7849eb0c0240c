package instrument.runtime;

/**
 * One recording after another in the same process: the agent comes, goes, and comes again, each time with a profile of its own. Classes
 * of the boot loader are never unloaded, so what they keep is put back to what it was in the beginning.
 *
 * <p>A thread keeps the {@link ThreadState} that it had. It is known by its number to be old; its mode is one that no fast path lets
 * through, and the slow paths put a new one in its place at the next entry of a method. A method that was entered with probes, and is
 * still open when they are removed, calls them until it ends: those events fit no frame, and are left out.
 */
final class Session {
    /** ms to wait for threads that are inside the runtime at the end. */
    private static final int TO_LEAVE = 1000;

    private Session() {}

    /** Ends the recording; the profile is complete. Nothing happens if none goes on. The caller's probes do nothing. */
    static void end() {
        ProfileFile file = Recording.file;
        Lifetime.stop();
        if (file != null) {
            Lifetime.measure(file, Recording.settings);
        }
        synchronized (Pauses.LOCK) {
            if (Recording.isOver()) {
                return;
            }
            Gate.close();
            Recording.end();
        }
        // Those that are about to write have done so when this is over.
        for (int i = 0; i < TO_LEAVE && Threads.isAnyBusy(); i++) {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                break;
            }
        }
        Samples.endAll();
        Recording.number++;
        if (JavaThreads.on) {
            JavaThreads.on = false;
            NoteWriter.end();
        }
        if (file != null) {
            Threads.markEnded();
            Lines.write(file, Threads.lines());
            file.clock(Format.SHUTDOWN);
            // The process lives on: it is not the one that says so.
            file.write(Format.PROPERTIES, "recording.ended=before-program\n");
            file.close();
        }
    }

    /** Makes everything ready for another one, which begins with the next event. */
    static void begin() {
        if (Recording.settings != null && Recording.settings.record == Settings.TREE && TreeState.SAMPLED) {
            Sampling.renew();
        }
        Boundaries.renew();
        Calibration.renew();
        ClassNames.renew();
        Clock.renew();
        Constructors.renew();
        Kept.renew();
        Durations.renew();
        Contexts.renew();
        EndedThreads.renew();
        HeapAgent.here = false;
        HeapEvents.renew();
        JavaThreads.renew();
        Owners.renew();
        Wait.renew();
        HeapProxy.biographies = false;
        Lines.renew();
        Links.renew();
        MachineWork.renew();
        Pauses.renew();
        Samples.followPauses();
        CurrentThread.renew();
        Roots.renew();
        Running.renew();
        TaskLinks.renew();
        ThreadLinks.renew();
        Threads.renew();
        synchronized (Pauses.LOCK) {
            Gate.renew();
            Recording.open();
        }
    }
}
