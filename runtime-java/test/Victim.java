import instrument.runtime.HeapProxy;
import instrument.runtime.Inside;
import instrument.runtime.ProfilerRuntime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Programs that call the probes by hand, in the shapes that the rewriter injects: entry outside the try, exit before the
 * return, catch-any unwind, constructorEntry before super(), exceptionCaught first in a handler. Usage: Victim CASE [ARGS].
 * What a case prints is the truth that the profile is compared with.
 */
public class Victim {
    static volatile int sink;

    // ---- plain methods ----

    static int leaf(int x) {
        ProfilerRuntime.methodEntry(1);
        try {
            int r = x * 31 + 7;
            ProfilerRuntime.methodExit(1);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(1);
            throw t;
        }
    }

    static int thrower(int i) {
        ProfilerRuntime.methodEntry(2);
        try {
            if (i % 2 == 1) {
                throw new IllegalStateException();
            }
            ProfilerRuntime.methodExit(2);
            return i;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(2);
            throw t;
        }
    }

    /** An exception of its callee passes through. */
    static int through(int i) {
        ProfilerRuntime.methodEntry(3);
        try {
            int r = thrower(i);
            ProfilerRuntime.methodExit(3);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(3);
            throw t;
        }
    }

    /** Throws and catches inside. */
    static int inside(int i) {
        ProfilerRuntime.methodEntry(4);
        try {
            int r;
            try {
                r = through(i);
            } catch (IllegalStateException e) {
                ProfilerRuntime.exceptionCaught(4);
                r = -1;
            }
            ProfilerRuntime.methodExit(4);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(4);
            throw t;
        }
    }

    /** Always dies of an implicit exception. */
    static int divide(int x) {
        ProfilerRuntime.methodEntry(5);
        try {
            int r = x / (x - x);
            ProfilerRuntime.methodExit(5);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(5);
            throw t;
        }
    }

    /** Thread.stop within probes. */
    static void cut() throws Exception {
        ProfilerRuntime.methodEntry(1);
        // Calls that were timed are no reason to miss one.
        for (int i = 0; i < 3; i++) {
            ProfilerRuntime.methodEntry(2);
            ProfilerRuntime.methodExit(2);
            ProfilerRuntime.methodEntry(3);
            ProfilerRuntime.methodExit(3);
        }
        Inside.cutEntry(2);
        Inside.cutExit(3);
        ProfilerRuntime.methodEntry(4);
        ProfilerRuntime.methodExit(4);
        ProfilerRuntime.methodExit(1);
    }

    static void calls() {
        ProfilerRuntime.methodEntry(6);
        for (int i = 0; i < 1000; i++) {
            leaf(i);
            inside(i);
            try {
                through(i);
            } catch (IllegalStateException e) {
                ProfilerRuntime.exceptionCaught(6);
            }
            try {
                divide(i);
            } catch (ArithmeticException e) {
                ProfilerRuntime.exceptionCaught(6);
            }
        }
        ProfilerRuntime.methodExit(6);
    }

    // ---- constructors ----

    static int before(int id, int argument) {
        ProfilerRuntime.constructorEntry(id);
        return argument;
    }

    static class Base {
        Base(int n) {
            this(before(10, n), true);
            ProfilerRuntime.superReturned(10);
            ProfilerRuntime.methodExit(10);
        }

        Base(int n, boolean checked) {
            super();
            ProfilerRuntime.constructorEntry(11);
            ProfilerRuntime.superReturned(11);
            try {
                if (n % 2 == 1) {
                    throw new IllegalArgumentException();
                }
                ProfilerRuntime.methodExit(11);
            } catch (Throwable t) {
                ProfilerRuntime.methodUnwind(11);
                throw t;
            }
        }
    }

    /** super() throws for odd arguments; an extra {@code new Base()} in the body. */
    static class Derived extends Base {
        Derived(int n) {
            super(before(12, n));
            ProfilerRuntime.superReturned(12);
            try {
                new Base(n);
                ProfilerRuntime.methodExit(12);
            } catch (Throwable t) {
                ProfilerRuntime.methodUnwind(12);
                throw t;
            }
        }
    }

