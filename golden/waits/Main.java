import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

public class Main {
    /** Is asked to wait by its own name. */
    static class Worker extends Thread {
        @Override
        public void run() {
            try {
                sleep(1);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Locks itself, as the segments of old hash maps do. */
    static class Segment extends ReentrantLock {
        int times;

        void change() {
            lock();
            try {
                times++;
            } finally {
                unlock();
            }
        }
    }

    /** Has methods of the same names that are its own. */
    static class Words {
        String join() {
            return "words";
        }

        void sleep(long number) {}

        Object take() {
            sleep(1);
            return join();
        }
    }

    static String queued(BlockingQueue<String> queue) throws Exception {
        queue.put("taken");
        queue.offer("not waited for");
        return queue.take() + queue.poll(1, TimeUnit.MILLISECONDS) + queue.poll();
    }

    static boolean interrupted() {
        Thread.currentThread().interrupt();
        try {
            new CountDownLatch(1).await();
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    static long monitor(Object monitor) throws InterruptedException {
        synchronized (monitor) {
            long result = 3L;
            monitor.wait(1);
            return result;
        }
    }

    public static void main(String[] args) throws Exception {
        Worker worker = new Worker();
        worker.start();
        worker.join();
        Segment segment = new Segment();
        segment.change();
        FutureTask<String> task = new FutureTask<>(() -> "got");
        task.run();
        AtomicReference<String> reference = new AtomicReference<>(task.get());
        ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
        map.put("a", reference.get());
        System.out.println(queued(new ArrayBlockingQueue<>(1)) + map.get("a") + segment.times);
        System.out.println(interrupted() + " " + monitor(new Object()) + " " + new Words().take());
    }
}
