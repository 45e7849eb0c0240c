package instrument.runtime;

import java.util.Collection;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** The hooks of the hand-over transform, recording for the judge; tasks stay what they are. */
public final class HandOver {
    private HandOver() {}

    public static Runnable wrap(Runnable task) {
        Recorder.other("task Runnable");
        return task;
    }

    public static <T> Callable<T> wrap(Callable<T> task) {
        Recorder.other("task Callable");
        return task;
    }

    public static <T> Supplier<T> wrap(Supplier<T> task) {
        Recorder.other("task Supplier");
        return task;
    }

    public static <A, R> Function<A, R> wrap(Function<A, R> task) {
        Recorder.other("task Function");
        return task;
    }

    public static <A> Consumer<A> wrap(Consumer<A> task) {
        Recorder.other("task Consumer");
        return task;
    }

    public static <A, B, R> BiFunction<A, B, R> wrap(BiFunction<A, B, R> task) {
        Recorder.other("task BiFunction");
        return task;
    }

    public static <A, B> BiConsumer<A, B> wrap(BiConsumer<A, B> task) {
        Recorder.other("task BiConsumer");
        return task;
    }

    public static Collection<?> wrap(Collection<?> tasks) {
        Recorder.other("task Collection");
        return tasks;
    }

    public static Runnable wrapFor(Object receiver, Runnable task) {
        Recorder.other("task Runnable for");
        return task;
    }

    public static <T> Callable<T> wrapFor(Object receiver, Callable<T> task) {
        Recorder.other("task Callable for");
        return task;
    }

    public static Collection<?> wrapFor(Object receiver, Collection<?> tasks) {
        Recorder.other("task Collection for");
        return tasks;
    }
}