    /** A tree of itself whose innermost super() throws. */
    static class Tree extends Base {
        Tree child;

        Tree(int n) {
            super(before(13, n == 0 ? 1 : 0));
            ProfilerRuntime.superReturned(13);
            try {
                child = new Tree(n - 1);
                ProfilerRuntime.methodExit(13);
            } catch (Throwable t) {
                ProfilerRuntime.methodUnwind(13);
                throw t;
            }
        }
    }

    static void constructors() {
        ProfilerRuntime.methodEntry(14);
        for (int i = 0; i < 1000; i++) {
            try {
                new Derived(i);
            } catch (IllegalArgumentException e) {
                ProfilerRuntime.exceptionCaught(14);
            }
        }
        for (int i = 0; i < 10; i++) {
            try {
                new Tree(9);
            } catch (IllegalArgumentException e) {
                ProfilerRuntime.exceptionCaught(14);
            }
        }
        ProfilerRuntime.methodExit(14);
    }

    /** Constructors die in a pool whose own code is not instrumented: nothing beneath closes them. */
    static void pool(int tasks) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int i = 0; i < tasks; i++) {
            int n = i;
            pool.execute(() -> {
                try {
                    new Derived(n);
                } catch (IllegalArgumentException e) {
                    sink++;
                }
            });
        }
        pool.shutdown();
        pool.awaitTermination(60, java.util.concurrent.TimeUnit.SECONDS);
    }

    // ---- stack overflow: the counters are what really happened ----

    static long plainCalls, catchingCalls, lockedCalls, bodyCalls, superCalls, superDone, leafCalls;

    static int plain(int n) {
        ProfilerRuntime.methodEntry(20);
        plainCalls++;
        try {
            int r = plain(n + 1) + 1;
            ProfilerRuntime.methodExit(20);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(20);
            throw t;
        }
    }

    static int catching(int n) {
        ProfilerRuntime.methodEntry(21);
        catchingCalls++;
        try {
            int r;
            try {
                r = catching(n + 1) + small(n);
            } catch (StackOverflowError e) {
                ProfilerRuntime.exceptionCaught(21);
                r = n;
            }
            ProfilerRuntime.methodExit(21);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(21);
            throw t;
        }
    }

    static int small(int n) {
        ProfilerRuntime.methodEntry(22);
        leafCalls++;
        try {
            int r = n ^ 5;
            ProfilerRuntime.methodExit(22);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(22);
            throw t;
        }
    }

    static synchronized long locked(long a, double b, String c) {
        ProfilerRuntime.methodEntry(23);
        lockedCalls++;
        try {
            long r;
            Object lock = c;
            synchronized (lock) {
                r = locked(a + 1, b / 2, c) + small((int) a);
            }
            ProfilerRuntime.methodExit(23);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(23);
            throw t;
        }
    }

    static class Body {
        Body child;

        Body(int n) {
            super();
            ProfilerRuntime.constructorEntry(24);
            bodyCalls++;
            ProfilerRuntime.superReturned(24);
            try {
                child = new Body(n + 1);
                ProfilerRuntime.methodExit(24);
            } catch (Throwable t) {
                ProfilerRuntime.methodUnwind(24);
                throw t;
            }
        }
    }

    static int beforeDeep(int n) {
        ProfilerRuntime.constructorEntry(25);
        superCalls++;
        return n;
    }

    /** Recursion through super(): every frame is pending. */
    static class Deep extends Deeper {
        Deep(int n) {
            super(beforeDeep(n));
            superDone++;
            ProfilerRuntime.superReturned(25);
            ProfilerRuntime.methodExit(25);
        }
    }

    static class Deeper {
        Deeper(int n) {
            new Deep(n + 1);
        }
    }

    static int overflows;

    static void overflow(int times, String which) {
        ProfilerRuntime.methodEntry(26);
        for (int i = 0; i < times; i++) {
            try {
                if (which.contains("p")) plain(0);
            } catch (StackOverflowError e) {
                ProfilerRuntime.exceptionCaught(26);
                overflows++;
            }
            if (which.contains("c")) {
                catching(0);
                overflows++;
            }
            try {
                if (which.contains("l")) locked(0, 1, "lock");
            } catch (StackOverflowError e) {
                ProfilerRuntime.exceptionCaught(26);
                overflows++;
            }
            try {
                if (which.contains("b")) new Body(0);
            } catch (StackOverflowError e) {
                ProfilerRuntime.exceptionCaught(26);
                overflows++;
            }
            try {
                if (which.contains("s")) new Deep(0);
            } catch (StackOverflowError e) {
                ProfilerRuntime.exceptionCaught(26);
                overflows++;
            }
        }
        ProfilerRuntime.methodExit(26);
        System.out.println("20 " + plainCalls);
        System.out.println("21 " + catchingCalls);
        System.out.println("22 " + leafCalls);
        System.out.println("23 " + lockedCalls);
        System.out.println("24 " + bodyCalls);
        System.out.println("25 " + superCalls);
        System.out.println("overflows " + overflows);
    }

    // ---- ends of a process ----

    /** Works for ever, in threads that come and go, until somebody ends the process. */
    static void work(int ids) {
        for (int t = 0; t < 2; t++) {
            new Thread(() -> {
                for (int i = 0;; i++) {
                    nest(100 + i % ids, 8);
                    try {
                        new Derived(i);
                    } catch (IllegalArgumentException e) {
                        sink++;
                    }
                    ObjectOf(new int[3]);
                }
            }).start();
        }
        new Thread(() -> {
            for (int i = 0;; i++) {
                int n = i;
                Thread t = new Thread(() -> nest(100 + n % ids, 3));
                t.start();
                try {
                    t.join();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }).start();
        leaf(1);
        System.out.println("running");
    }

    static void ObjectOf(Object o) {
        HeapProxy.ArrayAlloc(o);
    }

    static int nest(int id, int depth) {
        ProfilerRuntime.methodEntry(id);
        try {
            int r = depth == 0 ? 0 : nest(id + 1, depth - 1) + 1;
            ProfilerRuntime.methodExit(id);
            return r;
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(id);
            throw t;
        }
    }

    static void end(String how) {
        ProfilerRuntime.methodEntry(30);
        try {
            for (int i = 0; i < 1000; i++) leaf(i);
            switch (how) {
                case "exit":
                    System.exit(3);
                case "halt":
                    Runtime.getRuntime().halt(3);
                case "hook":
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                        for (int i = 0; i < 1000; i++) leaf(i);
                        Runtime.getRuntime().halt(3);
                    }));
                    System.exit(4);
                default:
                    throw new AssertionError(how);
            }
        } catch (Throwable t) {
            ProfilerRuntime.methodUnwind(30);
            throw t;
        }
    }

    // ---- threads ----

    /** Its overridable methods must not be called by the runtime. */
    static class Hostile extends Thread {
        static final AtomicLong called = new AtomicLong();

        Hostile(Runnable r) {
            super(r);
        }

        @Override
        @SuppressWarnings("deprecation")
        public long getId() {
            called.incrementAndGet();
            return -1;
        }

        @Override
        public String toString() {
            called.incrementAndGet();
            throw new IllegalStateException();
        }

        @Override
        public int hashCode() {
            return 1;
        }

        @Override
        public void interrupt() {
            called.incrementAndGet();
            super.interrupt();
        }
    }

    static void threads(int count, int callsEach, boolean together) throws Exception {
        List<Thread> all = new ArrayList<>();
        java.util.concurrent.CountDownLatch latch = new java.util.concurrent.CountDownLatch(together ? count : 0);
        for (int i = 0; i < count; i++) {
            Runnable work = () -> {
                for (int k = 0; k < callsEach; k++) leaf(k);
                latch.countDown();
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                for (int k = 0; k < callsEach; k++) inside(k);
            };
            Thread t = new Thread(null, work, "worker-" + i, 128 << 10);
            t.start();
            all.add(t);
            if (!together && all.size() > 50) all.remove(0).join();
        }
        for (Thread t : all) t.join();
    }

    static void virtual(int count, int callsEach) throws Exception {
        java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int n = i;
            Runnable work = () -> {
                for (int k = 0; k < callsEach; k++) leaf(k);
                if (n % 1000 == 0) {
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException e) {
                        sink++;
                    }
                }
                leaf(0);
            };
            all.add((Thread) start.invoke(null, work));
            if (all.size() > 2000) all.remove(all.size() - 2000).join();
        }
        for (Thread t : all) t.join();
    }

    static void hostile() throws Exception {
        Hostile t = new Hostile(() -> {
            for (int i = 0; i < 1000; i++) leaf(i);
        });
        t.start();
        t.join();
        System.out.println("called " + Hostile.called);
    }

    /** Interrupted before its first probe: the status stays, the file is written. */
    static void interrupted() {
        Thread.currentThread().interrupt();
        for (int i = 0; i < 5000; i++) nest(1000 + i, 0);
        System.out.println("interrupted " + Thread.interrupted());
    }

    static void memory() {
        ProfilerRuntime.methodEntry(40);
        List<byte[]> hog = new ArrayList<>();
        int survived = 0;
        try {
            for (int size = 1 << 24; size > 4096;) {
                try {
                    hog.add(new byte[size]);
                } catch (OutOfMemoryError e) {
                    ProfilerRuntime.exceptionCaught(40);
                    size /= 2;
                }
            }
        } catch (OutOfMemoryError e) {
            ProfilerRuntime.exceptionCaught(40);
        }
        // New methods need room; there is none.
        for (int i = 0; i < 20000; i++) {
            nest(2000 + i, 0);
            survived++;
        }
        hog = null;
        for (int i = 0; i < 1000; i++) leaf(i);
        ProfilerRuntime.methodExit(40);
        System.out.println("survived " + survived);
    }

    static void allocations() {
        HeapProxy.ObjectAlloc(new Object());
        ProfilerRuntime.methodEntry(50);
        for (int i = 0; i < 100; i++) {
            HeapProxy.ObjectAlloc(new ArrayList<Object>());
            HeapProxy.ArrayAlloc(new int[i]);
            HeapProxy.EarlyObjectAlloc(new Object());
        }
        HeapProxy.JVMInit();
        HeapProxy.EarlyObjectAlloc(new Object());
        HeapProxy.EarlyArrayAlloc(new String[2][]);
        ProfilerRuntime.methodExit(50);
    }

    static void misfits() {
        // Exit of a method that was never entered.
        ProfilerRuntime.methodExit(60);
        ProfilerRuntime.methodEntry(61);
        ProfilerRuntime.methodEntry(62);
        // 62 lies above, ready: unclosed.
        ProfilerRuntime.methodExit(61);
        ProfilerRuntime.superReturned(61);
        ProfilerRuntime.exceptionCaught(62);
        // Pending frames do not fit an exit.
        ProfilerRuntime.constructorEntry(63);
        ProfilerRuntime.methodExit(63);
        ProfilerRuntime.superReturned(63);
        // Stays open.
    }

    public static void main(String[] args) throws Exception {
        int n = args.length > 1 && args[1].matches("\\d+") ? Integer.parseInt(args[1]) : 0;
        int m = args.length > 2 && args[2].matches("\\d+") ? Integer.parseInt(args[2]) : 0;
        switch (args[0]) {
            case "calls": calls(); break;
            case "cut": cut(); break;
            case "constructors": constructors(); break;
            case "pool": pool(n); break;
            case "overflow": overflow(n, args[2]); break;
            case "work": work(n); break;
            case "end": end(args[1]); break;
            case "threads": threads(n, m, args.length > 3); break;
            case "virtual": virtual(n, m); break;
            case "hostile": hostile(); break;
            case "interrupted": interrupted(); break;
            case "memory": memory(); break;
            case "allocations": allocations(); break;
            case "misfits": misfits(); break;
            case "nest": for (int i = 0; i < n; i++) nest(100 + i, 0); break;
            case "deep": sink += nest(100, n); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }
}
