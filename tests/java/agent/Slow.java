import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** A service that times its own calls: each fiftieth waits for a lock that another thread has, each thousandth fails. */
public class Slow {
    static final int CALLS = 3000;
    static final Object LOCK = new Object();
    static long sink;

    static class Pool {
        static void take() {
            synchronized (LOCK) {
                sink++;
            }
        }
    }

    static void spin(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    static void query(int i) {
        // From 60 us to twice that, unevenly.
        spin(60_000 + (long) i * i % 60_000);
    }

    static void order(int i) {
        query(i);
        if (i % 50 == 49) {
            Pool.take();
        }
        if (i % 1000 == 500) {
            throw new IllegalStateException();
        }
    }

    /** As deep as it says; the outermost call is one. */
    static void nested(int depth) {
        if (depth > 0) {
            nested(depth - 1);
        }
        spin(1000);
    }

    public static void main(String[] args) throws Exception {
        LinkedBlockingQueue<CountDownLatch> wanted = new LinkedBlockingQueue<>();
        Thread owner = new Thread(() -> {
            try {
                while (true) {
                    CountDownLatch taken = wanted.take();
                    synchronized (LOCK) {
                        taken.countDown();
                        Thread.sleep(25);
                    }
                }
            } catch (InterruptedException e) {
                // It is done.
            }
        });
        owner.start();
        long[] took = new long[CALLS];
        int failed = 0;
        for (int i = 0; i < CALLS; i++) {
            if (i % 50 == 49) {
                CountDownLatch taken = new CountDownLatch(1);
                wanted.add(taken);
                taken.await();
            }
            long begin = System.nanoTime();
            try {
                order(i);
            } catch (IllegalStateException e) {
                failed++;
            }
            took[i] = System.nanoTime() - begin;
        }
        owner.interrupt();
        owner.join();
        for (int i = 0; i < 30; i++) {
            nested(9);
        }
        Arrays.sort(took);
        StringBuilder line = new StringBuilder("failed " + failed);
        for (double q : new double[] {0.5, 0.9, 0.99, 0.999, 1}) {
            line.append(' ').append(took[(int) Math.ceil(q * CALLS) - 1]);
        }
        System.out.println(line);
    }
}
