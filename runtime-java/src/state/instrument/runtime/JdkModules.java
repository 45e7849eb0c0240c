package instrument.runtime;

/** Other modules than java.base, where the recorder lies in it: {@code instrument jdk}. */
final class JdkModules {
    private JdkModules() {}

    /**
     * A class of another module than java.base is about to be named, where the recorder lies in java.base: that reads no other module by itself. The
     * class that the probes call knows of modules, which Java 8 does not.
     */
    static void read() {
        if (Settings.imageSelection == null) {
            return;
        }
        ThreadState state = CurrentThread.fresh();
        int mode = state == null ? 0 : state.mode;
        if (state != null) {
            // What is called may have been rewritten.
            state.mode = ThreadState.BUSY;
        }
        try {
            Class.forName("java.lang.InstrumentProbes").getMethod("read").invoke(null);
        } catch (Exception e) {
            Log.say("other modules than java.base cannot be called: " + e);
        } finally {
            if (state != null) {
                state.mode = mode;
            }
        }
    }
}
