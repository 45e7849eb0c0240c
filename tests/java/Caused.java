import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Work for other threads, in every way in which it can be caused; a method of its own for each way, which tells how often its work was done:
 * one line with its name and that number. The argument is the number of threads.
 */
public class Caused {
    static final Map<String, AtomicInteger> DONE = Collections.synchronizedMap(new TreeMap<>());

    /** What is counted: on behalf of the method of this name. */
    static int work(String cause) {
        DONE.putIfAbsent(cause, new AtomicInteger());
        return DONE.get(cause).incrementAndGet();
    }

    // ---- method references ----

    static void references(ExecutorService pool, Caller own) throws Exception {
        CountDownLatch end = new CountDownLatch(6);
        Runnable task = () -> {
            work("references");
            end.countDown();
        };
        List<Runnable> tasks = Arrays.asList(task, task);
        tasks.forEach(pool::execute);
        Function<Runnable, Future<?>> submit = pool::submit;
        submit.apply(task);
        Consumer<Runnable> executed = own::execute;
        executed.accept(task);
        BiConsumer<ExecutorService, Runnable> unbound = ExecutorService::execute;
        unbound.accept(pool, task);
        Consumer<Thread> start = Thread::start;
        start.accept(new Thread(task, "referred"));
        end.await();
    }

    /** An executor of the program, which its class file does not tell. */
    static class Caller implements java.util.concurrent.Executor {
        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    // ---- timers ----

    static class Tick extends TimerTask {
        final String cause;
        final CountDownLatch left;

        Tick(String cause, int times) {
            this.cause = cause;
            left = new CountDownLatch(times);
        }

        @Override
        public void run() {
            if (left.getCount() > 0) {
                work(cause);
                left.countDown();
            }
        }
    }

    /** Its method calls that of its superclass. */
    static class LoudTick extends Tick {
        LoudTick(String cause, int times) {
            super(cause, times);
        }

        @Override
        public void run() {
            super.run();
        }
    }

    static void timer(Timer timer) throws Exception {
        Tick once = new Tick("timer", 1);
        timer.schedule(once, 1);
        Tick dated = new Tick("timer", 1);
        timer.schedule(dated, new Date());
        Tick[] periodic = {new Tick("timer", 3), new LoudTick("timer", 4), new LoudTick("timer", 2), new Tick("timer", 2)};
        timer.schedule(periodic[0], 0, 1);
        timer.scheduleAtFixedRate(periodic[1], 1, 1);
        timer.schedule(periodic[2], new Date(), 1);
        timer.scheduleAtFixedRate(periodic[3], new Date(), 1);
        Tick cancelled = new Tick("timer", 1);
        timer.schedule(cancelled, 1_000_000);
        cancelled.cancel();
        once.left.await();
        dated.left.await();
        for (Tick tick : periodic) {
            tick.left.await();
            tick.cancel();
        }
        // Called by hand it is called by whoever calls it.
        byHand(new Tick("byHand", 1));
    }

    static void byHand(Tick tick) {
        tick.run();
    }

    // ---- completable futures ----

    static CompletableFuture<Integer> stages(CompletableFuture<Integer> start, ExecutorService pool) {
        CompletableFuture<Integer> last = start.thenApply(x -> work("stages")).thenApplyAsync(x -> work("stages"))
            .thenApplyAsync(x -> work("stages"), pool).thenCompose(x -> CompletableFuture.completedFuture(work("stages")));
        last = last.thenCombine(start, (x, y) -> work("stages")).handle((x, failure) -> work("stages"))
            .handleAsync((x, failure) -> work("stages"), pool).whenComplete((x, failure) -> work("stages"));
        last = last.applyToEither(new CompletableFuture<>(), x -> work("stages")).thenApply(x -> {
            work("stages");
            throw new IllegalStateException("as ever");
        });
        CompletableFuture<Integer> other = last.exceptionally(failure -> work("stages"));
        other.thenAccept(x -> work("stages")).thenRun(() -> work("stages")).thenRunAsync(() -> work("stages"), pool).join();
        return other;
    }

    /** Stages are given to a class of the program's. */
    static class OwnFuture extends CompletableFuture<Integer> {}

    static void ownStages(OwnFuture own) throws Exception {
        CompletableFuture<Integer> end = own.thenApply(x -> work("ownStages")).whenCompleteAsync((x, failure) -> work("ownStages"));
        own.complete(1);
        end.get();
    }

    static void supply(ExecutorService pool) throws Exception {
        CompletableFuture.supplyAsync(() -> work("supply")).get();
        CompletableFuture.supplyAsync(() -> work("supply"), pool).get();
        CompletableFuture.runAsync(() -> work("supply")).get();
        new CompletableFuture<Integer>().completeAsync(() -> work("supply"), pool).get();
    }

    static void cancelled() throws Exception {
        CompletableFuture<Integer> never = new CompletableFuture<>();
        CompletableFuture<Integer> end = never.thenApply(x -> work("never")).exceptionally(failure -> work("cancelled"));
        never.cancel(true);
        end.get();
        try {
            new CompletableFuture<Integer>().orTimeout(1, TimeUnit.MILLISECONDS).handleAsync((x, failure) -> {
                work("cancelled");
                throw new IllegalStateException(failure);
            }).get();
        } catch (java.util.concurrent.ExecutionException e) {
            if (!(e.getCause().getCause() instanceof TimeoutException)) {
                throw e;
            }
        }
    }

