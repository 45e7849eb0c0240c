// Seeds of fuzz/corpus/class_scan: small classes that together have every structure a compiler writes.
//   javac -g -parameters -d OUT Seed.java              (as Seed*.class, Shape*.class)
//   javac -g:none --release 8 -d OUT Old.java          (as Old*.class)
//   javac -d OUT module-info.java
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

@Deprecated
public class Seed<T extends Comparable<? super T>> implements Runnable {
    static final long BIG = 1L << 40;
    static final double HALF = .5;
    static final float THIRD = 1f / 3;
    static final String TEXT = "\0 \ud800 \ud83d\ude00 \"quoted\\\" \u00e4";
    volatile transient int field;

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE_USE, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE_PARAMETER})
    @interface Mark {
        String[] value() default {"a", "b"};
        Class<?> type() default int[].class;
        RetentionPolicy policy() default RetentionPolicy.CLASS;
        Deprecated nested() default @Deprecated(since = "1", forRemoval = true);
        char letter() default 'x';
    }

    record Point(int x, @Mark("y") String y) {}

    enum Color { RED, GREEN { @Override int code() { return 7; } }; int code() { return ordinal(); } }

    Seed(boolean big) {
        super();
        Object list = new ArrayList<String>(big ? 1 : 2);
        field = list.hashCode();
    }

    @Mark @Override public synchronized void run() {
        try {
            for (int i = 0; i < 10; i += 1000) {
                switch (i) {
                    case 1: case 2: case 4: field++; break;
                    case 100: case 100000: throw new IllegalStateException("at " + i);
                    default: field--;
                }
            }
        } catch (IllegalStateException | ClassCastException e) {
            synchronized (this) { field = e.hashCode(); }
        } finally {
            field = 0;
        }
    }

    static <E extends Exception> Supplier<String> indy(@Mark List<@Mark("in") ? extends E> in, long l, double d) throws E {
        Function<Object, String> f = String::valueOf;
        @Mark Object o = (@Mark Object) new @Mark int[3][4][];
        if (o instanceof @Mark Cloneable) d += l % 3 + (int) d;
        double captured = d;
        return () -> f.apply(captured) + in + l;
    }

    String strings(String s) {
        return switch (s) { case "a" -> "x"; case "Aa", "BB" -> "y"; default -> { assert s != null; yield s; } };
    }
}

sealed interface Shape permits Shape.Round {
    private static int hidden() { return 1; }
    default int size() { return hidden(); }
    final class Round implements Shape {}
}
