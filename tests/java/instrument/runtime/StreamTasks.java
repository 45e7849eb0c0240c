package instrument.runtime;

/** The hook for functions of streams, recording for the judge; they stay what they are. */
public final class StreamTasks {
    private StreamTasks() {}

    public static Object of(Object stream, Object function, int of) {
        Recorder.other("task function " + of);
        return function;
    }
}
