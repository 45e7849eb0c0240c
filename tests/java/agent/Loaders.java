import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/** Class loaders of unusual habits. */
public class Loaders {
    /** Loads everything but the JDK's classes itself, and looks at its parents only then. */
    static final class ChildFirst extends URLClassLoader {
        ChildFirst(URL[] jars, ClassLoader parent) {
            super(jars, parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded == null && !name.startsWith("java.")) {
                    try {
                        loaded = findClass(name);
                    } catch (ClassNotFoundException e) {
                        // The parents have it.
                    }
                }
                return loaded != null ? loaded : super.loadClass(name, resolve);
            }
        }
    }

    /** Defines one class again. */
    static final class Again extends ClassLoader {
        Again() {
            super(Loaders.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass("Loaders$Copied", bytes, 0, bytes.length);
        }
    }

    public static class Copied implements Runnable {
        @Override
        public void run() {
            runs++;
        }
    }

    public static int runs;

    public static void main(String[] args) throws Exception {
        if (args[0].equals("collected")) {
            collected(Integer.parseInt(args[1]));
        } else {
            // child-first MAIN JAR..: the parent has nothing.
            URL[] jars = new URL[args.length - 2];
            for (int i = 0; i < jars.length; i++) {
                jars[i] = new java.io.File(args[i + 2]).toURI().toURL();
            }
            ClassLoader loader = new ChildFirst(jars, ClassLoader.getSystemClassLoader().getParent());
            loader.loadClass(args[1]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }

    private static void collected(int count) throws Exception {
        byte[] bytes = read("Loaders$Copied.class");
        List<WeakReference<ClassLoader>> loaders = new ArrayList<WeakReference<ClassLoader>>();
        for (int i = 0; i < count; i++) {
            Again loader = new Again();
            ((Runnable) loader.define(bytes).getDeclaredConstructor().newInstance()).run();
            loaders.add(new WeakReference<ClassLoader>(loader));
        }
        int left = count;
        for (int attempt = 0; attempt < 50 && left > count / 100; attempt++) {
            System.gc();
            Thread.sleep(10);
            left = 0;
            for (WeakReference<ClassLoader> loader : loaders) {
                left += loader.get() == null ? 0 : 1;
            }
        }
        System.out.println(runs + (left <= count / 100 ? " collected" : " kept " + left));
    }

    private static byte[] read(String name) throws IOException {
        InputStream in = Loaders.class.getResourceAsStream(name);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int b; (b = in.read()) >= 0;) {
            out.write(b);
        }
        return out.toByteArray();
    }
}
