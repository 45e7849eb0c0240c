package instrument.runtime;

import java.util.function.IntBinaryOperator;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.ObjIntConsumer;

/** A function of int, whichever of its interfaces it has. */
@SuppressWarnings("unchecked")
final class IntTask extends LinkedTask
        implements IntFunction<Object>,
                IntUnaryOperator,
                IntPredicate,
                IntConsumer,
                IntBinaryOperator,
                IntToLongFunction,
                IntToDoubleFunction,
                ObjIntConsumer<Object> {
    IntTask(int link, Object task) {
        super(link, task);
    }

    @Override
    public Object apply(int argument) {
        ThreadState state = enter();
        try {
            return ((IntFunction<Object>) task).apply(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public int applyAsInt(int argument) {
        ThreadState state = enter();
        try {
            return ((IntUnaryOperator) task).applyAsInt(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public boolean test(int argument) {
        ThreadState state = enter();
        try {
            return ((IntPredicate) task).test(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(int argument) {
        ThreadState state = enter();
        try {
            ((IntConsumer) task).accept(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public int applyAsInt(int first, int second) {
        ThreadState state = enter();
        try {
            return ((IntBinaryOperator) task).applyAsInt(first, second);
        } finally {
            leave(state);
        }
    }

    @Override
    public long applyAsLong(int argument) {
        ThreadState state = enter();
        try {
            return ((IntToLongFunction) task).applyAsLong(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public double applyAsDouble(int argument) {
        ThreadState state = enter();
        try {
            return ((IntToDoubleFunction) task).applyAsDouble(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(Object first, int second) {
        ThreadState state = enter();
        try {
            ((ObjIntConsumer<Object>) task).accept(first, second);
        } finally {
            leave(state);
        }
    }
}
