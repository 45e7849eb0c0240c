import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.StructuredTaskScope;

/** Tasks for virtual threads; Java 25 with preview features. */
public class VirtualTasks {
    static int task() {
        return 1;
    }

    static void executor(ExecutorService threads) throws Exception {
        Callable<Integer> callable = VirtualTasks::task;
        for (int i = 0; i < 3; i++) {
            threads.submit(callable).get();
        }
        threads.invokeAll(Collections.nCopies(4, callable));
    }

    static void threads() throws Exception {
        Thread.startVirtualThread(VirtualTasks::task).join();
        Thread.ofVirtual().start(VirtualTasks::task).join();
    }

    static void unstarted() throws Exception {
        Thread thread = Thread.ofVirtual().unstarted(VirtualTasks::task);
        thread.start();
        thread.join();
    }

    static int scope() throws Exception {
        try (StructuredTaskScope<Object, Void> scope = StructuredTaskScope.open()) {
            Callable<Integer> callable = VirtualTasks::task;
            var first = scope.fork(callable);
            var second = scope.fork(callable);
            scope.fork(() -> {
                task();
            });
            scope.join();
            return first.get() + second.get();
        }
    }

    public static void main(String[] args) throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            executor(threads);
        }
        threads();
        unstarted();
        System.out.println(scope());
        System.out.println("done");
    }
}
