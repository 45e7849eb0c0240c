import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Work that is caused in one context and done in another; the first argument says which. */
public class Linked {
    static volatile int sink;

    static class Worker extends Thread {
        Worker(String name) {
            super(name);
        }

        @Override
        public void run() {
            work();
        }
    }

    static class Eager extends Worker {
        Eager() {
            super("eager");
        }

        @Override
        public synchronized void start() {
            super.start();
        }
    }

    static class Chain extends Thread {
        private final int left;
        private final CountDownLatch end;

        Chain(int left, CountDownLatch end) {
            this.left = left;
            this.end = end;
        }

        @Override
        public void run() {
            work();
            if (left == 0) {
                end.countDown();
            } else {
                new Chain(left - 1, end).start();
            }
        }
    }

    static void work() {
        sink++;
    }

    static int task() {
        work();
        return 1;
    }

    static int failing() {
        throw new IllegalStateException("as ever");
    }

    static void startAll() throws Exception {
        Thread[] threads = {new Worker("a"), new Thread(Linked::work, "b"), new Eager()};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void submit(ExecutorService pool) throws Exception {
        for (int i = 0; i < 3; i++) {
            Callable<Integer> task = Linked::task;
            sink += pool.submit(task).get();
        }
        try {
            pool.submit((Callable<Integer>) Linked::failing).get();
        } catch (ExecutionException e) {
            System.out.println(e.getCause().getMessage());
        }
    }

    static void chain(ExecutorService pool) throws Exception {
        System.out.println(CompletableFuture.supplyAsync(Linked::task, pool).thenApplyAsync(x -> x + task(), pool).get());
    }

    static void tasks() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, task -> new Thread(task, "pool"));
        submit(pool);
        chain(pool);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** What the program can see of its tasks. */
    static void seen() throws Exception {
        Runnable named = new Runnable() {
            @Override
            public void run() {
                work();
            }

            @Override
            public String toString() {
                return "named";
            }
        };
        Executor printing = task -> {
            System.out.println(task);
            task.run();
        };
        printing.execute(named);
        // One that hands on what it is given: the first context counts.
        Executor passing = task -> printing.execute(task);
        passing.execute(named);
        ThreadPoolExecutor sorted =
            new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new PriorityBlockingQueue<>(), task -> new Thread(task, "sorted"));
        CountDownLatch ready = new CountDownLatch(1);
        sorted.execute(new Ranked(0, ready));
        for (int rank = 3; rank > 0; rank--) {
            sorted.execute(new Ranked(rank, null));
        }
        ready.countDown();
        sorted.shutdown();
        sorted.awaitTermination(1, TimeUnit.MINUTES);
        try {
            printing.execute(null);
        } catch (NullPointerException e) {
            System.out.println("none");
        }
        ForkJoinPool pool = new ForkJoinPool(1);
        System.out.println(pool.submit(() -> pool.submit(Linked::task).join() + task()).get());
        pool.shutdown();
    }

    static class Ranked implements Runnable, Comparable<Ranked> {
        private final int rank;
        private final CountDownLatch ready;

        Ranked(int rank, CountDownLatch ready) {
            this.rank = rank;
            this.ready = ready;
        }

        @Override
        public void run() {
            try {
                if (ready != null) {
                    ready.await();
                }
            } catch (InterruptedException e) {
                System.out.println(e);
            }
            System.out.println("rank " + rank);
        }

        @Override
        public int compareTo(Ranked other) {
            return rank - other.rank;
        }
    }

    static void storm(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Thread thread = new Worker("storm");
            thread.start();
            thread.join();
        }
    }

    static void relay(int count) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        new Chain(count - 1, end).start();
        end.await();
    }

    static void root() throws Exception {
        work();
        Thread inside = new Worker("inside");
        inside.start();
        inside.join();
    }

    static void noise() throws Exception {
        work();
        Thread outside = new Worker("outside");
        outside.start();
        outside.join();
    }

    static int timed(int n) {
        if (n % 4 == 0) {
            return 0;
        }
        int sum = 100 / (n % 5);
        for (int i = 0; i < n; i++) {
            sum += i * i; // the body
        }
        return sum;
    }

    static void regions(int count) throws Exception {
        for (int i = 1; i <= count; i++) {
            int n = i;
            Thread thread = new Thread(() -> {
                try {
                    sink = timed(n);
                } catch (ArithmeticException e) {
                    sink = -1;
                }
            });
            thread.start();
            thread.join();
        }
    }

    public static void main(String[] args) throws Exception {
        int count = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        switch (args[0]) {
            case "threads": startAll(); break;
            case "tasks": tasks(); break;
            case "seen": seen(); break;
            case "storm": storm(count); break;
            case "relay": relay(count); break;
            case "roots": noise(); root(); noise(); root(); break;
            default: regions(count); break;
        }
        System.out.println("done");
    }
}
