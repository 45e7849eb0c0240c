import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.IntSupplier;

/** Makes known numbers of objects of every kind, each kind of a class of its own or in a method of its own. */
public class Heap {
    static volatile Object sink;
    static final List<Object> KEPT = new ArrayList<>();

    static class Plain {
        int number;
    }

    static class Sub extends Plain {
        long more;
    }

    static class Copied implements Cloneable {
        int[] inside = new int[1];

        @Override
        protected Object clone() throws CloneNotSupportedException {
            Copied copy = (Copied) super.clone();
            copy.inside = inside.clone();
            return copy;
        }
    }

    static class Inherits implements Cloneable {
        Object copy() throws CloneNotSupportedException {
            return clone();
        }
    }

    /** Its copy() ends in a clone() that tells itself. */
    static class Overrides extends Inherits {
        @Override
        protected Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    public static class Reflected {}

    public static class Handled {}

    static class Saved implements Serializable {
        private static final long serialVersionUID = 1;
        int number = 7;
    }

    static class Threaded {}

    static class Fails {
        Fails() {
            throw new IllegalStateException();
        }
    }

    static class Dying {
        long[] data = new long[10];
    }

    static class Staying {}

    static class Unsafed {}

    static class AfterOverflow {}

    static class AfterMemory {}

    static class Finalized {
        static int count;

        @Override
        protected void finalize() {
            synchronized (Finalized.class) {
                count++;
            }
        }
    }

    static class Endless {
        Endless next;

        Endless() {
            next = new Endless();
        }
    }

    enum Kind {
        ONE, TWO
    }

    static void objects() {
        for (int i = 0; i < 1000; i++) {
            sink = new Plain();
        }
        for (int i = 0; i < 10; i++) {
            sink = new Sub();
        }
        for (int i = 0; i < 5; i++) {
            try {
                sink = new Fails();
            } catch (IllegalStateException e) {
                // It was made all the same.
            }
        }
    }

    static void arrays() {
        for (int i = 0; i < 3; i++) {
            sink = new boolean[1];
            sink = new byte[2];
            sink = new char[3];
            sink = new short[4];
            sink = new int[5];
            sink = new long[6];
            sink = new float[7];
            sink = new double[8];
            sink = new Plain[4];
            sink = new Plain[1][];
        }
    }

    static void zeros() {
        for (int i = 0; i < 5; i++) {
            sink = new int[0];
            sink = new Plain[0];
        }
    }

    static void multi() {
        sink = new int[2][3];
        sink = new short[2][3][];
        sink = new Plain[2][0][5];
        sink = new long[0][5];
        sink = new byte[2][2][2];
        try {
            sink = new char[2][-1];
        } catch (NegativeArraySizeException e) {
            // None was made.
        }
    }

    static void clones(int[] row, int[][] rows) throws Exception {
        for (int i = 0; i < 4; i++) {
            sink = row.clone();
            sink = rows.clone();
        }
        sink = Kind.values();
    }

    static void copies() throws Exception {
        Copied copied = new Copied();
        Inherits inherits = new Inherits();
        Overrides overrides = new Overrides();
        for (int i = 0; i < 6; i++) {
            sink = copied.clone();
            sink = inherits.copy();
            sink = overrides.copy();
        }
    }

