import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Tasks for other threads, in every way that the hand-over transform knows: a method of its own for each way. */
public class HandedOver {
    static final IllegalStateException FAILURE = new IllegalStateException("as ever");

    static int task() {
        return 1;
    }

    /** Runs a number of times, then throws. */
    static class Counted implements Runnable {
        private int left;

        Counted(int times) {
            left = times;
        }

        @Override
        public void run() {
            task();
            if (--left == 0) {
                throw FAILURE;
            }
        }
    }

    /** Tasks that know how often they were asked for. */
    static class Tasks extends AbstractCollection<Callable<Integer>> {
        private final List<Callable<Integer>> tasks = new ArrayList<>();
        int iterators;

        Tasks(int count) {
            for (int i = 0; i < count; i++) {
                int number = i;
                tasks.add(() -> {
                    task();
                    if (number == 3) {
                        throw FAILURE;
                    }
                    return number;
                });
            }
        }

        @Override
        public Iterator<Callable<Integer>> iterator() {
            iterators++;
            return tasks.iterator();
        }

        @Override
        public int size() {
            return tasks.size();
        }
    }

    static void print(List<Future<Integer>> futures) throws Exception {
        StringBuilder line = new StringBuilder();
        for (Future<Integer> future : futures) {
            try {
                line.append(future.get()).append(' ');
            } catch (ExecutionException e) {
                line.append(e.getCause() == FAILURE ? "failed " : e.toString());
            }
        }
        System.out.println(line);
    }

    static void invokeAll(ExecutorService pool) throws Exception {
        Tasks tasks = new Tasks(5);
        print(pool.invokeAll(tasks));
        System.out.println(tasks.iterators + " iterator");
    }

    static void invokeAllTimed(ExecutorService pool) throws Exception {
        print(pool.invokeAll(new Tasks(6), 1, TimeUnit.MINUTES));
    }

    static void invokeAny(ExecutorService pool) throws Exception {
        System.out.println(pool.invokeAny(new Tasks(1)) + pool.invokeAny(new Tasks(1), 1, TimeUnit.MINUTES));
    }

    static void invokeWrong(ExecutorService pool) throws Exception {
        for (Collection<Callable<Integer>> tasks : Arrays.<Collection<Callable<Integer>>>asList(null, Arrays.asList((Callable<Integer>) null))) {
            try {
                pool.invokeAll(tasks);
            } catch (NullPointerException e) {
                System.out.println("null");
            }
        }
    }

    static void end(ScheduledFuture<?> periodic) throws Exception {
        try {
            periodic.get();
        } catch (ExecutionException e) {
            System.out.println(e.getCause() == FAILURE);
        }
    }

    static void fixedRate(ScheduledExecutorService pool) throws Exception {
        end(pool.scheduleAtFixedRate(new Counted(7), 0, 1, TimeUnit.MILLISECONDS));
    }

    static void fixedDelay(ScheduledExecutorService pool) throws Exception {
        end(pool.scheduleWithFixedDelay(new Counted(8), 1, 2, TimeUnit.MICROSECONDS));
    }

