import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Tasks handed over in every form: on top of the stack, under one argument, under three slots, under five. */
public class Main {
    static class Counting extends ThreadPoolExecutor {
        int tasks;

        Counting() {
            super(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        public void execute(Runnable task) {
            tasks++;
            super.execute(task);
        }
    }

    static int submit(ExecutorService pool) throws Exception {
        pool.submit(() -> System.out.println("runnable")).get();
        String result = pool.submit(() -> System.out.println("with result"), "result").get();
        Callable<Integer> callable = () -> 40;
        return result.length() + pool.submit(callable).get();
    }

    static long schedule(ScheduledExecutorService pool, int delay) throws Exception {
        pool.schedule(() -> System.out.println("scheduled"), delay * 2L, TimeUnit.MILLISECONDS).get();
        long sum = 1L + pool.schedule(() -> 2L, delay, TimeUnit.MICROSECONDS).get();
        pool.scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.HOURS).cancel(true);
        pool.scheduleWithFixedDelay(() -> {}, 1, 1, TimeUnit.HOURS).cancel(true);
        return sum;
    }

    static int stages(Executor executor) throws Exception {
        CompletableFuture<Integer> future = CompletableFuture.supplyAsync(() -> 1)
            .thenApplyAsync(x -> x + 1)
            .thenApplyAsync(x -> x + 1, executor)
            .thenCombineAsync(CompletableFuture.supplyAsync(() -> 4, executor), (x, y) -> x + y)
            .thenComposeAsync(x -> CompletableFuture.completedFuture(x + 1), executor)
            .handleAsync((x, failure) -> failure == null ? x : -1)
            .whenCompleteAsync((x, failure) -> System.out.println("complete " + x), executor);
        future.thenAcceptAsync(x -> System.out.println("accept " + x)).get();
        CompletionStage<Void> stage = future.thenRunAsync(() -> System.out.println("run"), executor);
        stage.runAfterBothAsync(future, () -> System.out.println("both")).toCompletableFuture().get();
        future.thenAcceptBothAsync(future, (x, y) -> System.out.println(x + y)).get();
        CompletableFuture.runAsync(() -> System.out.println("async")).get();
        return future.thenApply(x -> x * 2).get();
    }

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(1);
        Executor direct = Runnable::run;
        direct.execute(() -> System.out.println("direct"));
        System.out.println(submit(pool));
        System.out.println(schedule(pool, 1));
        System.out.println(stages(pool));
        System.out.println(ForkJoinPool.commonPool().submit(() -> "fork").get());
        ExecutorCompletionService<String> completions = new ExecutorCompletionService<>(pool);
        completions.submit(() -> "completed");
        System.out.println(completions.take().get());
        Counting counting = new Counting();
        counting.execute(() -> System.out.println("own class"));
        counting.submit(() -> System.out.println("own class, inherited")).get();
        System.out.println(counting.tasks);
        counting.shutdown();
        pool.shutdown();
    }
}
