import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;

/** Calls into the JDK of every kind, a known number of times each. */
public final class Borrowed {
    static int compared;

    private Borrowed() {}

    public static void main(String[] args) throws Throwable {
        nested();
        callback();
        for (String text : new String[] {"7", "x", "y"}) {
            caught(text);
        }
        fails(0);
        fails(1);
        fails(2);
        down(2, false);
        try {
            down(2, true);
        } catch (IllegalStateException e) {
            // Through two calls of forEach.
        }
        constructed();
        supers();
        cloned();
        handle();
        copied();
        inherited();
        natives();
        swallowed();
        lambdas();
        threads();
        loop();
        System.exit(compared == 4 ? 3 : 4);
    }

    static int nested() {
        return Math.abs(Math.max(-3, -5));
    }

    static void callback() {
        Integer[] numbers = {3, 1, 2};
        Arrays.sort(numbers, new ByValue());
    }

    static final class ByValue implements Comparator<Object> {
        @Override
        public int compare(Object a, Object b) {
            compared++;
            return ((Integer) a).compareTo((Integer) b);
        }
    }

    static int caught(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    static void fails(int how) {
        try {
            switch (how) {
                case 0:
                    passes();
                    break;
                case 1:
                    cleans();
                    break;
                default:
                    rethrows();
            }
        } catch (IllegalArgumentException e) {
            // All of them do.
        }
    }

    static int passes() {
        return Integer.parseInt("x");
    }

    static int cleans() {
        try {
            return Integer.parseInt("x");
        } finally {
            Math.abs(1);
        }
    }

    static long rethrows() {
        try {
            return Long.parseLong("x");
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(e);
        }
    }

    static void down(int n, boolean fail) {
        if (n > 0) {
            Collections.singletonList("one").forEach(new Step(n - 1, fail));
        } else if (fail) {
            throw new IllegalStateException();
        }
    }

    static final class Step implements Consumer<Object> {
        private final int n;
        private final boolean fail;

        Step(int n, boolean fail) {
            this.n = n;
            this.fail = fail;
        }

        @Override
        public void accept(Object one) {
            down(n, fail);
        }
    }

    static void constructed() {
        new StringBuilder(5);
        try {
            new ArrayList<String>(-1);
        } catch (IllegalArgumentException e) {
            // Its constructor said so.
        }
    }

    static final class Mine extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        Mine(int size) {
            super(size);
        }

        int twice() {
            return size() + size();
        }
    }

    static final class Parsed {
        Parsed(int number) {}

        Parsed(String text) {
            this(Integer.parseInt(text));
        }
    }

    static void supers() {
        for (int size = -1; size < 2; size++) {
            try {
                new Mine(size);
            } catch (IllegalArgumentException e) {
                // The first one.
            }
        }
        try {
            new Parsed("5");
            new Parsed("x");
        } catch (NumberFormatException e) {
            // The second one.
        }
    }

    static final class Sheep implements Cloneable {
        Object copy() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static void cloned() throws CloneNotSupportedException {
        new int[3].clone();
        new String[0].clone();
        new Sheep().copy();
    }

    static int twice(int n) {
        return 2 * n;
    }

    static void handle() throws Throwable {
        MethodType type = MethodType.methodType(int.class, int.class);
        MethodHandle twice = MethodHandles.lookup().findStatic(Borrowed.class, "twice", type);
        int four = (int) twice.invokeExact(2);
    }

    static void copied() {
        long[] from = {1, 2, 3};
        System.arraycopy(from, 0, new long[3], 0, 3);
        try {
            System.arraycopy(from, 0, new long[2], 0, 3);
        } catch (IndexOutOfBoundsException e) {
            // There was no room.
        }
    }

    interface Named {
        String name();

        default String trimmed() {
            return name().trim();
        }
    }

    static final class Name implements Named {
        @Override
        public String name() {
            return " a ";
        }
    }

    static void inherited() {
        Named name = new Name();
        name.trimmed();
        Mine mine = new Mine(1);
        mine.twice();
        mine.size();
    }

    private static native int secret();

    static void natives() {
        try {
            secret();
        } catch (UnsatisfiedLinkError e) {
            // There is no library.
        }
    }

    static final class Failing implements Callable<Object> {
        @Override
        public Object call() {
            return Integer.valueOf(Integer.parseInt("x"));
        }
    }

    static void swallowed() throws Exception {
        new FutureTask<Object>(new Failing()).run();
        try {
            Parsed.class.getDeclaredConstructor(String.class).newInstance("x");
        } catch (java.lang.reflect.InvocationTargetException e) {
            // Thrown in front of this(..).
        }
    }

    static void lambdas() {
        Runnable task = () -> Math.abs(-1);
        task.run();
        task.run();
    }

    static final class Work implements Runnable {
        @Override
        public void run() {
            List<Object> none = Collections.emptyList();
            none.size();
        }
    }

    static void threads() throws InterruptedException {
        Thread thread = new Thread(new Work(), "work");
        thread.start();
        thread.join();
    }

    /** The first instruction of the loop is a call, and a branch leads to it. */
    static void loop() {
        int n = 0;
        do {
            try {
                n = Math.max(n + 1, 0);
                if (n == 2) {
                    Integer.parseInt("x");
                }
            } catch (NumberFormatException e) {
                n = Math.abs(n);
            } finally {
                n = Math.min(n, 3);
            }
        } while (n < 3);
    }
}
