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
@SuppressWarnings("overloads")
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
        return link == 0 ? task : new SupplierTask<T>(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A, R> Function<A, R> wrap(Function<A, R> task) {
        int link = link(task);
        return link == 0 ? task : new FunctionTask<A, R>(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A> Consumer<A> wrap(Consumer<A> task) {
        int link = link(task);
        return link == 0 ? task : new ConsumerTask<A>(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A, B, R> BiFunction<A, B, R> wrap(BiFunction<A, B, R> task) {
        int link = link(task);
        return link == 0 ? task : new BiFunctionTask<A, B, R>(link, task);
    }

    /** A task that is about to be handed over. */
    public static <A, B> BiConsumer<A, B> wrap(BiConsumer<A, B> task) {
        int link = link(task);
        return link == 0 ? task : new BiConsumerTask<A, B>(link, task);
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
        if (task == null || task instanceof Task || task instanceof Comparable || task instanceof ForkJoinTask) {
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

    /** Opens the frame of a link; null: it could not be opened. */
    static ThreadState enter(int link) {
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            if (state == null) {
                state = CurrentThread.newState();
            }
            return state != null && LinkFrames.enter(state, link) ? state : null;
        } catch (StackOverflowError e) {
            return null;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return null;
        }
    }

    /** Closes the frame that was opened; null: none was. */
    static void leave(ThreadState state, int link) {
        if (state == null) {
            return;
        }
        try {
            LinkFrames.leave(state, link);
        } catch (StackOverflowError e) {
            // The frame stays open until one beneath it closes.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** A wrapped task. */
    abstract static class Task {
        private final int link;
        private final Object task;

        Task(int link, Object task) {
            this.link = link;
            this.task = task;
        }

        /** Opens the frame; null: it could not be opened. */
        final ThreadState enter() {
            return HandOver.enter(link);
        }

        final void leave(ThreadState state) {
            HandOver.leave(state, link);
        }

        @Override
        public final String toString() {
            return task.toString();
        }
    }

    private static final class RunnableTask extends Task implements Runnable {
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

    private static final class CallableTask<T> extends Task implements Callable<T> {
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

    private static final class SupplierTask<T> extends Task implements Supplier<T> {
        private final Supplier<T> task;

        SupplierTask(int link, Supplier<T> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public T get() {
            ThreadState state = enter();
            try {
                return task.get();
            } finally {
                leave(state);
            }
        }
    }

    private static final class FunctionTask<A, R> extends Task implements Function<A, R> {
        private final Function<A, R> task;

        FunctionTask(int link, Function<A, R> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public R apply(A argument) {
            ThreadState state = enter();
            try {
                return task.apply(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class ConsumerTask<A> extends Task implements Consumer<A> {
        private final Consumer<A> task;

        ConsumerTask(int link, Consumer<A> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(A argument) {
            ThreadState state = enter();
            try {
                task.accept(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class BiFunctionTask<A, B, R> extends Task implements BiFunction<A, B, R> {
        private final BiFunction<A, B, R> task;

        BiFunctionTask(int link, BiFunction<A, B, R> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public R apply(A first, B second) {
            ThreadState state = enter();
            try {
                return task.apply(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class BiConsumerTask<A, B> extends Task implements BiConsumer<A, B> {
        private final BiConsumer<A, B> task;

        BiConsumerTask(int link, BiConsumer<A, B> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(A first, B second) {
            ThreadState state = enter();
            try {
                task.accept(first, second);
            } finally {
                leave(state);
            }
        }
    }
}
