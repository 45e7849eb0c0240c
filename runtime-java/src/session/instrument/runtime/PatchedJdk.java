package instrument.runtime;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * Checks what was done to the JDK's classes for remote calls, where no native agent rewrites them as they load: {@code instrument jdk-patch}
 * rewrites them for one version of the JDK, a launcher agent when the program starts. What does not fit is said: calls would be missing.
 */
final class PatchedJdk {
    /** In the jar that {@code instrument jdk-patch} puts on the boot class path. */
    private static final String RESOURCE = "META-INF/instrument/jdk-patch.properties";

    private PatchedJdk() {}

    /** Code of the program's class loader may run, so the caller holds no lock. */
    static void check(Settings settings) {
        if (Settings.underAgent) {
            return;
        }
        boolean onBootPath = PatchedJdk.class.getClassLoader() == null;
        if (onBootPath) {
            checkVersion();
        } else if (settings.launcher && Settings.outside("launcher") == null) {
            Log.say("the launcher agent of this jar was not started, so remote calls that dynamic proxies make or serve are not recorded;"
                + " it needs java -jar, and Java 9 or later with the module java.instrument");
        }
    }

    private static void checkVersion() {
        String made = null;
        try {
            InputStream in = ClassLoader.getSystemResourceAsStream(RESOURCE);
            if (in == null) {
                return;
            }
            Properties properties = new Properties();
            try {
                properties.load(in);
            } finally {
                in.close();
            }
            made = properties.getProperty("version");
        } catch (IOException e) {
            // Then it cannot be compared; that is said.
        }
        String here = System.getProperty("java.runtime.version");
        if (made == null || !made.equals(here)) {
            Log.say("JDK_JAVA_OPTIONS has classes of Java " + made + ", but this is Java " + here
                + ": remote calls may fail or not be recorded; run instrument jdk-patch for this JDK");
        }
    }
}
