import instrument.runtime.HeapProxy;
import instrument.runtime.Inside;
import instrument.runtime.ProfilerRuntime;

/** Programs for what only some ways to record have. Usage: Modes CASE. The probes are called as in {@link Victim}. */
public class Modes {
    static volatile long sink;

    static void leaf(int id) {
        ProfilerRuntime.methodEntry(id);
        ProfilerRuntime.methodExit(id);
    }

    /** Method 1 calls 2 three times, 2 calls 3 twice and sleeps. */
    static void times() throws Exception {
        ProfilerRuntime.methodEntry(1);
        for (int i = 0; i < 3; i++) {
            ProfilerRuntime.methodEntry(2);
            leaf(3);
            Thread.sleep(5 * (i + 1));
            leaf(3);
            ProfilerRuntime.methodExit(2);
        }
        ProfilerRuntime.methodExit(1);
        ProfilerRuntime.methodEntry(4);
        Thread.sleep(10);
        // Stays open.
    }

    /** Uses the processor; the time it took is printed. */
    static void work(int id, long ms) {
        ProfilerRuntime.methodEntry(id);
        long x = id;
        for (long end = System.nanoTime() + ms * 1000000; System.nanoTime() < end;) {
            for (int i = 0; i < 1000; i++) x = x * 31 + i;
        }
        sink = x;
        ProfilerRuntime.methodExit(id);
    }

    static void cpu() throws Exception {
        ProfilerRuntime.methodEntry(1);
        work(2, 100);
        ProfilerRuntime.methodEntry(3);
        Thread.sleep(100);
        ProfilerRuntime.methodExit(3);
        ProfilerRuntime.methodExit(1);
    }

    /** Method 1 calls so many others. */
    static void wide(int methods) {
        ProfilerRuntime.methodEntry(1);
        for (int id = 2; id < methods + 2; id++) {
            leaf(id);
        }
        ProfilerRuntime.methodExit(1);
    }

    /** Method 1 calls 2, then 3, which calls 2, then 2 again; so many times. */
    static void around(int times) {
        for (int i = 0; i < times; i++) {
            ProfilerRuntime.methodEntry(1);
            leaf(2);
            ProfilerRuntime.methodEntry(3);
            leaf(2);
            ProfilerRuntime.methodExit(3);
            leaf(2);
            ProfilerRuntime.methodExit(1);
        }
    }

    /** So many threads, all alive at one time; each calls method 1. */
    static void threads(int number) throws Exception {
        final java.util.concurrent.CountDownLatch all = new java.util.concurrent.CountDownLatch(number);
        Thread[] threads = new Thread[number];
        for (int i = 0; i < number; i++) {
            threads[i] = new Thread() {
                @Override
                public void run() {
                    leaf(1);
                    all.countDown();
                    try {
                        all.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void sampled(int calls) {
        ProfilerRuntime.methodEntry(1);
        for (int i = 0; i < calls; i++) {
            leaf(2);
        }
        ProfilerRuntime.methodExit(1);
    }

    /** 1 is not a root, 2 is one, 3 is called by both; 4 is a constructor and a root, and its super() throws. */
    static void roots() {
        Inside.roots(2, 4);
        ProfilerRuntime.methodEntry(1);
        leaf(3);
        for (int i = 0; i < 10; i++) {
            ProfilerRuntime.methodEntry(2);
            leaf(3);
            if (i == 5) {
                ProfilerRuntime.methodEntry(2);
                ProfilerRuntime.methodExit(2);
            }
            ProfilerRuntime.methodExit(2);
            leaf(3);
        }
        ProfilerRuntime.constructorEntry(4);
        leaf(3);
        ProfilerRuntime.exceptionCaught(1);
        leaf(3);
        ProfilerRuntime.methodEntry(2);
        ProfilerRuntime.methodEntry(5);
        ProfilerRuntime.methodUnwind(5);
        ProfilerRuntime.methodUnwind(2);
        ProfilerRuntime.methodExit(1);
    }

    /** 1 calls 2 so many times: inside a root, or when a pause has ended. */
    static void tiny(int calls, String how) {
        if (how.equals("root")) {
            Inside.roots(1);
        } else if (how.equals("paused")) {
            Inside.pause(true);
            leaf(3);
            Inside.pause(false);
        }
        ProfilerRuntime.methodEntry(1);
        for (int i = 0; i < calls; i++) {
            leaf(2);
        }
        ProfilerRuntime.methodExit(1);
    }

    /** Two methods that call themselves and each other in every order, so deep; then what is new. As the only thread, or as one that ends. */
    static void recursive(String[] args) throws Exception {
        Runnable task = () -> {
            ProfilerRuntime.methodEntry(1);
            everyOrder(Integer.parseInt(args[1]));
            for (int i = 0; i < 1000; i++) {
                ProfilerRuntime.methodEntry(20);
                leaf(21);
                ProfilerRuntime.methodExit(20);
            }
            ProfilerRuntime.methodExit(1);
        };
        if (args.length > 2) {
            Thread thread = new Thread(task);
            thread.start();
            thread.join();
        } else {
            task.run();
        }
    }

    private static void everyOrder(int depth) {
        for (int id = 10; depth > 0 && id < 12; id++) {
            ProfilerRuntime.methodEntry(id);
            leaf(12);
            everyOrder(depth - 1);
            ProfilerRuntime.methodExit(id);
        }
    }

    /** 1 makes a link; another thread runs 2 and 3 on its behalf, and 3 is left by nobody. */
    static void links() throws Exception {
        ProfilerRuntime.methodEntry(1);
        Inside.linkMade(7);
        Thread thread = new Thread(() -> {
            leaf(2);
            Inside.enterLink(7);
            leaf(2);
            ProfilerRuntime.methodEntry(3);
            Inside.leaveLink(7);
            leaf(2);
        });
        thread.start();
        thread.join();
        System.out.println("node " + Inside.contextNode());
        ProfilerRuntime.methodExit(1);
    }

    static class Small {
        byte one;
        long eight;
    }

    static class Smaller extends Small {
        int four;
    }

    static void allocations() {
        ProfilerRuntime.methodEntry(1);
        for (int i = 0; i < 100; i++) {
            HeapProxy.ArrayAlloc(new byte[i]);
            HeapProxy.ArrayAlloc(new long[i]);
            HeapProxy.ArrayAlloc(new Object[i]);
            HeapProxy.ObjectAlloc(new Object());
            HeapProxy.ObjectAlloc(new java.util.ArrayList<Object>());
            HeapProxy.ObjectAlloc(new Smaller());
        }
        ProfilerRuntime.methodExit(1);
    }

    static void ids() {
        leaf((1 << 26) - 1);
        leaf(1 << 26);
        leaf(Integer.MAX_VALUE - 1);
        leaf(1);
    }

    /** A thread ends, and the process goes on. */
    static void beats() throws Exception {
        Thread thread = new Thread(() -> leaf(1));
        thread.start();
        thread.join();
        leaf(2);
        Thread.sleep(2500);
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "times": times(); break;
            case "cpu": cpu(); break;
            case "sampled": sampled(Integer.parseInt(args[1])); break;
            case "roots": roots(); break;
            case "tiny": tiny(Integer.parseInt(args[1]), args[2]); break;
            case "links": links(); break;
            case "allocations": allocations(); break;
            case "ids": ids(); break;
            case "beats": beats(); break;
            case "wide": wide(Integer.parseInt(args[1])); break;
            case "recursive": recursive(args); break;
            case "around": around(Integer.parseInt(args[1])); break;
            case "threads": threads(Integer.parseInt(args[1])); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }
}
