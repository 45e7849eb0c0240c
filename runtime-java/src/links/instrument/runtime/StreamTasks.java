package instrument.runtime;

import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import java.util.stream.Collector;

/**
 * Functions that parallel streams call: each is wrapped like a task, and what it does is recorded under the link from the
 * context that gave it, in whichever thread. Functions of streams that are not parallel, when they are given, stay as they
 * are.
 */
@SuppressWarnings("unchecked")
public final class StreamTasks {
    // The numbers of interfaces: what is none of these is a function of one object.
    private static final int BI_CONSUMER = 3;
    private static final int BI_FUNCTION = 4;
    private static final int BINARY_OPERATOR = 5;
    private static final int COMPARATOR = 7;
    private static final int COLLECTOR = 8;
    /** Those of int, long and double begin here, so many each. */
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
                return new IntTask(link, function);
            case 1:
                return new LongTask(link, function);
            case 2:
                return new DoubleTask(link, function);
            default:
                return wrapped(link, function, of);
        }
    }

    private static Object wrapped(int link, Object function, int of) {
        switch (of) {
            case BI_CONSUMER:
            case BI_FUNCTION:
            case BINARY_OPERATOR:
            case COMPARATOR:
                return new BinaryTask(link, function);
            case COLLECTOR:
                return new OfCollector(link, (Collector<Object, Object, Object>) function);
            default:
                return new UnaryTask(link, function);
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
            return new UnaryTask(link, task.supplier());
        }

        @Override
        public BiConsumer<Object, Object> accumulator() {
            return new BinaryTask(link, task.accumulator());
        }

        @Override
        public BinaryOperator<Object> combiner() {
            return new BinaryTask(link, task.combiner());
        }

        @Override
        public Function<Object, Object> finisher() {
            return new UnaryTask(link, task.finisher());
        }

        @Override
        public Set<Characteristics> characteristics() {
            return task.characteristics();
        }
    }
}
