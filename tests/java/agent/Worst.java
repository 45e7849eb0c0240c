import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

/** A service that logs its own calls, each of which makes another number of steps. Each hundredth waits for a lock, each in another way. The first argument seeds how long; with a second one it is halted within a call. */
public class Worst {
    static final int CALLS = 3000;
    static final int WORST = 10;
    static final ReentrantLock LOCK = new ReentrantLock();
    static long sink;

    static class Pool {
        static void getConnection() {
            LOCK.lock();
            try {
                sink++;
            } finally {
                LOCK.unlock();
            }
        }
    }

    static void step() {
        sink++;
    }

    static void query(int steps) {
        for (int i = 0; i < steps; i++) {
            step();
        }
    }

    /** The log: how long each call took, and the number of its steps, which tells which it was. */
    static final long[][] LOG = new long[CALLS + 1][2];

    static void serve(int i) {
        long begin = System.nanoTime();
        query(i + 1);
        if (i % 100 == 99) {
            Pool.getConnection();
        }
        if (i == CALLS) {
            Runtime.getRuntime().halt(0);
        }
        LOG[i][1] = i + 1;
        LOG[i][0] = System.nanoTime() - begin;
        if (i % 1000 == 500) {
            throw new IllegalStateException();
        }
    }

    /** How long the owner has the lock each time, in ms: all differ. */
    static int[] holds(long seed) {
        int[] holds = new int[CALLS / 100];
        for (int i = 0; i < holds.length; i++) {
            holds[i] = 5 + i;
        }
        Random random = new Random(seed);
        for (int i = holds.length - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int hold = holds[i];
            holds[i] = holds[j];
            holds[j] = hold;
        }
        return holds;
    }

    public static void main(String[] args) throws Exception {
        int[] holds = holds(Long.parseLong(args[0]));
        LinkedBlockingQueue<CountDownLatch> wanted = new LinkedBlockingQueue<>();
        Thread owner = new Thread(() -> {
            try {
                for (int hold : holds) {
                    CountDownLatch taken = wanted.take();
                    LOCK.lock();
                    taken.countDown();
                    Thread.sleep(hold);
                    LOCK.unlock();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        owner.start();
        for (int i = 0; i < CALLS; i++) {
            if (i % 100 == 99) {
                CountDownLatch taken = new CountDownLatch(1);
                wanted.add(taken);
                taken.await();
            }
            try {
                serve(i);
            } catch (IllegalStateException e) {
                // It was to fail.
            }
        }
        owner.join();
        long[][] calls = LOG.clone();
        Arrays.sort(calls, (a, b) -> Long.compare(b[0], a[0]));
        StringBuilder line = new StringBuilder("worst");
        for (int i = 0; i < WORST; i++) {
            line.append(' ').append(calls[i][0]).append(':').append(calls[i][1]);
        }
        System.out.println(line);
        System.out.flush();
        if (args.length > 1) {
            serve(CALLS);
        }
    }
}
