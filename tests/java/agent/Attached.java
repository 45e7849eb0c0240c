import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.function.IntUnaryOperator;

/**
 * A program that is attached to while it runs. It does what it reads, line by line, and says when that is done. With an argument, threads
 * work all the time: so many platform threads and, where there are any, virtual ones.
 */
public class Attached {
    static volatile Object sink;
    static volatile boolean busy = true;

    static class Item {
        final int n;

        Item(int n) {
            if (n < 0) {
                throw new IllegalArgumentException();
            }
            this.n = n;
        }
    }

    static class Special extends Item {
        Special(int n) {
            super(n);
        }
    }

    static int leaf(int n) {
        sink = new Item(n);
        return n + 1;
    }

    static int recurse(int n) {
        return n == 0 ? leaf(n) : recurse(n - 1) + 1;
    }

    static void call(int times) {
        for (int i = 0; i < times; i++) {
            leaf(i);
        }
    }

    /** Exceptions leave methods and constructors, and are caught in between. */
    static int fail(int n) {
        try {
            sink = new Special(-1 - n);
        } catch (IllegalArgumentException e) {
            IntUnaryOperator more = x -> x + leaf(x);
            return more.applyAsInt(n);
        }
        throw new AssertionError();
    }

    /** Which instruction of its caller is running: another one if the caller has probes. */
    static int where() {
        return StackWalker.getInstance().walk(frames -> frames.skip(1).findFirst().get().getByteCodeIndex());
    }

    static int site() {
        int here = where();
        return here;
    }

    static void work() {
        for (int i = 0; busy; i++) {
            recurse(10 + i % 7);
            fail(i & 0xff);
            if (i % 10 == 0) {
                pause();
            }
        }
    }

    static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static class Lock {}

    /** Another thread has to wait for a monitor of this one. */
    static void contend() throws InterruptedException {
        Lock lock = new Lock();
        Thread other = new Thread(() -> {
            synchronized (lock) {
                sink = lock;
            }
        }, "contender");
        synchronized (lock) {
            other.start();
            while (other.getState() != Thread.State.BLOCKED) {
                pause();
            }
        }
        other.join();
    }

    /** Does not end before it is told so; its frame is there all the time. */
    static void serve(BufferedReader in) throws Exception {
        for (String line; (line = in.readLine()) != null && !line.equals("out");) {
            String[] words = line.split(" ");
            String more = "";
            switch (words[0]) {
                case "call":
                    call(Integer.parseInt(words[1]));
                    break;
                case "site":
                    more = " " + site() + " " + Late.site();
                    break;
                case "own":
                    // Threads that are not the program's.
                    more = " " + Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().startsWith("instrument")).count();
                    break;
                case "memory":
                    more = Memory.used();
                    break;
                case "in":
                    System.out.println(line);
                    serve(in);
                    continue;
                case "contend":
                    contend();
                    break;
                case "fail":
                    try {
                        more = " " + fail(Integer.parseInt(words[1]));
                    } finally {
                        sink = null;
                    }
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println(line + more);
        }
        System.out.println("out");
    }

    /** What it takes of the virtual machine when garbage is collected: bytes of metaspace and of the code cache, and threads. */
    static class Memory {
        static String used() {
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            long metaspace = 0;
            long code = 0;
            for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
                String name = pool.getName();
                if (name.equals("Metaspace")) {
                    metaspace += pool.getUsage().getUsed();
                } else if (name.startsWith("Code")) {
                    code += pool.getUsage().getUsed();
                }
            }
            return " " + metaspace + " " + code + " " + ManagementFactory.getThreadMXBean().getThreadCount();
        }
    }

    /** Loaded when it is first asked for. */
    static class Late {
        static int site() {
            int here = where();
            return here;
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(Attached::work, "worker-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        try {
            Class<?> executors = Class.forName("java.util.concurrent.Executors");
            Method make = executors.getMethod("newVirtualThreadPerTaskExecutor");
            ExecutorService executor = (ExecutorService) make.invoke(null);
            for (int i = 0; i < threads; i++) {
                executor.submit(Attached::work);
            }
        } catch (NoSuchMethodException e) {
            // Before 21 there are none.
        }
        System.out.println("ready");
        serve(new BufferedReader(new InputStreamReader(System.in)));
        busy = false;
        System.out.println("end");
        System.exit(0);
    }
}
