package instrument.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * Begins the recorder in a JDK whose own classes were rewritten in its module image ({@code instrument jdk}). The probes of these classes do nothing
 * until the virtual machine is initialised: before that nothing is there of what the recorder needs, and what it calls to begin must not call it.
 */
public final class JdkImage {
    private static final String RESOURCE = "/META-INF/instrument/jdk-image.properties";

    /** What was inserted where in the JDK's classes; null: they were not rewritten. */
    static volatile String selection;

    private JdkImage() {}

    /** The virtual machine is initialised, and the program has not begun. True: the probes of the JDK's classes are to call the recorder. */
    public static boolean begin() {
        try {
            ProfilerRuntime.current();
            // As where classes are rewritten when they are loaded: the program waits for what is done now.
            Agent.present = true;
            selection = read();
            Agent.begin(null);
            return Threads.file != null;
        } catch (Throwable e) {
            Log.say("the classes of this JDK are not recorded: " + e);
            return false;
        }
    }

    /**
     * A class of another module than java.base is about to be named, where the recorder lies in java.base: that reads no other module by itself. The
     * class that the probes call knows of modules, which Java 8 does not.
     */
    static void readModules() {
        if (selection == null) {
            return;
        }
        ThreadState state = ProfilerRuntime.fresh();
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

    private static String read() throws IOException {
        InputStream in = JdkImage.class.getResourceAsStream(RESOURCE);
        if (in == null) {
            return null;
        }
        try {
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("selection");
        } finally {
            in.close();
        }
    }
}
