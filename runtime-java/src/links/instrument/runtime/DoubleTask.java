package instrument.runtime;

import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleConsumer;
import java.util.function.DoubleFunction;
import java.util.function.DoublePredicate;
import java.util.function.DoubleToIntFunction;
import java.util.function.DoubleToLongFunction;
import java.util.function.DoubleUnaryOperator;
import java.util.function.ObjDoubleConsumer;

/** A function of double, whichever of its interfaces it has. */
@SuppressWarnings("unchecked")
final class DoubleTask extends LinkedTask
        implements DoubleFunction<Object>,
                DoubleUnaryOperator,
                DoublePredicate,
                DoubleConsumer,
                DoubleBinaryOperator,
                DoubleToIntFunction,
                DoubleToLongFunction,
                ObjDoubleConsumer<Object> {
    DoubleTask(int link, Object task) {
        super(link, task);
    }

    @Override
    public Object apply(double argument) {
        ThreadState state = enter();
        try {
            return ((DoubleFunction<Object>) task).apply(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public double applyAsDouble(double argument) {
        ThreadState state = enter();
        try {
            return ((DoubleUnaryOperator) task).applyAsDouble(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public boolean test(double argument) {
        ThreadState state = enter();
        try {
            return ((DoublePredicate) task).test(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(double argument) {
        ThreadState state = enter();
        try {
            ((DoubleConsumer) task).accept(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public double applyAsDouble(double first, double second) {
        ThreadState state = enter();
        try {
            return ((DoubleBinaryOperator) task).applyAsDouble(first, second);
        } finally {
            leave(state);
        }
    }

    @Override
    public int applyAsInt(double argument) {
        ThreadState state = enter();
        try {
            return ((DoubleToIntFunction) task).applyAsInt(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public long applyAsLong(double argument) {
        ThreadState state = enter();
        try {
            return ((DoubleToLongFunction) task).applyAsLong(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(Object first, double second) {
        ThreadState state = enter();
        try {
            ((ObjDoubleConsumer<Object>) task).accept(first, second);
        } finally {
            leave(state);
        }
    }
}
