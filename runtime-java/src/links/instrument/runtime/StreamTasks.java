package instrument.runtime;

import java.util.Comparator;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.BaseStream;
import java.util.stream.Collector;

/**
 * What parallel streams call: each function that one is given is wrapped like a task, and what it does is recorded under the link from the context that
 * gave it, in whichever thread. Functions of streams that are not parallel, when they are given, stay as they are.
 */
@SuppressWarnings("unchecked")
public final class StreamTasks {
    // The interfaces; those of numbers follow.
    private static final int FUNCTION = 0;
    private static final int PREDICATE = 1;
    private static final int CONSUMER = 2;
    private static final int BI_CONSUMER = 3;
    private static final int BI_FUNCTION = 4;
    private static final int BINARY_OPERATOR = 5;
    private static final int SUPPLIER = 6;
    private static final int COMPARATOR = 7;
    private static final int COLLECTOR = 8;
    private static final int TO_INT = 9;
    private static final int TO_LONG = 10;
    private static final int TO_DOUBLE = 11;
    /** Of int, long and double, so many each. */
    private static final int NUMBERS = 12;
    private static final int OF_EACH = 8;

    private StreamTasks() {}

    /** A function of an interface that is about to be given to a stream. */
    public static Object of(Object stream, Object function, int of) {
        // Others than the JDK's streams are the program's code.
        if (!(stream instanceof BaseStream) || !stream.getClass().getName().startsWith("java.util.stream.") || !((BaseStream<?, ?>) stream).isParallel()) {
            return function;
        }
        int link = HandOver.link(function);
        if (link == 0) {
            return function;
        }
        switch (of < NUMBERS ? -1 : (of - NUMBERS) / OF_EACH) {
            case 0:
                return IntTasks.wrapped(link, function, (of - NUMBERS) % OF_EACH);
            case 1:
                return LongTasks.wrapped(link, function, (of - NUMBERS) % OF_EACH);
            case 2:
                return DoubleTasks.wrapped(link, function, (of - NUMBERS) % OF_EACH);
            default:
                return wrapped(link, function, of);
        }
    }

    private static Object wrapped(int link, Object function, int of) {
        switch (of) {
            case FUNCTION:
                return new OfFunction(link, (Function<Object, Object>) function);
            case PREDICATE:
                return new OfPredicate(link, (Predicate<Object>) function);
            case CONSUMER:
                return new OfConsumer(link, (Consumer<Object>) function);
            case BI_CONSUMER:
                return new OfBiConsumer(link, (BiConsumer<Object, Object>) function);
            case BI_FUNCTION:
                return new OfBiFunction(link, (BiFunction<Object, Object, Object>) function);
            case BINARY_OPERATOR:
                return new OfBinaryOperator(link, (BinaryOperator<Object>) function);
            case SUPPLIER:
                return new OfSupplier(link, (Supplier<Object>) function);
            case COMPARATOR:
                return new OfComparator(link, (Comparator<Object>) function);
            case COLLECTOR:
                return new OfCollector(link, (Collector<Object, Object, Object>) function);
            case TO_INT:
                return new OfToInt(link, (ToIntFunction<Object>) function);
            case TO_LONG:
                return new OfToLong(link, (ToLongFunction<Object>) function);
            case TO_DOUBLE:
                return new OfToDouble(link, (ToDoubleFunction<Object>) function);
            default:
                return function;
        }
    }

    private static final class OfCollector implements Collector<Object, Object, Object> {
        private final int link;
        private final Collector<Object, Object, Object> task;

        OfCollector(int link, Collector<Object, Object, Object> task) {
            this.link = link;
            this.task = task;
        }

        @Override
        public Supplier<Object> supplier() {
            return new OfSupplier(link, task.supplier());
        }

        @Override
        public BiConsumer<Object, Object> accumulator() {
            return new OfBiConsumer(link, task.accumulator());
        }

        @Override
        public BinaryOperator<Object> combiner() {
            return new OfBinaryOperator(link, task.combiner());
        }

        @Override
        public Function<Object, Object> finisher() {
            return new OfFunction(link, task.finisher());
        }

        @Override
        public Set<Characteristics> characteristics() {
            return task.characteristics();
        }
    }

    private static final class OfFunction extends HandOver.Task implements Function<Object, Object> {
        private final Function<Object, Object> task;

        OfFunction(int link, Function<Object, Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public Object apply(Object argument) {
            ThreadState state = enter();
            try {
                return task.apply(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfPredicate extends HandOver.Task implements Predicate<Object> {
        private final Predicate<Object> task;

        OfPredicate(int link, Predicate<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public boolean test(Object argument) {
            ThreadState state = enter();
            try {
                return task.test(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfConsumer extends HandOver.Task implements Consumer<Object> {
        private final Consumer<Object> task;

        OfConsumer(int link, Consumer<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(Object argument) {
            ThreadState state = enter();
            try {
                task.accept(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfBiConsumer extends HandOver.Task implements BiConsumer<Object, Object> {
        private final BiConsumer<Object, Object> task;

        OfBiConsumer(int link, BiConsumer<Object, Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(Object first, Object second) {
            ThreadState state = enter();
            try {
                task.accept(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfBiFunction extends HandOver.Task implements BiFunction<Object, Object, Object> {
        private final BiFunction<Object, Object, Object> task;

        OfBiFunction(int link, BiFunction<Object, Object, Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public Object apply(Object first, Object second) {
            ThreadState state = enter();
            try {
                return task.apply(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfBinaryOperator extends HandOver.Task implements BinaryOperator<Object> {
        private final BinaryOperator<Object> task;

        OfBinaryOperator(int link, BinaryOperator<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public Object apply(Object first, Object second) {
            ThreadState state = enter();
            try {
                return task.apply(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfSupplier extends HandOver.Task implements Supplier<Object> {
        private final Supplier<Object> task;

        OfSupplier(int link, Supplier<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public Object get() {
            ThreadState state = enter();
            try {
                return task.get();
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfComparator extends HandOver.Task implements Comparator<Object> {
        private final Comparator<Object> task;

        OfComparator(int link, Comparator<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public int compare(Object first, Object second) {
            ThreadState state = enter();
            try {
                return task.compare(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfToInt extends HandOver.Task implements ToIntFunction<Object> {
        private final ToIntFunction<Object> task;

        OfToInt(int link, ToIntFunction<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public int applyAsInt(Object argument) {
            ThreadState state = enter();
            try {
                return task.applyAsInt(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfToLong extends HandOver.Task implements ToLongFunction<Object> {
        private final ToLongFunction<Object> task;

        OfToLong(int link, ToLongFunction<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public long applyAsLong(Object argument) {
            ThreadState state = enter();
            try {
                return task.applyAsLong(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfToDouble extends HandOver.Task implements ToDoubleFunction<Object> {
        private final ToDoubleFunction<Object> task;

        OfToDouble(int link, ToDoubleFunction<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public double applyAsDouble(Object argument) {
            ThreadState state = enter();
            try {
                return task.applyAsDouble(argument);
            } finally {
                leave(state);
            }
        }
    }
}
