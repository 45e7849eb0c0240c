package instrument.runtime;

import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleConsumer;
import java.util.function.DoubleFunction;
import java.util.function.DoublePredicate;
import java.util.function.DoubleToIntFunction;
import java.util.function.DoubleToLongFunction;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ObjDoubleConsumer;

/** {@link StreamTasks} of the interfaces for double. */
@SuppressWarnings("unchecked")
final class DoubleTasks {
    private static final int FUNCTION = 0;
    private static final int UNARY_OPERATOR = 1;
    private static final int PREDICATE = 2;
    private static final int CONSUMER = 3;
    private static final int BINARY_OPERATOR = 4;
    private static final int TO_INT = 5;
    private static final int TO_LONG = 6;
    private static final int OBJECT_CONSUMER = 7;

    private DoubleTasks() {}

    static Object wrapped(int link, Object function, int of) {
        switch (of) {
            case FUNCTION:
                return new OfDoubleFunction(link, (DoubleFunction<Object>) function);
            case UNARY_OPERATOR:
                return new OfDoubleUnaryOperator(link, (DoubleUnaryOperator) function);
            case PREDICATE:
                return new OfDoublePredicate(link, (DoublePredicate) function);
            case CONSUMER:
                return new OfDoubleConsumer(link, (DoubleConsumer) function);
            case BINARY_OPERATOR:
                return new OfDoubleBinaryOperator(link, (DoubleBinaryOperator) function);
            case TO_INT:
                return new OfDoubleToIntFunction(link, (DoubleToIntFunction) function);
            case TO_LONG:
                return new OfDoubleToLongFunction(link, (DoubleToLongFunction) function);
            case OBJECT_CONSUMER:
                return new OfObjDoubleConsumer(link, (ObjDoubleConsumer<Object>) function);
            default:
                return function;
        }
    }

    private static final class OfDoubleFunction extends HandOver.Task implements DoubleFunction<Object> {
        private final DoubleFunction<Object> task;

        OfDoubleFunction(int link, DoubleFunction<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public Object apply(double argument) {
            ThreadState state = enter();
            try {
                return task.apply(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfDoubleUnaryOperator extends HandOver.Task implements DoubleUnaryOperator {
        private final DoubleUnaryOperator task;

        OfDoubleUnaryOperator(int link, DoubleUnaryOperator task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public double applyAsDouble(double argument) {
            ThreadState state = enter();
            try {
                return task.applyAsDouble(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfDoublePredicate extends HandOver.Task implements DoublePredicate {
        private final DoublePredicate task;

        OfDoublePredicate(int link, DoublePredicate task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public boolean test(double argument) {
            ThreadState state = enter();
            try {
                return task.test(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfDoubleConsumer extends HandOver.Task implements DoubleConsumer {
        private final DoubleConsumer task;

        OfDoubleConsumer(int link, DoubleConsumer task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(double argument) {
            ThreadState state = enter();
            try {
                task.accept(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfDoubleBinaryOperator extends HandOver.Task implements DoubleBinaryOperator {
        private final DoubleBinaryOperator task;

        OfDoubleBinaryOperator(int link, DoubleBinaryOperator task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public double applyAsDouble(double first, double second) {
            ThreadState state = enter();
            try {
                return task.applyAsDouble(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfDoubleToIntFunction extends HandOver.Task implements DoubleToIntFunction {
        private final DoubleToIntFunction task;

        OfDoubleToIntFunction(int link, DoubleToIntFunction task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public int applyAsInt(double argument) {
            ThreadState state = enter();
            try {
                return task.applyAsInt(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfDoubleToLongFunction extends HandOver.Task implements DoubleToLongFunction {
        private final DoubleToLongFunction task;

        OfDoubleToLongFunction(int link, DoubleToLongFunction task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public long applyAsLong(double argument) {
            ThreadState state = enter();
            try {
                return task.applyAsLong(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfObjDoubleConsumer extends HandOver.Task implements ObjDoubleConsumer<Object> {
        private final ObjDoubleConsumer<Object> task;

        OfObjDoubleConsumer(int link, ObjDoubleConsumer<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(Object first, double second) {
            ThreadState state = enter();
            try {
                task.accept(first, second);
            } finally {
                leave(state);
            }
        }
    }
}
