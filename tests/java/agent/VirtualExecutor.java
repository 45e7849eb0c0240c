import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tasks on virtual threads that fight for a lock and sleep. */
public class VirtualExecutor {
    static final Object LOCK = new Object();

    static int work(int task) throws InterruptedException {
        synchronized (LOCK) {
            Thread.yield();
        }
        Thread.sleep(1 + task % 3);
        return task;
    }

    public static void main(String[] args) throws Exception {
        long sum = 0;
        for (int round = 0; round < 3; round++) {
            try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
                List<Future<Integer>> results = new ArrayList<>();
                for (int i = 0; i < 4000; i++) {
                    int task = i;
                    results.add(executor.submit(() -> work(task)));
                }
                for (Future<Integer> result : results) {
                    sum += result.get();
                }
            }
        }
        System.out.println(sum);
    }
}
