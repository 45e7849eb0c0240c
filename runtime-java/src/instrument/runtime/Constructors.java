package instrument.runtime;

/** The real frames of constructors: what bounds those that may still be pending. */
final class Constructors {
    private Constructors() {}

    /** How many are on the stack of this thread; -1 if the trace may have been cut. */
    static int onStack() {
        StackTraceElement[] trace = new Throwable().getStackTrace();
        // -XX:MaxJavaStackTraceDepth is 1024 unless set; an empty trace means that there are none.
        if (trace.length == 0 || trace.length >= 1024) {
            return -1;
        }
        int constructors = 0;
        for (int i = 0; i < trace.length; i++) {
            if ("<init>".equals(trace[i].getMethodName())) {
                constructors++;
            }
        }
        return constructors;
    }
}
