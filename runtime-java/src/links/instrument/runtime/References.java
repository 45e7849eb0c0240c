package instrument.runtime;

import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Method references to what hands over a task: the object of a functional interface that a program makes of one gets another in its place, which does
 * with its last argument what is done in front of a call, and calls it.
 */
@SuppressWarnings("unchecked")
public final class References {
    // How the task is given.
    private static final int STARTS = 0;
    private static final int GIVEN = 1;
    private static final int RUNNABLE = 2;
    private static final int CALLABLE = 3;
    /** One more than a Callable: a Supplier. With this, the first argument has to be an executor. */
    private static final int BY_RECEIVER = 8;

    private References() {}

    /** What stands for a reference. */
    public static Object of(Object reference, int given) {
        if (reference instanceof Consumer) {
            return new OfConsumer((Consumer<Object>) reference, given);
        }
        if (reference instanceof Function) {
            return new OfFunction((Function<Object, Object>) reference, given);
        }
        if (reference instanceof BiConsumer) {
            return new OfBiConsumer((BiConsumer<Object, Object>) reference, given);
        }
        if (reference instanceof BiFunction) {
            return new OfBiFunction((BiFunction<Object, Object, Object>) reference, given);
        }
        return reference;
    }

    /** The same if its receiver is an executor. */
    public static Object ofReceiver(Object receiver, Object reference, int given) {
        return HandOver.takesTasks(receiver) ? of(reference, given) : reference;
    }

    private abstract static class Reference {
        private final Object reference;
        private final int given;

        Reference(Object reference, int given) {
            this.reference = reference;
            this.given = given;
        }

        /** The task in the place of one that is about to be handed over. */
        final Object task(Object first, Object task) {
            if ((given & BY_RECEIVER) != 0 && !HandOver.takesTasks(first)) {
                return task;
            }
            switch (given & ~BY_RECEIVER) {
                case STARTS:
                    ThreadLinks.starting(task);
                    return task;
                case GIVEN:
                    TaskLinks.given(task);
                    return task;
                case RUNNABLE:
                    return task instanceof Runnable ? HandOver.wrap((Runnable) task) : task;
                case CALLABLE:
                    return task instanceof Callable ? HandOver.wrap((Callable<?>) task) : task;
                default:
                    return task instanceof Supplier ? HandOver.wrap((Supplier<?>) task) : task;
            }
        }

        @Override
        public final String toString() {
            return reference.toString();
        }
    }

    private static final class OfConsumer extends Reference implements Consumer<Object> {
        private final Consumer<Object> reference;

        OfConsumer(Consumer<Object> reference, int given) {
            super(reference, given);
            this.reference = reference;
        }

        @Override
        public void accept(Object task) {
            reference.accept(task(null, task));
        }
    }

    private static final class OfFunction extends Reference implements Function<Object, Object> {
        private final Function<Object, Object> reference;

        OfFunction(Function<Object, Object> reference, int given) {
            super(reference, given);
            this.reference = reference;
        }

        @Override
        public Object apply(Object task) {
            return reference.apply(task(null, task));
        }
    }

    private static final class OfBiConsumer extends Reference implements BiConsumer<Object, Object> {
        private final BiConsumer<Object, Object> reference;

        OfBiConsumer(BiConsumer<Object, Object> reference, int given) {
            super(reference, given);
            this.reference = reference;
        }

        @Override
        public void accept(Object receiver, Object task) {
            reference.accept(receiver, task(receiver, task));
        }
    }

    private static final class OfBiFunction extends Reference implements BiFunction<Object, Object, Object> {
        private final BiFunction<Object, Object, Object> reference;

        OfBiFunction(BiFunction<Object, Object, Object> reference, int given) {
            super(reference, given);
            this.reference = reference;
        }

        @Override
        public Object apply(Object receiver, Object task) {
            return reference.apply(receiver, task(receiver, task));
        }
    }
}
