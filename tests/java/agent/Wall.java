import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Random;
import java.util.concurrent.SynchronousQueue;

/**
 * A thread that sleeps, waits for a lock, reads from a socket and works, for times of random length that it measures itself: prints NAME NS for each.
 * Then threads that live for a moment, a virtual thread that sleeps, if there are any, and calls that a signal would end.
 */
public class Wall {
    static final Object LOCK = new Object();
    static volatile boolean isHeld;
    static volatile long sink;

    static native int withoutRetries(int ms);

    /** ns that the current thread has run or waited: without those for which it was ready and had no processor (proc(5), schedstat). */
    static long now() throws IOException {
        String delay = new String(Files.readAllBytes(Paths.get("/proc/thread-self/schedstat")), "ISO-8859-1");
        return System.nanoTime() - Long.parseLong(delay.split(" ")[1]);
    }

    static void asleep(int ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    static void locked() {
        synchronized (LOCK) {
            sink++;
        }
    }

    static void reading(Socket socket) throws IOException {
        socket.getInputStream().read();
    }

    static void working(int ms) {
        long from = System.nanoTime(), sum = 0;
        while (System.nanoTime() - from < ms * 1000000L) {
            for (int i = 0; i < 2000; i++) {
                sum = sum * 31 + i;
            }
        }
        sink += sum;
    }

    static void holds(SynchronousQueue<Integer> times) {
        try {
            for (int ms = times.take(); ms > 0; ms = times.take()) {
                synchronized (LOCK) {
                    isHeld = true;
                    Thread.sleep(ms);
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void writes(ServerSocket server, SynchronousQueue<Integer> times) {
        try (Socket socket = server.accept()) {
            for (int ms = times.take(); ms > 0; ms = times.take()) {
                Thread.sleep(ms);
                socket.getOutputStream().write(1);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void shortly(long[] lived, int i) {
        try {
            long from = now();
            asleepForAMoment();
            lived[i] = now() - from;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void asleepForAMoment() throws InterruptedException {
        Thread.sleep(25);
    }

    static void unmounted() {
        try {
            Thread.sleep(500);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static Thread started(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        long from = System.nanoTime();
        now();
        System.loadLibrary("retries");
        SynchronousQueue<Integer> holds = new SynchronousQueue<>(), writes = new SynchronousQueue<>();
        ServerSocket server = new ServerSocket(0);
        Thread holder = started("holder", () -> holds(holds));
        Thread writer = started("writer", () -> writes(server, writes));
        Random random = new Random(7);
        long[] times = new long[7], sums = new long[4];
        try (Socket socket = new Socket("localhost", server.getLocalPort())) {
            for (int i = 0; i < 30; i++) {
                times[0] = now();
                asleep(random.nextInt(30));
                times[1] = now();
                isHeld = false;
                holds.put(1 + random.nextInt(20));
                while (!isHeld) {
                    Thread.yield();
                }
                times[2] = now();
                locked();
                times[3] = now();
                writes.put(1 + random.nextInt(40));
                times[4] = now();
                reading(socket);
                times[5] = now();
                working(random.nextInt(20));
                times[6] = now();
                sums[0] += times[1] - times[0];
                sums[1] += times[3] - times[2];
                sums[2] += times[5] - times[4];
                sums[3] += times[6] - times[5];
            }
            holds.put(0);
            writes.put(0);
        }
        String[] names = {"asleep", "locked", "reading", "working"};
        for (int i = 0; i < names.length; i++) {
            System.out.println(names[i] + " " + sums[i]);
        }
        holder.join();
        writer.join();
        long[] lived = new long[40];
        Thread[] threads = new Thread[lived.length];
        for (int i = 0; i < lived.length; i++) {
            int number = i;
            threads[i] = started("short-" + i, () -> shortly(lived, number));
            Thread.sleep(2);
        }
        long all = 0;
        for (int i = 0; i < lived.length; i++) {
            threads[i].join();
            all += lived[i];
        }
        System.out.println("asleepForAMoment " + all);
        try {
            Runnable task = Wall::unmounted;
            Thread virtual = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
            virtual.join();
        } catch (NoSuchMethodException e) {
            // There are none.
        }
        int interrupted = withoutRetries(200);
        System.out.println("main " + (System.nanoTime() - from));
        System.out.println("machine " + 1000000L * ManagementFactory.getRuntimeMXBean().getUptime());
        System.out.println("interrupted " + interrupted);
    }
}