    static void reflection() throws Exception {
        Constructor<Reflected> constructor = Reflected.class.getConstructor();
        for (int i = 0; i < 50; i++) {
            sink = constructor.newInstance();
        }
        MethodHandle handle = MethodHandles.lookup().findConstructor(Handled.class, MethodType.methodType(void.class));
        for (int i = 0; i < 20; i++) {
            try {
                sink = handle.invoke();
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
    }

    static void reflectiveArrays(int[] dimensions) {
        for (int i = 0; i < 7; i++) {
            sink = Array.newInstance(Reflected.class, 3);
            sink = Array.newInstance(double.class, dimensions);
        }
    }

    static void serialisation() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ObjectOutputStream out = new ObjectOutputStream(bytes);
        for (int i = 0; i < 20; i++) {
            out.writeObject(new Saved());
        }
        out.close();
        ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
        for (int i = 0; i < 20; i++) {
            if (((Saved) in.readObject()).number != 7) {
                throw new AssertionError();
            }
        }
    }

    static void boxing() {
        for (int i = 0; i < 30; i++) {
            sink = 100000 + i;
        }
    }

    static void lambdas() {
        for (int i = 0; i < 40; i++) {
            int captured = i;
            IntSupplier supplier = () -> captured;
            sink = supplier;
        }
    }

    static void strings() {
        for (int i = 0; i < 25; i++) {
            sink = new String("x");
            sink = new StringBuilder().append("y").append(i).toString();
        }
    }

    static void threads() throws Exception {
        Thread[] threads = new Thread[40];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int j = 0; j < 1000; j++) {
                    sink = new Threaded();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void weak() throws Exception {
        List<WeakReference<Object>> references = new ArrayList<>();
        fill(references);
        for (int i = 0; i < 200 && !gone(references); i++) {
            System.gc();
            Thread.sleep(10);
        }
        System.out.println("gone " + gone(references));
    }

    private static void fill(List<WeakReference<Object>> references) {
        for (int i = 0; i < 1000; i++) {
            references.add(new WeakReference<Object>(new Dying()));
        }
        for (int i = 0; i < 10; i++) {
            KEPT.add(new Staying());
        }
    }

    private static boolean gone(List<WeakReference<Object>> references) {
        for (WeakReference<Object> reference : references) {
            if (reference.get() != null) {
                return false;
            }
        }
        return true;
    }

    @SuppressWarnings("deprecation")
    static void finalizers() throws Exception {
        for (int i = 0; i < 50; i++) {
            sink = new Finalized();
        }
        sink = null;
        for (int i = 0; i < 200; i++) {
            System.gc();
            Thread.sleep(10);
            synchronized (Finalized.class) {
                if (Finalized.count == 50) {
                    break;
                }
            }
        }
        System.out.println("finalized " + Finalized.count);
    }

    static void overflow() {
        for (int i = 0; i < 3; i++) {
            try {
                sink = new Endless();
            } catch (StackOverflowError e) {
                System.out.println("overflow");
            }
        }
        for (int i = 0; i < 100; i++) {
            sink = new AfterOverflow();
        }
    }

    static void memory() {
        try {
            sink = new long[Integer.MAX_VALUE - 8];
        } catch (OutOfMemoryError e) {
            System.out.println("too large");
        }
        try {
            Object[] chain = null;
            while (true) {
                Object[] next = new Object[1 << 16];
                next[0] = chain;
                chain = next;
            }
        } catch (OutOfMemoryError e) {
            System.out.println("full");
        }
        for (int i = 0; i < 100; i++) {
            sink = new AfterMemory();
        }
    }

    static void unseen() throws Exception {
        Class<?> type = Class.forName("sun.misc.Unsafe");
        java.lang.reflect.Field field = type.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        java.lang.reflect.Method allocate = type.getMethod("allocateInstance", Class.class);
        for (int i = 0; i < 8; i++) {
            sink = allocate.invoke(field.get(null), Unsafed.class);
        }
        // Made by a class of the JDK.
        sink = Collections.nCopies(3, "x").toArray();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0 && arguments[0].equals("memory")) {
            memory();
            return;
        }
        objects();
        arrays();
        zeros();
        multi();
        clones(new int[] {1}, new int[][] {null});
        copies();
        reflection();
        reflectiveArrays(new int[] {2, 3});
        serialisation();
        boxing();
        lambdas();
        // To look for the class makes a string, the first time.
        sink = new StringBuilder();
        strings();
        threads();
        weak();
        finalizers();
        unseen();
        overflow();
        if (arguments.length > 0 && arguments[0].equals("exit")) {
            System.exit(7);
        }
        System.out.println(KEPT.size());
    }
}