    /** Each step hands over the next. */
    static CompletableFuture<Integer> step(int left, ExecutorService pool) {
        work("chain");
        return left == 0 ? CompletableFuture.completedFuture(1) : CompletableFuture.supplyAsync(() -> 1, pool).thenComposeAsync(x -> step(left - 1, pool), pool);
    }

    static void chain(ExecutorService pool) throws Exception {
        step(100, pool).get();
    }

    // ---- fork and join ----

    /** Forks one half and computes the other. */
    static class Half extends RecursiveTask<Integer> {
        final int size;

        Half(int size) {
            this.size = size;
        }

        @Override
        protected Integer compute() {
            if (size == 1) {
                work("halves");
                return 1;
            }
            Half left = new Half(size / 2);
            left.fork();
            return new Half(size - size / 2).compute() + left.join();
        }
    }

    static void halves(ForkJoinPool pool) throws Exception {
        int sum = pool.invoke(new Half(64)) + pool.submit(new Half(32)).get() + new Half(16).fork().join() + new Half(8).invoke();
        if (sum != 120) {
            throw new IllegalStateException("" + sum);
        }
    }

    static class All extends RecursiveAction {
        final int size;

        All(int size) {
            this.size = size;
        }

        @Override
        protected void compute() {
            if (size < 2) {
                work("all");
            } else if (size % 2 == 0) {
                invokeAll(new All(size / 2), new All(size / 2));
            } else {
                invokeAll(Arrays.asList(new All(size / 3), new All(size / 3), new All(size - 2 * (size / 3))));
            }
        }
    }

    static void all(ForkJoinPool pool) throws Exception {
        pool.invoke(new All(54));
        pool.execute(new Failing());
        All[] some = {new All(4), new All(6)};
        ForkJoinTask.invokeAll(some);
        List<All> listed = new ArrayList<>(Arrays.asList(new All(9), new All(3)));
        if (ForkJoinTask.invokeAll(listed) != listed) {
            throw new IllegalStateException("another list");
        }
        listed.get(0).reinitialize();
        pool.submit(listed.get(0)).get();
    }

    static final CountDownLatch FAILED = new CountDownLatch(1);

    static class Failing extends RecursiveAction {
        @Override
        protected void compute() {
            try {
                work("all");
                throw new IllegalStateException("as ever");
            } finally {
                FAILED.countDown();
            }
        }
    }

    static class Completer extends CountedCompleter<Void> {
        final int size;

        Completer(CountedCompleter<?> parent, int size) {
            super(parent);
            this.size = size;
        }

        @Override
        public void compute() {
            work("completers");
            if (size > 1) {
                setPendingCount(2);
                new Completer(this, size / 2).fork();
                new Completer(this, size / 2).fork();
            }
            tryComplete();
        }
    }

    static void completers(ForkJoinPool pool) {
        pool.invoke(new Completer(null, 16));
    }

    static void joined(ForkJoinPool pool) throws Exception {
        Callable<Integer> task = () -> work("joined");
        pool.submit(task).get();
        pool.invokeAll(Collections.nCopies(3, task));
        pool.submit(ForkJoinTask.adapt(task)).get();
    }

    // ---- parallel streams ----

    static void streams() {
        List<Integer> numbers = IntStream.range(0, 40).parallel().filter(i -> work("streams") > 0).boxed().collect(Collectors.toList());
        numbers.parallelStream().map(x -> work("streams")).mapToLong(x -> work("streams")).forEach(x -> work("streams"));
        numbers.stream().parallel().collect(Collectors.groupingBy(x -> work("streams") % 3));
        int sum = numbers.parallelStream().reduce(0, (x, y) -> x + y, (x, y) -> x + y);
        double same = LongStream.range(0, 40).parallel().mapToDouble(x -> work("streams") > 0 ? x : 0).reduce(0, (x, y) -> x + y);
        if (sum != (int) same || !numbers.parallelStream().sorted((x, y) -> y - x).findFirst().get().equals(39)) {
            throw new IllegalStateException(sum + " " + same);
        }
        sequential(numbers);
    }

    static void sequential(List<Integer> numbers) {
        numbers.stream().map(x -> work("sequential")).forEach(x -> work("sequential"));
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        references(pool, new Caller());
        Timer timer = new Timer("timer");
        timer(timer);
        timer.cancel();
        CompletableFuture<Integer> start = new CompletableFuture<>();
        pool.execute(() -> start.complete(1));
        stages(start, pool).get();
        ownStages(new OwnFuture());
        supply(pool);
        cancelled();
        chain(pool);
        ForkJoinPool forks = new ForkJoinPool(threads);
        halves(forks);
        all(forks);
        completers(forks);
        joined(forks);
        streams();
        FAILED.await();
        forks.shutdown();
        pool.shutdown();
        if (!forks.awaitTermination(1, TimeUnit.MINUTES) || !pool.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("it goes on");
        }
        DONE.forEach((cause, count) -> System.out.println(cause + ' ' + count));
        System.out.println("done");
    }
}
