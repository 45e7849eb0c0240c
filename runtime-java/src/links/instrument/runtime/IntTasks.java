package instrument.runtime;

import java.util.function.IntBinaryOperator;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.ObjIntConsumer;

/** {@link StreamTasks} of the interfaces for int. */
@SuppressWarnings("unchecked")
final class IntTasks {
    private static final int FUNCTION = 0;
    private static final int UNARY_OPERATOR = 1;
    private static final int PREDICATE = 2;
    private static final int CONSUMER = 3;
    private static final int BINARY_OPERATOR = 4;
    private static final int TO_LONG = 5;
    private static final int TO_DOUBLE = 6;
    private static final int OBJECT_CONSUMER = 7;

    private IntTasks() {}

    static Object wrapped(int link, Object function, int of) {
        switch (of) {
            case FUNCTION:
                return new OfIntFunction(link, (IntFunction<Object>) function);
            case UNARY_OPERATOR:
                return new OfIntUnaryOperator(link, (IntUnaryOperator) function);
            case PREDICATE:
                return new OfIntPredicate(link, (IntPredicate) function);
            case CONSUMER:
                return new OfIntConsumer(link, (IntConsumer) function);
            case BINARY_OPERATOR:
                return new OfIntBinaryOperator(link, (IntBinaryOperator) function);
            case TO_LONG:
                return new OfIntToLongFunction(link, (IntToLongFunction) function);
            case TO_DOUBLE:
                return new OfIntToDoubleFunction(link, (IntToDoubleFunction) function);
            case OBJECT_CONSUMER:
                return new OfObjIntConsumer(link, (ObjIntConsumer<Object>) function);
            default:
                return function;
        }
    }

    private static final class OfIntFunction extends HandOver.Task implements IntFunction<Object> {
        private final IntFunction<Object> task;

        OfIntFunction(int link, IntFunction<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public Object apply(int argument) {
            ThreadState state = enter();
            try {
                return task.apply(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfIntUnaryOperator extends HandOver.Task implements IntUnaryOperator {
        private final IntUnaryOperator task;

        OfIntUnaryOperator(int link, IntUnaryOperator task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public int applyAsInt(int argument) {
            ThreadState state = enter();
            try {
                return task.applyAsInt(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfIntPredicate extends HandOver.Task implements IntPredicate {
        private final IntPredicate task;

        OfIntPredicate(int link, IntPredicate task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public boolean test(int argument) {
            ThreadState state = enter();
            try {
                return task.test(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfIntConsumer extends HandOver.Task implements IntConsumer {
        private final IntConsumer task;

        OfIntConsumer(int link, IntConsumer task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(int argument) {
            ThreadState state = enter();
            try {
                task.accept(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfIntBinaryOperator extends HandOver.Task implements IntBinaryOperator {
        private final IntBinaryOperator task;

        OfIntBinaryOperator(int link, IntBinaryOperator task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public int applyAsInt(int first, int second) {
            ThreadState state = enter();
            try {
                return task.applyAsInt(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfIntToLongFunction extends HandOver.Task implements IntToLongFunction {
        private final IntToLongFunction task;

        OfIntToLongFunction(int link, IntToLongFunction task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public long applyAsLong(int argument) {
            ThreadState state = enter();
            try {
                return task.applyAsLong(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfIntToDoubleFunction extends HandOver.Task implements IntToDoubleFunction {
        private final IntToDoubleFunction task;

        OfIntToDoubleFunction(int link, IntToDoubleFunction task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public double applyAsDouble(int argument) {
            ThreadState state = enter();
            try {
                return task.applyAsDouble(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfObjIntConsumer extends HandOver.Task implements ObjIntConsumer<Object> {
        private final ObjIntConsumer<Object> task;

        OfObjIntConsumer(int link, ObjIntConsumer<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(Object first, int second) {
            ThreadState state = enter();
            try {
                task.accept(first, second);
            } finally {
                leave(state);
            }
        }
    }
}
