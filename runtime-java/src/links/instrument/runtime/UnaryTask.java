package instrument.runtime;

import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

/** A function of one object or of none, whichever of these interfaces it has. */
@SuppressWarnings("unchecked")
final class UnaryTask extends LinkedTask
        implements Function<Object, Object>,
                Predicate<Object>,
                Consumer<Object>,
                Supplier<Object>,
                ToIntFunction<Object>,
                ToLongFunction<Object>,
                ToDoubleFunction<Object> {
    UnaryTask(int link, Object task) {
        super(link, task);
    }

    @Override
    public Object apply(Object argument) {
        ThreadState state = enter();
        try {
            return ((Function<Object, Object>) task).apply(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public boolean test(Object argument) {
        ThreadState state = enter();
        try {
            return ((Predicate<Object>) task).test(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(Object argument) {
        ThreadState state = enter();
        try {
            ((Consumer<Object>) task).accept(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public Object get() {
        ThreadState state = enter();
        try {
            return ((Supplier<Object>) task).get();
        } finally {
            leave(state);
        }
    }

    @Override
    public int applyAsInt(Object argument) {
        ThreadState state = enter();
        try {
            return ((ToIntFunction<Object>) task).applyAsInt(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public long applyAsLong(Object argument) {
        ThreadState state = enter();
        try {
            return ((ToLongFunction<Object>) task).applyAsLong(argument);
        } finally {
            leave(state);
        }
    }

    @Override
    public double applyAsDouble(Object argument) {
        ThreadState state = enter();
        try {
            return ((ToDoubleFunction<Object>) task).applyAsDouble(argument);
        } finally {
            leave(state);
        }
    }
}