    /** The arguments above the task go to variables whose numbers have two bytes. */
    static void manyVariables(ScheduledExecutorService pool, long n) throws Exception {
        long a00 = n, a01 = n, a02 = n, a03 = n, a04 = n, a05 = n, a06 = n, a07 = n, a08 = n, a09 = n;
        long a10 = n, a11 = n, a12 = n, a13 = n, a14 = n, a15 = n, a16 = n, a17 = n, a18 = n, a19 = n;
        long a20 = n, a21 = n, a22 = n, a23 = n, a24 = n, a25 = n, a26 = n, a27 = n, a28 = n, a29 = n;
        long a30 = n, a31 = n, a32 = n, a33 = n, a34 = n, a35 = n, a36 = n, a37 = n, a38 = n, a39 = n;
        long a40 = n, a41 = n, a42 = n, a43 = n, a44 = n, a45 = n, a46 = n, a47 = n, a48 = n, a49 = n;
        long a50 = n, a51 = n, a52 = n, a53 = n, a54 = n, a55 = n, a56 = n, a57 = n, a58 = n, a59 = n;
        long a60 = n, a61 = n, a62 = n, a63 = n, a64 = n, a65 = n, a66 = n, a67 = n, a68 = n, a69 = n;
        long a70 = n, a71 = n, a72 = n, a73 = n, a74 = n, a75 = n, a76 = n, a77 = n, a78 = n, a79 = n;
        long a80 = n, a81 = n, a82 = n, a83 = n, a84 = n, a85 = n, a86 = n, a87 = n, a88 = n, a89 = n;
        long a90 = n, a91 = n, a92 = n, a93 = n, a94 = n, a95 = n, a96 = n, a97 = n, a98 = n, a99 = n;
        long a100 = n, a101 = n, a102 = n, a103 = n, a104 = n, a105 = n, a106 = n, a107 = n, a108 = n, a109 = n;
        long a110 = n, a111 = n, a112 = n, a113 = n, a114 = n, a115 = n, a116 = n, a117 = n, a118 = n, a119 = n;
        long a120 = n, a121 = n, a122 = n, a123 = n, a124 = n, a125 = n, a126 = n, a127 = n, a128 = n, a129 = n;
        end(pool.scheduleAtFixedRate(new Counted(2), a00, a129, TimeUnit.NANOSECONDS));
        System.out.println(a00 + a64 + a129);
    }

    /** An executor of the program. */
    static class Own implements Executor {
        @Override
        public void execute(Runnable task) {
            new Thread(task, "own").start();
        }
    }

    static class OwnService extends AbstractExecutorService {
        private final ExecutorService pool;

        OwnService(ExecutorService pool) {
            this.pool = pool;
        }

        @Override
        public void execute(Runnable task) {
            pool.execute(task);
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return new ArrayList<>();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }

    static class OwnScheduler extends ScheduledThreadPoolExecutor {
        OwnScheduler() {
            super(1);
        }
    }

    static void ownExecutor(Own own) throws Exception {
        CompletableFuture<Integer> done = new CompletableFuture<>();
        own.execute(() -> done.complete(task()));
        done.get();
    }

    static void ownService(OwnService own) throws Exception {
        Callable<Integer> callable = HandedOver::task;
        System.out.println(own.submit(callable).get() + own.submit(HandedOver::task, "done").get());
        print(own.invokeAll(new Tasks(2)));
        print(own.invokeAll(new Tasks(3), 1, TimeUnit.MINUTES));
    }

    static void ownScheduler(OwnScheduler own) throws Exception {
        Callable<Integer> callable = HandedOver::task;
        System.out.println(own.schedule(callable, 1, TimeUnit.MILLISECONDS).get());
        end(own.scheduleAtFixedRate(new Counted(4), 0, 1, TimeUnit.MILLISECONDS));
    }

    /** Has the methods of an executor and is none. */
    static class Other {
        Object last;

        void execute(Runnable task) {
            last = task;
        }

        void invokeAll(Collection<?> tasks) {
            last = tasks;
        }
    }

    static void other(Other other) {
        Runnable task = HandedOver::task;
        other.execute(task);
        boolean same = other.last == task;
        Tasks tasks = new Tasks(1);
        other.invokeAll(tasks);
        System.out.println(same && other.last == tasks);
    }

    static CompletableFuture<Integer> continuations(CompletableFuture<Integer> start) {
        return start.thenApply(x -> x + task())
            .thenCompose(x -> CompletableFuture.completedFuture(x + task()))
            .thenCombine(start, (x, y) -> x + y + task())
            .handle((x, failure) -> x + task())
            .whenComplete((x, failure) -> task());
    }

    static void complete(ExecutorService pool) throws Exception {
        CompletableFuture<Integer> start = new CompletableFuture<>();
        CompletableFuture<Integer> end = continuations(start);
        pool.submit(() -> start.complete(10)).get();
        System.out.println(end.get());
    }

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(2);
        invokeAll(pool);
        invokeAllTimed(pool);
        invokeAny(pool);
        invokeWrong(pool);
        fixedRate(pool);
        fixedDelay(pool);
        manyVariables(pool, 1);
        ownExecutor(new Own());
        ownService(new OwnService(pool));
        OwnScheduler scheduler = new OwnScheduler();
        ownScheduler(scheduler);
        other(new Other());
        complete(pool);
        scheduler.shutdown();
        pool.shutdown();
        System.out.println("done");
    }
}
