package instrument.runtime;

/** The hooks of stubs, skeletons and remote methods, recording for the judge, and those of the JDK's classes that golden cases have. */
public final class RmiMarkers {
    private RmiMarkers() {}

    public static void returned(Object uid) {
        Recorder.other("remote returned");
    }

    public static void answering(Object uid) {
        Recorder.other("remote answering");
    }

    public static void served(Object id) {
        Recorder.other("remote served");
    }

    public static void serviced(boolean sound) {
        Recorder.other("remote serviced");
    }

    public static void stubEntered() {
        Recorder.other("remote stubEntered");
    }

    public static void stubCalls(long hash) {
        Recorder.other("remote stubCalls");
    }

    public static void stubReturns() {
        Recorder.other("remote stubReturns");
    }

    public static void stubThrows(Object exception) {
        Recorder.other("remote stubThrows");
    }

    public static void skeletonEntered(Object object, int operation, long hash) {
        Recorder.other("remote skeletonEntered");
    }

    public static void skeletonReturns() {
        Recorder.other("remote skeletonReturns");
    }

    public static void skeletonThrows(Object exception) {
        Recorder.other("remote skeletonThrows");
    }

    public static void remoteEntered(Object object, Object method) {
        Recorder.other("remote remoteEntered");
    }

    public static void remoteReturns() {
        Recorder.other("remote remoteReturns");
    }

    public static void remoteThrows(Object exception) {
        Recorder.other("remote remoteThrows");
    }
}
