import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;

/**
 * Phases of known length: methods that run for so many ms of their thread's CPU time, one after the other, and measure themselves. Prints
 * NAME NS for each; {@code churn} also the CPU time of its threads, and of their work. {@code phases}: ten of 20 to 200 ms; {@code asleep}: beside threads that sleep, wait and park; {@code churn}: in many short threads;
 * {@code deep}: at the end of stack overflows; {@code virtual}: in virtual threads, where
 * a phase is three times as long as the other, and the CPU time of the process; {@code calls}: a second of calls that take nearly nothing, and how many they were; {@code endless}: until the program is killed.
 */
public class Phases {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile long sink;
    private static final java.util.concurrent.atomic.AtomicLong OF_THREADS = new java.util.concurrent.atomic.AtomicLong();
    private static final java.util.concurrent.atomic.AtomicLong OF_WORK = new java.util.concurrent.atomic.AtomicLong();

    static long ofThread() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static long ofProcess() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Real work between two looks at the clock, and calls of a method that takes nearly nothing. */
    static long work(long from, int ms) {
        long sum = 0;
        while (ofThread() - from < ms * 1000000L) {
            for (int i = 0; i < 20000; i++) {
                sum = sum * 31 + i;
            }
        }
        sink += sum;
        return ofThread() - from;
    }

    static long p20() { long from = ofThread(); return work(from, 20); }
    static long p40() { long from = ofThread(); return work(from, 40); }
    static long p60() { long from = ofThread(); return work(from, 60); }
    static long p80() { long from = ofThread(); return work(from, 80); }
    static long p100() { long from = ofThread(); return work(from, 100); }
    static long p120() { long from = ofThread(); return work(from, 120); }
    static long p140() { long from = ofThread(); return work(from, 140); }
    static long p160() { long from = ofThread(); return work(from, 160); }
    static long p180() { long from = ofThread(); return work(from, 180); }
    static long p200() { long from = ofThread(); return work(from, 200); }

    static void all() {
        System.out.println("p20 " + p20() + "\np40 " + p40() + "\np60 " + p60() + "\np80 " + p80() + "\np100 " + p100() + "\np120 " + p120()
            + "\np140 " + p140() + "\np160 " + p160() + "\np180 " + p180() + "\np200 " + p200());
    }

    static void sleeper() {
        try {
            Thread.sleep(60000);
        } catch (InterruptedException e) {
            return;
        }
    }

    static void waiter() {
        synchronized (Phases.class) {
            try {
                Phases.class.wait(60000);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    static void parked() {
        java.util.concurrent.locks.LockSupport.parkNanos(60000000000L);
    }

    static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static int recurse(int depth) {
        return recurse(depth + 1) + 1;
    }

    static void overflow() {
        try {
            recurse(0);
        } catch (StackOverflowError e) {
            sink++;
        }
    }

    static void loop(int rounds) {
        long sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum = sum * 31 + i;
        }
        sink += sum;
    }

    static void once() {
        loop(300000);
    }

    static void thrice() {
        loop(900000);
    }

    static int tiny(int i) {
        return i * 31;
    }

    /** A second of calls that take nearly nothing. */
    static void calls() {
        long from = ofThread(), calls = 0;
        int sum = 0;
        while (ofThread() - from < 1000000000L) {
            for (int i = 0; i < 100000; i++) {
                sum += tiny(i);
            }
            calls += 100000;
        }
        sink += sum;
        System.out.println("calls " + calls);
    }

    /** Tasks of virtual threads, which take turns on their carriers. */
    static void virtual() throws Exception {
        long from = ofProcess();
        CountDownLatch done = new CountDownLatch(1000);
        Runnable task = () -> {
            once();
            Thread.yield();
            thrice();
            Thread.yield();
            done.countDown();
        };
        for (int i = 0; i < 1000; i++) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        }
        done.await();
        System.out.println("process " + (ofProcess() - from));
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "asleep":
                daemon(Phases::sleeper);
                daemon(Phases::waiter);
                daemon(Phases::parked);
                all();
                break;
            case "churn":
                CountDownLatch done = new CountDownLatch(1000);
                for (int i = 0; i < 1000; i++) {
                    daemon(() -> {
                        OF_WORK.addAndGet(work(ofThread(), 1));
                        OF_THREADS.addAndGet(ofThread());
                        done.countDown();
                    });
                    // All at once they would run in the interpreter, for the compiler waits for a processor, too.
                    while (i % 20 == 19 && done.getCount() > 999 - i) {
                        Thread.sleep(1);
                    }
                }
                done.await();
                all();
                System.out.println("threads " + OF_THREADS + "\nwork " + OF_WORK);
                break;
            case "deep":
                for (int i = 0; i < 50; i++) {
                    overflow();
                }
                all();
                break;
            case "calls":
                calls();
                break;
            case "virtual":
                virtual();
                break;
            case "endless":
                System.out.println("p100 " + p100());
                System.out.flush();
                while (true) {
                    p20();
                }
            default:
                all();
        }
    }
}
