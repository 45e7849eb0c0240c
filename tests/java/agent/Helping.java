import java.io.File;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.security.CodeSource;

/** An agent of java.lang.instrument with classes of its own, one of them behind a class loader that nobody else has. */
public class Helping {
    static class Near {
        static int one() {
            return 1;
        }
    }

    public static class Apart implements Runnable {
        @Override
        public void run() {
            near();
        }

        int near() {
            return Near.one();
        }
    }

    public static void premain(String words, Instrumentation instrumentation) throws Exception {
        CodeSource jar = Helping.class.getProtectionDomain().getCodeSource();
        ClassLoader apart = new URLClassLoader(new URL[] {jar.getLocation()}, null);
        ((Runnable) apart.loadClass("Helping$Apart").getDeclaredConstructor().newInstance()).run();
        System.out.println("helped " + new File(jar.getLocation().toURI()).getName() + " " + Near.one());
    }

    public static void agentmain(String words, Instrumentation instrumentation) throws Exception {
        premain(words, instrumentation);
    }
}
