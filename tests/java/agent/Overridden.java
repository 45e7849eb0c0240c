import java.nio.charset.Charset;
import java.nio.charset.spi.CharsetProvider;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Everything that the JDK lets a program override and that a recorder may come upon: each method counts how often it is called. Prints these numbers, which are the same
 * with a recorder. {@code Charsets} is found by a file of services.
 */
public class Overridden {
    static final AtomicIntegerArray CALLS = new AtomicIntegerArray(Kind.values().length);

    public enum Kind { LOADER, CHARSETS, PROPERTIES, TO_STRING, HASH_CODE, EQUALS, MESSAGE, TRACE, THREAD, GROUP }

    public static void called(Kind kind) {
        CALLS.incrementAndGet(kind.ordinal());
    }

    public static final class Charsets extends CharsetProvider {
        @Override
        public Iterator<Charset> charsets() {
            called(Kind.CHARSETS);
            return Collections.<Charset>emptyList().iterator();
        }

        @Override
        public Charset charsetForName(String name) {
            called(Kind.CHARSETS);
            return null;
        }
    }

    static final class Counted extends Properties {
        @Override
        public String getProperty(String key) {
            called(Kind.PROPERTIES);
            return super.getProperty(key);
        }

        @Override
        public synchronized Object setProperty(String key, String value) {
            called(Kind.PROPERTIES);
            return super.setProperty(key, value);
        }

        @Override
        public synchronized Object get(Object key) {
            called(Kind.PROPERTIES);
            return super.get(key);
        }
    }

    public static class Thing implements Runnable, Comparable<Thing> {
        @Override
        public String toString() {
            called(Kind.TO_STRING);
            return "thing";
        }

        @Override
        public int hashCode() {
            called(Kind.HASH_CODE);
            return 1;
        }

        @Override
        public boolean equals(Object other) {
            called(Kind.EQUALS);
            return true;
        }

        @Override
        public void run() {
            synchronized (this) {
                try {
                    wait(1);
                    throw new Failure();
                } catch (Failure e) {
                    notifyAll();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        @Override
        public int compareTo(Thing other) {
            return 0;
        }
    }

    public static final class Failure extends RuntimeException {
        @Override
        public String getMessage() {
            called(Kind.MESSAGE);
            return "failure";
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            called(Kind.TRACE);
            return super.fillInStackTrace();
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            called(Kind.TRACE);
            return super.getStackTrace();
        }

        @Override
        public String toString() {
            called(Kind.TO_STRING);
            return "failure";
        }
    }

    static final class Worker extends Thread {
        Worker(ThreadGroup group, Runnable task) {
            super(group, task);
        }

        @Override
        public ClassLoader getContextClassLoader() {
            called(Kind.THREAD);
            return super.getContextClassLoader();
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            called(Kind.THREAD);
            return super.getStackTrace();
        }

        @Override
        public Thread.State getState() {
            called(Kind.THREAD);
            return super.getState();
        }

        @Override
        public String toString() {
            called(Kind.TO_STRING);
            return "worker";
        }
    }

    static final class Group extends ThreadGroup {
        Group() {
            super("group");
        }

        @Override
        public String toString() {
            called(Kind.TO_STRING);
            return "group";
        }

        @Override
        public int activeCount() {
            called(Kind.GROUP);
            return super.activeCount();
        }

        @Override
        public int enumerate(Thread[] list, boolean recurse) {
            called(Kind.GROUP);
            return super.enumerate(list, recurse);
        }

        @Override
        public void uncaughtException(Thread thread, Throwable e) {
            called(Kind.GROUP);
        }
    }

    /** Loads what it is asked for itself: what the recorder asks for is counted. */
    static final class Loader extends ClassLoader {
        Loader(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Overridden$Thing")) {
                // The virtual machine asks each loader for the classes that rewritten code calls.
                if (!name.startsWith("instrument.runtime.") && !name.equals("java.lang.InstrumentProbes")) {
                    called(Kind.LOADER);
                }
                return super.loadClass(name, resolve);
            }
            try (java.io.InputStream in = Overridden.class.getResourceAsStream("Overridden$Thing.class")) {
                byte[] bytes = new byte[1 << 16];
                int length = 0;
                for (int read; (read = in.read(bytes, length, bytes.length - length)) > 0;) {
                    length += read;
                }
                Class<?> known = findLoadedClass(name);
                return known != null ? known : defineClass(name, bytes, 0, length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        @Override
        public java.net.URL getResource(String name) {
            called(Kind.LOADER);
            return super.getResource(name);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            called(Kind.LOADER);
            return super.findClass(name);
        }
    }

    /** Twice, since what the JDK asks at its own first time is not of interest. */
    public static void main(String[] args) throws Exception {
        everything();
        for (Kind kind : Kind.values()) {
            CALLS.set(kind.ordinal(), 0);
        }
        everything();
        StringBuilder text = new StringBuilder();
        for (Kind kind : Kind.values()) {
            text.append(kind).append(' ').append(CALLS.get(kind.ordinal())).append('\n');
        }
        System.out.print(text);
    }

    private static void everything() throws Exception {
        Properties before = System.getProperties();
        Counted counted = new Counted();
        counted.putAll(before);
        System.setProperties(counted);
        Class<?> loaded = new Loader(Overridden.class.getClassLoader()).loadClass("Overridden$Thing");
        Runnable elsewhere = (Runnable) loaded.getDeclaredConstructor().newInstance();
        Map<Object, Object> map = new HashMap<>();
        map.put(new Thing(), new Thing());
        Group group = new Group();
        ThreadFactory factory = task -> new Worker(group, task);
        ExecutorService pool = Executors.newFixedThreadPool(2, factory);
        for (Runnable task : new Runnable[] {elsewhere, new Thing(), new Thing()}) {
            pool.execute(task);
            Thread worker = new Worker(group, task);
            worker.start();
            worker.join();
        }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.setProperties(before);
    }
}
