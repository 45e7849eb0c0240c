import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that fight for a lock of java.util.concurrent and wait for other synchronizers, and measure how long: KEY VALUE, ns. */
public class Locks {
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Condition CONDITION = LOCK.newCondition();
    static final Semaphore SEMAPHORE = new Semaphore(0);
    static long contended;
    static long waited;
    static long acquired;

    static void enter() {
        long start = System.nanoTime();
        LOCK.lock();
        contended += System.nanoTime() - start;
        LOCK.unlock();
    }

    static void await() throws InterruptedException {
        LOCK.lock();
        try {
            long start = System.nanoTime();
            CONDITION.await(50, TimeUnit.MILLISECONDS);
            waited += System.nanoTime() - start;
        } finally {
            LOCK.unlock();
        }
    }

    static void acquire() throws InterruptedException {
        long start = System.nanoTime();
        SEMAPHORE.acquire();
        acquired += System.nanoTime() - start;
    }

    public static void main(String[] args) throws Exception {
        Thread main = Thread.currentThread();
        for (int i = 0; i < 5; i++) {
            CountDownLatch held = new CountDownLatch(1);
            Thread holder = new Thread(() -> {
                LOCK.lock();
                held.countDown();
                try {
                    // The latch makes it wait as well: until the lock is what it waits for.
                    while (!LOCK.hasQueuedThread(main) || main.getState() != Thread.State.WAITING) {
                        Thread.sleep(1);
                    }
                    Thread.sleep(40);
                } catch (InterruptedException e) {
                    throw new Error(e);
                } finally {
                    LOCK.unlock();
                }
            }, "holder");
            holder.start();
            held.await();
            enter();
            holder.join();
        }
        await();
        await();
        Thread giver = new Thread(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new Error(e);
            }
            SEMAPHORE.release();
        }, "giver");
        giver.start();
        acquire();
        giver.join();
        System.out.println("contended " + contended);
        System.out.println("waited " + waited);
        System.out.println("acquired " + acquired);
    }
}
