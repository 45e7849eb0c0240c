import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Programs that end badly, or that do much of something. The first argument says what. */
public class Hard {
    /** Loaded again and again by loaders of its own. */
    public static class Copied implements Runnable {
        @Override
        public void run() {
            work(1);
        }
    }

    static final class Again extends ClassLoader {
        Again() {
            super(Hard.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass("Hard$Copied", bytes, 0, bytes.length);
        }
    }

    private static volatile long sink;
    private static final List<Object> KEPT = new ArrayList<Object>();

    public static long work(long n) {
        sink += n;
        return sink;
    }

    static void many(int n) {
        for (int i = 0; i < n; i++) {
            work(i);
        }
    }

    public static void main(String[] args) throws Exception {
        many(1000);
        switch (args[0]) {
            case "exits":
                exits();
                break;
            case "uncaught":
                throw new IllegalStateException("nobody catches this");
            case "heap":
                while (true) {
                    KEPT.add(grow());
                }
            case "caught":
                caught();
                break;
            case "metaspace":
                metaspace();
                break;
            case "daemon":
                daemon();
                break;
            case "deadlock":
                deadlock();
                break;
            case "threads":
                threads(Integer.parseInt(args[1]));
                break;
            case "loaders":
                loaders(Integer.parseInt(args[1]));
                break;
            case "children":
                children(Integer.parseInt(args[1]));
                break;
            case "busy":
                System.out.println("ready");
                while (true) {
                    many(1000);
                }
            default:
                break;
        }
        System.out.println("done");
    }

    /** Several threads exit at the same time; one of them wins. */
    private static void exits() throws Exception {
        final CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < 8; i++) {
            new Thread(() -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    return;
                }
                many(100);
                System.exit(7);
            }).start();
        }
        go.countDown();
        Thread.sleep(60000);
    }

    private static Object grow() {
        work(1);
        return new long[100000];
    }

    /** The heap is full again and again; what fails is caught. */
    private static void caught() {
        int failures = 0;
        while (failures < 20) {
            try {
                KEPT.add(new byte[1 << 14]);
                work(1);
            } catch (OutOfMemoryError e) {
                failures++;
                KEPT.clear();
            }
        }
    }

    private static void metaspace() throws Exception {
        byte[] bytes = read("Hard$Copied.class");
        try {
            while (true) {
                KEPT.add(new Again().define(bytes).getDeclaredConstructor().newInstance());
            }
        } catch (OutOfMemoryError e) {
            KEPT.clear();
            System.out.println(e.getMessage());
        }
    }

    /** They run on while the virtual machine goes down. */
    private static void daemon() throws Exception {
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                while (true) {
                    many(100);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(200);
    }

    private static synchronized void lock(Object other, CountDownLatch both) {
        both.countDown();
        try {
            both.await();
        } catch (InterruptedException e) {
            return;
        }
        synchronized (other) {
            work(1);
        }
    }

    private static void deadlock() throws Exception {
        final Object other = new Object();
        final CountDownLatch both = new CountDownLatch(2);
        new Thread(() -> {
            synchronized (other) {
                both.countDown();
                try {
                    both.await();
                } catch (InterruptedException e) {
                    return;
                }
                lock(other, both);
            }
        }).start();
        new Thread(() -> lock(other, both)).start();
        both.await();
        System.out.println("ready");
    }

    private static void threads(int count) throws Exception {
        final CountDownLatch started = new CountDownLatch(count);
        List<Thread> threads = new ArrayList<Thread>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(null, () -> {
                started.countDown();
                work(1);
            }, "t" + i, 1 << 18);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void loaders(int count) throws Exception {
        byte[] bytes = read("Hard$Copied.class");
        for (int i = 0; i < count; i++) {
            ((Runnable) new Again().define(bytes).getDeclaredConstructor().newInstance()).run();
            if (i % 100 == 99) {
                System.gc();
            }
        }
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getName().equals("Metaspace") && pool.getUsage().getUsed() > 48 << 20) {
                System.out.println("Metaspace: " + pool.getUsage());
            }
        }
    }

    private static void children(int depth) throws Exception {
        if (depth > 0) {
            String java = new File(System.getProperty("java.home"), "bin/java").getPath();
            ProcessBuilder builder = new ProcessBuilder(
                java, "-cp", System.getProperty("java.class.path"), "Hard", "children", String.valueOf(depth - 1));
            System.out.println("child: " + builder.inheritIO().start().waitFor());
        }
    }

    private static byte[] read(String name) throws IOException {
        InputStream in = Hard.class.getResourceAsStream(name);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int b; (b = in.read()) >= 0;) {
            out.write(b);
        }
        return out.toByteArray();
    }
}
