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

    private JdkImage() {}

    /** The virtual machine is initialised, and the program has not begun. True: the probes of the JDK's classes are to call the recorder. */
    public static boolean begin() {
        try {
            // Loads the class that the probes call: it is in an archive of classes if it has been loaded when that was made.
            ProfilerRuntime.methodExit(-1);
            CurrentThread.current();
            // As where classes are rewritten when they are loaded: the program waits for what is done now.
            Settings.underAgent = true;
            Settings.imageSelection = read();
            Agent.begin(null);
            return Recording.file != null;
        } catch (Throwable e) {
            Log.say("the classes of this JDK are not recorded: " + e);
            return false;
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
