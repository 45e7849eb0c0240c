package instrument.runtime;

import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.function.LongToDoubleFunction;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjLongConsumer;

/** {@link StreamTasks} of the interfaces for long. */
@SuppressWarnings("unchecked")
final class LongTasks {
    private static final int FUNCTION = 0;
    private static final int UNARY_OPERATOR = 1;
    private static final int PREDICATE = 2;
    private static final int CONSUMER = 3;
    private static final int BINARY_OPERATOR = 4;
    private static final int TO_INT = 5;
    private static final int TO_DOUBLE = 6;
    private static final int OBJECT_CONSUMER = 7;

    private LongTasks() {}

    static Object wrapped(int link, Object function, int of) {
        switch (of) {
            case FUNCTION:
                return new OfLongFunction(link, (LongFunction<Object>) function);
            case UNARY_OPERATOR:
                return new OfLongUnaryOperator(link, (LongUnaryOperator) function);
            case PREDICATE:
                return new OfLongPredicate(link, (LongPredicate) function);
            case CONSUMER:
                return new OfLongConsumer(link, (LongConsumer) function);
            case BINARY_OPERATOR:
                return new OfLongBinaryOperator(link, (LongBinaryOperator) function);
            case TO_INT:
                return new OfLongToIntFunction(link, (LongToIntFunction) function);
            case TO_DOUBLE:
                return new OfLongToDoubleFunction(link, (LongToDoubleFunction) function);
            case OBJECT_CONSUMER:
                return new OfObjLongConsumer(link, (ObjLongConsumer<Object>) function);
            default:
                return function;
        }
    }

    private static final class OfLongFunction extends HandOver.Task implements LongFunction<Object> {
        private final LongFunction<Object> task;

        OfLongFunction(int link, LongFunction<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public Object apply(long argument) {
            ThreadState state = enter();
            try {
                return task.apply(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfLongUnaryOperator extends HandOver.Task implements LongUnaryOperator {
        private final LongUnaryOperator task;

        OfLongUnaryOperator(int link, LongUnaryOperator task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public long applyAsLong(long argument) {
            ThreadState state = enter();
            try {
                return task.applyAsLong(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfLongPredicate extends HandOver.Task implements LongPredicate {
        private final LongPredicate task;

        OfLongPredicate(int link, LongPredicate task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public boolean test(long argument) {
            ThreadState state = enter();
            try {
                return task.test(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfLongConsumer extends HandOver.Task implements LongConsumer {
        private final LongConsumer task;

        OfLongConsumer(int link, LongConsumer task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(long argument) {
            ThreadState state = enter();
            try {
                task.accept(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfLongBinaryOperator extends HandOver.Task implements LongBinaryOperator {
        private final LongBinaryOperator task;

        OfLongBinaryOperator(int link, LongBinaryOperator task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public long applyAsLong(long first, long second) {
            ThreadState state = enter();
            try {
                return task.applyAsLong(first, second);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfLongToIntFunction extends HandOver.Task implements LongToIntFunction {
        private final LongToIntFunction task;

        OfLongToIntFunction(int link, LongToIntFunction task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public int applyAsInt(long argument) {
            ThreadState state = enter();
            try {
                return task.applyAsInt(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfLongToDoubleFunction extends HandOver.Task implements LongToDoubleFunction {
        private final LongToDoubleFunction task;

        OfLongToDoubleFunction(int link, LongToDoubleFunction task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public double applyAsDouble(long argument) {
            ThreadState state = enter();
            try {
                return task.applyAsDouble(argument);
            } finally {
                leave(state);
            }
        }
    }

    private static final class OfObjLongConsumer extends HandOver.Task implements ObjLongConsumer<Object> {
        private final ObjLongConsumer<Object> task;

        OfObjLongConsumer(int link, ObjLongConsumer<Object> task) {
            super(link, task);
            this.task = task;
        }

        @Override
        public void accept(Object first, long second) {
            ThreadState state = enter();
            try {
                task.accept(first, second);
            } finally {
                leave(state);
            }
        }
    }
}
