package instrument.runtime;

import java.util.Comparator;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;

/** A function of two objects, whichever of these interfaces it has. */
@SuppressWarnings("unchecked")
final class BinaryTask extends LinkedTask
        implements BinaryOperator<Object>,
                BiConsumer<Object, Object>,
                Comparator<Object> {
    BinaryTask(int link, Object task) {
        super(link, task);
    }

    @Override
    public Object apply(Object first, Object second) {
        ThreadState state = enter();
        try {
            return ((BiFunction<Object, Object, Object>) task).apply(first, second);
        } finally {
            leave(state);
        }
    }

    @Override
    public void accept(Object first, Object second) {
        ThreadState state = enter();
        try {
            ((BiConsumer<Object, Object>) task).accept(first, second);
        } finally {
            leave(state);
        }
    }

    @Override
    public int compare(Object first, Object second) {
        ThreadState state = enter();
        try {
            return ((Comparator<Object>) task).compare(first, second);
        } finally {
            leave(state);
        }
    }
}
