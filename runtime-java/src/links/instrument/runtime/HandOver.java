package instrument.runtime;

import java.util.ArrayList;
import java.util.Collection;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinTask;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Tasks that are handed to another thread: what a task does is recorded under a frame of the link from the context that
 * handed it over. Arguments, results and exceptions pass unchanged. A task stays as it is where nothing is recorded, where
 * it is wrapped already, and where executors look at its other types: tasks with priorities, and tasks of fork and join, which {@link TaskLinks} knows.
 */
@SuppressWarnings({"overloads", "unchecked"})
public final class HandOver {
    private HandOver() {}

    /** A task that is about to be handed over. */
    public static Runnable wrap(Runnable task) {
        int link = link(task);
        return link == 0 ? task : new RunnableTask(link, task);
    }

    /** A task that is about to be handed over. */
    public static <T> Callable<T> wrap(Callable<T> task) {
        int link = link(task);
        return link == 0 ? task : new CallableTask<T>(link, task);
    }

    /** A task that is about to be handed over. */
    public static <T> Supplier<T> wrap(Supplier<T> task) {
        int link = link(task);
        return link == 0 ? task : (Supplier<T>) (Supplier<?>) new UnaryTask(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A, R> Function<A, R> wrap(Function<A, R> task) {
        int link = link(task);
        return link == 0 ? task : (Function<A, R>) (Function<?, ?>) new UnaryTask(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A> Consumer<A> wrap(Consumer<A> task) {
        int link = link(task);
        return link == 0 ? task : (Consumer<A>) (Consumer<?>) new UnaryTask(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A, B, R> BiFunction<A, B, R> wrap(BiFunction<A, B, R> task) {
        int link = link(task);
        return link == 0 ? task : (BiFunction<A, B, R>) (BiFunction<?, ?, ?>) new BinaryTask(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A, B> BiConsumer<A, B> wrap(BiConsumer<A, B> task) {
        int link = link(task);
        return link == 0 ? task : (BiConsumer<A, B>) (BiConsumer<?, ?>) new BinaryTask(link, task);
    }

    /** Tasks that are about to be handed over together: a list in their order, or the collection itself where nothing is recorded. */
    public static Collection<?> wrap(Collection<?> tasks) {
        // The iterator is the program's code: it runs once, as without us.
        if (tasks == null || !isRecorded()) {
            return tasks;
        }
        ArrayList<Object> wrapped = new ArrayList<Object>();
        for (Object task : tasks) {
            wrapped.add(task instanceof Callable ? wrap((Callable<?>) task) : task);
        }
        return wrapped;
    }

    /** A task that is about to be handed over if the receiver of the call is an executor. */
    public static Runnable wrapFor(Object receiver, Runnable task) {
        return takesTasks(receiver) ? wrap(task) : task;
    }

    /** A task that is about to be handed over if the receiver of the call is an executor. */
    public static <T> Callable<T> wrapFor(Object receiver, Callable<T> task) {
        return takesTasks(receiver) ? wrap(task) : task;
    }

    /** Tasks that are about to be handed over together if the receiver of the call is an executor. */
    public static Collection<?> wrapFor(Object receiver, Collection<?> tasks) {
        return takesTasks(receiver) ? wrap(tasks) : tasks;
    }

    /** Whether an object runs the tasks that its methods get. A StructuredTaskScope has been there since Java 21 only. */
    static boolean takesTasks(Object receiver) {
        if (receiver instanceof Executor || receiver instanceof CompletionService) {
            return true;
        }
        for (Class<?> c = receiver == null ? null : receiver.getClass(); c != null; c = c.getSuperclass()) {
            if (c.getName().equals("java.util.concurrent.StructuredTaskScope")) {
                return true;
            }
        }
        return false;
    }

    /** Whether a task would get a link here. */
    private static boolean isRecorded() {
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            return state != null && LinkFrames.canMake(state);
        } catch (StackOverflowError e) {
            return false;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return false;
        }
    }

    /** The link for a task; 0: it is not to be wrapped. */
    static int link(Object task) {
        if (task == null || task instanceof LinkedTask || task instanceof Comparable || task instanceof ForkJoinTask) {
            return 0;
        }
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            return state == null ? 0 : LinkFrames.make(state, Links.HAND_OVER);
        } catch (StackOverflowError e) {
            return 0;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return 0;
        }
    }

    private static final class RunnableTask extends LinkedTask implements Runnable {
        private final Runnable task;

        RunnableTask(int link, Runnable task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void run() {
            ThreadState state = enter();
            try {
                task.run();
            } finally {
                leave(state);
            }
        }
    }

    private static final class CallableTask<T> extends LinkedTask implements Callable<T> {
        private final Callable<T> task;

        CallableTask(int link, Callable<T> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public T call() throws Exception {
            ThreadState state = enter();
            try {
                return task.call();
            } finally {
                leave(state);
            }
        }
    }
}
