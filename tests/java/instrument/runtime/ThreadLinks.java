package instrument.runtime;

/** The hook of the thread-links transform, recording for the judge. */
public final class ThreadLinks {
    private ThreadLinks() {}

    public static void starting(Object receiver) {
        Recorder.other("start " + (receiver == null ? "null" : receiver.getClass().getName()));
    }
}
