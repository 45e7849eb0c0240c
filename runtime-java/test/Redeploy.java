import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/**
 * A server that deploys a program again and again: each time with a loader of its own, which has a copy of the runtime and is
 * closed. Usage: Redeploy CLASSES TIMES KEPT, with nothing of ours on the class path. The last KEPT loaders stay. Prints how many of the others are left.
 */
public class Redeploy {
    public static void main(String[] args) throws Exception {
        URL[] urls = {new java.io.File(args[0]).toURI().toURL()};
        int times = Integer.parseInt(args[1]);
        int kept = Integer.parseInt(args[2]);
        List<WeakReference<ClassLoader>> gone = new ArrayList<>();
        List<ClassLoader> stay = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            ClassLoader loader = deploy(urls);
            if (i < times - kept) {
                gone.add(new WeakReference<>(loader));
            } else {
                stay.add(loader);
            }
        }
        for (int i = 0; i < 100 && left(gone) > 0; i++) {
            System.gc();
            Thread.sleep(20);
        }
        int own = 0;
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            own += thread.getName().startsWith("instrument") ? 1 : 0;
        }
        System.out.println(left(gone) + " left, " + stay.size() + " stay, " + own + " threads");
    }

    private static int left(List<WeakReference<ClassLoader>> gone) {
        int left = 0;
        for (WeakReference<ClassLoader> one : gone) {
            left += one.get() != null ? 1 : 0;
        }
        return left;
    }

    private static ClassLoader deploy(URL[] urls) throws Exception {
        try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getSystemClassLoader().getParent())) {
            Class<?> victim = loader.loadClass("Victim");
            Method leaf = victim.getDeclaredMethod("leaf", int.class);
            leaf.setAccessible(true);
            for (int i = 0; i < 1000; i++) {
                leaf.invoke(null, i);
            }
            Class<?> lines = loader.loadClass("instrument.runtime.Lines");
            long[] counters = (long[]) lines.getMethod("counters", int.class, int.class, int.class).invoke(null, 1, 1, 0);
            counters[0]++;
            Thread other = new Thread(() -> {
                try {
                    leaf.invoke(null, 0);
                } catch (ReflectiveOperationException e) {
                    throw new AssertionError(e);
                }
            });
            other.start();
            other.join();
            return loader;
        }
    }
}
