import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

/**
 * Two pools of 200 threads each, and one of ForkJoin workers. Every thread of them works. {@code Pools ended}: instead, threads of three
 * pools, each of which ends before the next one starts.
 */
public class Pools {
    static volatile long sink;

    static void work(CountDownLatch all) {
        sink += all.hashCode();
        all.countDown();
        try {
            // Nobody gets a second task before everybody has one.
            all.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class Split extends RecursiveAction {
        private final int width;

        Split(int width) {
            this.width = width;
        }

        @Override
        protected void compute() {
            if (width > 1) {
                invokeAll(new Split(width / 2), new Split(width - width / 2));
            }
        }
    }

    private static void ended() throws InterruptedException {
        for (int pool = 1; pool <= 3; pool++) {
            for (int i = 1; i <= 100; i++) {
                Thread thread = new Thread(() -> work(new CountDownLatch(1)), "pool-" + pool + "-thread-" + i);
                thread.start();
                thread.join();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            ended();
            return;
        }
        ExecutorService[] pools = {Executors.newFixedThreadPool(200), Executors.newFixedThreadPool(200)};
        for (ExecutorService executor : pools) {
            CountDownLatch all = new CountDownLatch(200);
            for (int i = 0; i < 200; i++) {
                executor.execute(() -> work(all));
            }
            all.await();
        }
        ForkJoinPool workers = new ForkJoinPool(8);
        CountDownLatch all = new CountDownLatch(8);
        for (int i = 0; i < 8; i++) {
            workers.execute(() -> work(all));
        }
        all.await();
        workers.invoke(new Split(1000));
        workers.shutdown();
        for (ExecutorService executor : pools) {
            executor.shutdown();
        }
    }
}
