import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Enumeration;

/**
 * Two class loaders, each with its own copy of the runtime and of {@link Victim}; the loaders are the program's own code
 * and run probes themselves. Usage: Loaders CLASSES, with nothing of ours on the class path.
 */
public class Loaders {
    static class Own extends URLClassLoader {
        private Method probe;

        Own(URL[] urls) {
            super(urls, ClassLoader.getSystemClassLoader().getParent());
        }

        /** The runtime asks for its resources in here, while this thread is inside a probe. */
        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            try {
                if (probe == null) {
                    probe = loadClass("instrument.runtime.ProfilerRuntime").getMethod("methodEntry", int.class);
                }
                probe.invoke(null, 77);
            } catch (ReflectiveOperationException e) {
                throw new IOException(e);
            }
            return super.getResources(name);
        }
    }

    public static void main(String[] args) throws Exception {
        URL[] urls = {new java.io.File(args[0]).toURI().toURL()};
        for (int i = 1; i <= 2; i++) {
            Class<?> victim = new Own(urls).loadClass("Victim");
            Method leaf = victim.getDeclaredMethod("leaf", int.class);
            leaf.setAccessible(true);
            for (int k = 0; k < 1000 * i; k++) {
                leaf.invoke(null, k);
            }
        }
        System.out.println("done");
    }
}
