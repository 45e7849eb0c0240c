package instrument.runtime;

import java.util.function.LongBinaryOperator;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.function.LongToDoubleFunction;
import java.util.function.LongToIntFunction;
import java.util.function.LongUnaryOperator;
import java.util.function.ObjLongConsumer;

/** A function of long, whichever of its interfaces it has. */
@SuppressWarnings("unchecked")
final class LongTask extends LinkedTask
        implements LongFunction<Object>,
                LongUnaryOperator,
                LongPredicate,
                LongConsumer,
                LongBinaryOperator,
                LongToIntFunction,
                LongToDoubleFunction,
                ObjLongConsumer<Object> {
    LongTask(int link, Object task) {
        super(link, task);
    }

    @Override
    public Object apply(long argument) {
        ThreadState state = enter();
        try {
            return ((LongFunction<Object>) task).apply(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public long applyAsLong(long argument) {
        ThreadState state = enter();
        try {
            return ((LongUnaryOperator) task).applyAsLong(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public boolean test(long argument) {
        ThreadState state = enter();
        try {
            return ((LongPredicate) task).test(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(long argument) {
        ThreadState state = enter();
        try {
            ((LongConsumer) task).accept(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public long applyAsLong(long first, long second) {
        ThreadState state = enter();
        try {
            return ((LongBinaryOperator) task).applyAsLong(first, second);
        } finally {
            leave(state);
        }
    }

    @Override
    public int applyAsInt(long argument) {
        ThreadState state = enter();
        try {
            return ((LongToIntFunction) task).applyAsInt(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public double applyAsDouble(long argument) {
        ThreadState state = enter();
        try {
            return ((LongToDoubleFunction) task).applyAsDouble(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(Object first, long second) {
        ThreadState state = enter();
        try {
            ((ObjLongConsumer<Object>) task).accept(first, second);
        } finally {
            leave(state);
        }
    }
}
