package instrument.runtime;

/** The probes of the method-events transform, recording for the judge. */
public final class ProfilerRuntime {
    private ProfilerRuntime() {}

    public static void methodEntry(int id) {
        Recorder.event(0, id);
    }

    public static void constructorEntry(int id) {
        Recorder.event(1, id);
    }

    public static void methodExit(int id) {
        Recorder.event(2, id);
    }

    public static void methodUnwind(int id) {
        Recorder.event(3, id);
    }

    public static void superReturned(int id) {
        Recorder.event(4, id);
    }

    public static void exceptionCaught(int id) {
        Recorder.event(5, id);
    }

    public static void libraryEnter(int id) {
        Recorder.event(6, id);
    }

    public static void libraryExit(int id) {
        Recorder.event(7, id);
    }
}
