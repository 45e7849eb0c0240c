// Programs for tests/tests/bytecodes.rs, a class with a main for each: what they execute is counted by a JVM, and by our transform. HotSpot hides
// single steps while it resolves an instruction, so classes are not initialised by the first getstatic or invokestatic, but by name or by new.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;

class Loops {
    public static void main(String[] args) {
        long sum = 0;
        for (int i = 0; i < 3000; i++) {
            for (int j = i; j > 0; j /= 3) {
                sum += i ^ j;
            }
        }
        int k = 0;
        do {
            k += 7;
            if (k % 5 == 0) {
                continue;
            }
            sum++;
        } while (k < 1000);
        outer:
        for (int i = 0; ; i++) {
            for (int j = 0; j < i; j++) {
                if (i * j > 500) {
                    break outer;
                }
            }
        }
        System.out.println(sum);
    }
}

/** The first instruction is the head of a loop. */
class BackToTheStart {
    static int left = 40;

    static void down() {
        while (left > 0) {
            left--;
        }
    }

    public static void main(String[] args) {
        down();
        down();
        System.out.println(left);
    }
}

class Switches {
    static int dense(int i) {
        switch (i) {
            case 0: return 1;
            case 1:
            case 2: i += 5;
            case 3: return i * 2;
            default: return -1;
        }
    }

    static String sparse(String s) {
        switch (s) {
            case "Aa": return "a";
            case "BB": return "b";
            case "something": return "c";
            default: return "d";
        }
    }

    enum Color {RED, GREEN, BLUE}

    static int color(Color color) {
        switch (color) {
            case RED: return 10;
            case BLUE: return 20;
            default: return 30;
        }
    }

    public static void main(String[] args) throws ClassNotFoundException {
        Class.forName("Switches$Color");
        Class.forName("Switches$1");
        int sum = 0;
        for (int i = -1; i < 6; i++) {
            sum += dense(i);
        }
        for (String s : new String[] {"Aa", "BB", "something", "else"}) {
            sum += sparse(s).charAt(0);
        }
        for (Color color : Color.values()) {
            sum += color(color);
        }
        System.out.println(sum);
    }
}

/** Exceptions that the virtual machine throws in the middle of a block, each from another instruction. */
class Thrown {
    static int field;
    int own;

    static int each(int which, int[] a, Object o, Thrown t) {
        int x = 3;
        x += which;
        switch (which) {
            case 0: x = x * a[which + 9] + 1; break;
            case 1: x = x / (which - 1) + 1; break;
            case 2: x += ((String) o).length() + x; break;
            case 3: x += t.own + x; break;
            case 4: t.own = x + 1; x++; break;
            case 5: x += new int[-which].length + x; break;
            case 6: x += a.length + x; a = null; x += a.length + x; break;
            case 7: Object[] strings = new String[3]; strings[1] = x; x++; break;
            case 8: synchronized (t) { x++; } break;
            case 9: x += t.hashCode() + 1; break;
            case 10: x += (int) (5L % (long) (which - 10)); break;
            case 11: x += new int[2][-1].length; break;
            case 12: throw (RuntimeException) null;
            default: x--;
        }
        field += x;
        return x;
    }

    public static void main(String[] args) {
        int caught = 0;
        for (int i = 0; i < 15; i++) {
            try {
                each(i, new int[] {1, 2}, Integer.valueOf(5), null);
                caught += 100;
            } catch (RuntimeException e) {
                caught++;
            }
        }
        System.out.println(caught);
    }
}

class NestedHandlers {
    static int deep(int n) {
        int sum = 0;
        try {
            sum++;
            try {
                sum += 2;
                if (n % 3 == 0) {
                    throw new IllegalStateException();
                }
                sum += Integer.parseInt(n % 2 == 0 ? "x" : "1");
                try {
                    sum += 100 / (n % 5);
                } catch (ArithmeticException e) {
                    sum += 1000;
                    throw e;
                }
            } catch (NumberFormatException e) {
                sum += 3;
                sum += 100 / (n % 4);
            } catch (IllegalStateException e) {
                sum += 5;
            }
        } catch (ArithmeticException e) {
            sum += 7;
        }
        return sum;
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 60; i++) {
            sum += deep(i);
        }
        System.out.println(sum);
    }
}

class Finally {
    static int log;

    @SuppressWarnings("finally")
    static int f(int n) {
        for (int i = 0; i < 3; i++) {
            try {
                if (n == i) {
                    return n;
                }
                if (n == i + 3) {
                    continue;
                }
                if (n == 7) {
                    throw new RuntimeException();
                }
                log++;
            } finally {
                log += 10;
                if (n == 8) {
                    break;
                }
            }
        }
        return -1;
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int n = 0; n < 10; n++) {
            try {
                sum += f(n);
            } catch (RuntimeException e) {
                sum += 50;
            }
        }
        System.out.println(sum + log);
    }
}

/** Constructors whose super() or this() throws, and whose arguments do. */
class Constructors {
    static class Base {
        final int n;

        Base(int n) {
            if (n < 0) {
                throw new IllegalArgumentException();
            }
            this.n = n;
        }

        Base() {
            this(5);
        }
    }

    static class Derived extends Base {
        int[] more = {1, 2, 3};

        Derived(int n) {
            super(n > 10 ? 100 / (n - 11) : n);
            more[0] = n;
        }

        Derived(String text) {
            this(Integer.parseInt(text));
            more[1] += 2;
        }

        Derived() {}

        Derived(int[] a, int i) {
            super(a[i] + a.length);
            more[a[i]] = 1;
        }
    }

    interface Maker {
        Object make();
    }

    public static void main(String[] args) {
        int caught = 0;
        Maker[] makers = {
            () -> new Derived(3), () -> new Derived(-3), () -> new Derived(11), () -> new Derived(12), () -> new Derived("4"),
            () -> new Derived("four"), () -> new Derived("-4"), () -> new Derived(), () -> new Derived(new int[] {1, 9}, 0),
            () -> new Derived(new int[] {1, 9}, 1), () -> new Derived(new int[] {1, 9}, 2), () -> new Derived(null, 0),
        };
        for (Maker maker : makers) {
            try {
                maker.make();
            } catch (RuntimeException e) {
                caught++;
            }
        }
        System.out.println(caught);
    }
}

class Lambdas {
    static int twice(int x) {
        return 2 * x;
    }

    public static void main(String[] args) {
        IntBinaryOperator add = (a, b) -> a + b;
        Function<Integer, Function<Integer, Integer>> curried = a -> b -> a * b;
        Supplier<List<String>> supplier = ArrayList::new;
        List<String> list = supplier.get();
        for (String s : "the quick brown fox".split(" ")) {
            list.add(s);
        }
        list.sort(Comparator.comparing(String::length).thenComparing(s -> s));
        int sum = list.stream().map(s -> s.charAt(0)).filter(c -> c > 'b').mapToInt(c -> twice(c)).reduce(0, add);
        System.out.println(sum + curried.apply(6).apply(7));
    }
}

class Recursion {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int ackermann(int m, int n) {
        if (m == 0) {
            return n + 1;
        }
        // Two steps in the same place, as of returns right after one another, are one to HotSpot.
        int result = n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
        return result;
    }

    static boolean even(int n) {
        return n == 0 || odd(n - 1);
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1);
    }

    static int fails(int n) {
        if (n == 0) {
            throw new UnsupportedOperationException();
        }
        try {
            return fails(n - 1) + 1;
        } finally {
            deepest = Math.max(deepest, n);
        }
    }

    static int deepest;

    public static void main(String[] args) {
        try {
            fails(20);
        } catch (UnsupportedOperationException e) {
            deepest++;
        }
        System.out.println(fib(15) + ackermann(2, 3) + (even(50) ? 1 : 0) + deepest);
    }
}

class Synchronized {
    private int count;
    private final Object lock = new Object();

    synchronized int inc() {
        return ++count;
    }

    static synchronized void shared(Synchronized s) {
        s.count += 2;
    }

    int block(int n) {
        synchronized (lock) {
            synchronized (this) {
                if (n % 7 == 0) {
                    throw new IllegalStateException();
                }
                count += n;
            }
            return count;
        }
    }

    public static void main(String[] args) {
        Synchronized s = new Synchronized();
        int sum = 0;
        for (int i = 0; i < 50; i++) {
            sum += s.inc();
            shared(s);
            try {
                sum += s.block(i);
            } catch (IllegalStateException e) {
                sum--;
            }
        }
        System.out.println(sum);
    }
}

class LongDouble {
    static long gcd(long a, long b) {
        while (b != 0) {
            long t = a % b;
            a = b;
            b = t;
        }
        return a;
    }

    static double newton(double x) {
        double y = x;
        for (int i = 0; i < 20 && Math.abs(y * y - x) > 1e-9; i++) {
            y = (y + x / y) / 2;
        }
        return y;
    }

    static float mix(int i, long l, float f, double d) {
        return (float) (i + l * d) / f + (int) d - (short) l + (byte) i + (char) i;
    }

    static long divides(long a, long b) {
        return 5 + a / b;
    }

    public static void main(String[] args) {
        double sum = 0;
        for (int i = 1; i < 50; i++) {
            sum += gcd(i * 120L, 1L << i % 20) + newton(i) + mix(i, i * 7L, i, i / 3.0);
            sum += 0.1f < sum ? -1 : 1;
        }
        try {
            divides(1L, 0L);
        } catch (ArithmeticException e) {
            sum++;
        }
        System.out.println((long) sum);
    }
}

/** More than 255 local variables: wide instructions, also of ours. */
class Wide {
    static int many(int n) {
        long l0 = n, l1 = 1, l2 = 2, l3 = 3, l4 = 4, l5 = 5, l6 = 6, l7 = 7, l8 = 8, l9 = 9, l10, l11, l12, l13, l14, l15, l16, l17, l18, l19;
        long m0 = n, m1 = 1, m2 = 2, m3 = 3, m4 = 4, m5 = 5, m6 = 6, m7 = 7, m8 = 8, m9 = 9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19;
        long n0 = n, n1 = 1, n2 = 2, n3 = 3, n4 = 4, n5 = 5, n6 = 6, n7 = 7, n8 = 8, n9 = 9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19;
        long o0 = n, o1 = 1, o2 = 2, o3 = 3, o4 = 4, o5 = 5, o6 = 6, o7 = 7, o8 = 8, o9 = 9, o10, o11, o12, o13, o14, o15, o16, o17, o18, o19;
        long p0 = n, p1 = 1, p2 = 2, p3 = 3, p4 = 4, p5 = 5, p6 = 6, p7 = 7, p8 = 8, p9 = 9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19;
        long q0 = n, q1 = 1, q2 = 2, q3 = 3, q4 = 4, q5 = 5, q6 = 6, q7 = 7, q8 = 8, q9 = 9, q10, q11, q12, q13, q14, q15, q16, q17, q18, q19;
        long r0 = n, r1 = 1, r2 = 2, r3 = 3, r4 = 4, r5 = 5, r6 = 6, r7 = 7, r8 = 8, r9 = 9;
        int last = 0;
        for (int i = 0; i < n; i += 300) {
            last += 1000;
            last += i + (int) (l9 + m8 + n7 + o6 + p5 + q4 + r3);
            if (last % 4 == 0) {
                last -= 3;
            }
        }
        return last / (n - 900);
    }

    public static void main(String[] args) {
        int sum = many(2000) + many(0);
        try {
            many(900);
        } catch (ArithmeticException e) {
            sum++;
        }
        System.out.println(sum);
    }
}

class MultiCatch {
    static int f(int n) {
        try {
            if (n == 0) {
                throw new java.io.IOException();
            }
            Object o = n == 1 ? "a" : (Object) 1;
            int length = ((String) o).length();
            return new int[length][length - n + 1].length / (n - 1);
        } catch (java.io.IOException | ClassCastException e) {
            return 10;
        } catch (ArithmeticException | NegativeArraySizeException e) {
            return 20;
        }
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 5; i++) {
            sum += f(i);
        }
        System.out.println(sum);
    }
}

class Initialisers {
    static class Fails {
        static int value = 10;

        static {
            value += 5;
            value /= value - 15;
        }

        static int get() {
            return value;
        }
    }

    static class Works {
        static final int[] TABLE = new int[20];

        static {
            for (int i = 0; i < TABLE.length; i++) {
                TABLE[i] = i * i;
            }
        }

        int a = TABLE[3];

        {
            a += TABLE[4];
        }
    }

    static int attempt(int n) {
        int x = n + 1;
        return x + (n == 0 ? new Fails().hashCode() : Fails.get()) + 1;
    }

    public static void main(String[] args) {
        int sum = new Works().a;
        for (int i = 0; i < 3; i++) {
            try {
                sum += attempt(i);
            } catch (ExceptionInInitializerError | NoClassDefFoundError e) {
                sum += 7;
            }
        }
        System.out.println(sum);
    }
}

class Interfaces {
    interface Shape {
        double area();

        default String name() {
            return "shape of " + (int) area() + unit();
        }

        static String unit() {
            return "m2";
        }
    }

    static class Circle implements Shape {
        @Override
        public double area() {
            return 3.0;
        }
    }

    static abstract class Sided implements Shape, Comparable<Sided> {
        abstract int sides();

        @Override
        public int compareTo(Sided other) {
            return Integer.compare(sides(), other.sides());
        }
    }

    static class Square extends Sided {
        @Override
        int sides() {
            return 4;
        }

        @Override
        public double area() {
            return 16;
        }

        @Override
        public String name() {
            return super.name() + "!";
        }
    }

    private static String unit() {
        return "";
    }

    public static void main(String[] args) {
        Sided anonymous = new Sided() {
            @Override
            int sides() {
                return 3;
            }

            @Override
            public double area() {
                return sides();
            }
        };
        Sided[] sided = {new Square(), anonymous, new Square()};
        Arrays.sort(sided);
        String all = new Circle().name() + unit();
        for (Shape shape : sided) {
            all += shape.name();
        }
        System.out.println(all);
    }
}

class Arrays2 {
    static int[][] multiply(int[][] a, int[][] b) {
        int[][] c = new int[a.length][b[0].length];
        for (int i = 0; i < a.length; i++) {
            for (int j = 0; j < b[0].length; j++) {
                for (int k = 0; k < b.length; k++) {
                    c[i][j] += a[i][k] * b[k][j];
                }
            }
        }
        return c;
    }

    static int pastTheEnd(byte[] bytes) {
        int i = 0;
        try {
            for (; ; i += 3) {
                bytes[i] ^= 5;
            }
        } catch (ArrayIndexOutOfBoundsException e) {
            return i;
        }
    }

    public static void main(String[] args) {
        int[][] a = new int[12][12];
        for (int[] row : a) {
            Arrays.fill(row, 2);
        }
        int[][] c = multiply(a, a);
        int sum = pastTheEnd(new byte[100]);
        try {
            multiply(a, new int[3][5]);
            multiply(new int[3][3], a);
            multiply(a, new int[13][1]);
        } catch (ArrayIndexOutOfBoundsException e) {
            sum++;
        }
        System.out.println(sum + c[3][4]);
    }
}

class Strings {
    public static void main(String[] args) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            out.append(i % 3 == 0 ? "fizz" : i % 5 == 0 ? "buzz" : "" + i + 'x' + (long) i + (i > 4));
        }
        Map<Character, Integer> counts = new HashMap<>();
        for (char c : out.toString().toCharArray()) {
            counts.merge(c, 1, (a, b) -> a + b);
        }
        System.out.println(counts.get('z'));
    }
}

class ThreadsOfIts {
    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i % 3 == 0 ? 1 : 2;
        }
        return sum;
    }

    static synchronized void add(int more) {
        total += more;
    }

    static int total;

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[40];
        for (int i = 0; i < threads.length; i++) {
            int n = 10 * i;
            threads[i] = new Thread(() -> add(work(n)));
            threads[i].start();
            threads[i].join();
        }
        System.out.println(total);
    }
}

class Resources {
    static int open;

    static class Resource implements AutoCloseable {
        final boolean fails;

        Resource(boolean fails) {
            this.fails = fails;
            open++;
        }

        @Override
        public void close() {
            open--;
            if (fails) {
                throw new IllegalStateException("close");
            }
        }
    }

    static int use(boolean a, boolean b, boolean body) {
        try (Resource first = new Resource(a); Resource second = new Resource(b)) {
            if (body) {
                throw new RuntimeException("body");
            }
            return first.fails == second.fails ? 1 : 2;
        }
    }

    public static void main(String[] args) {
        int sum = 0;
        for (int i = 0; i < 8; i++) {
            try {
                sum += use((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
            } catch (RuntimeException e) {
                sum += 10 + e.getSuppressed().length;
            }
        }
        System.out.println(sum + open);
    }
}

/** Methods of one segment, and what they are called by. */
class Straight {
    private int x = 3;
    private static final int CONSTANT = 70000;

    int getX() {
        return x;
    }

    void setX(int x) {
        this.x = x;
    }

    static int add(int a, int b) {
        return a + b;
    }

    static long constant() {
        return CONSTANT + 5L;
    }

    static void nothing() {}

    static RuntimeException thrown() {
        throw new UnsupportedOperationException();
    }

    static void rethrows(RuntimeException e) {
        throw e;
    }

    public static void main(String[] args) {
        Straight s = new Straight();
        int sum = 0;
        for (int i = 0; i < 100; i++) {
            s.setX(add(s.getX(), i));
            nothing();
            sum += (int) constant();
            try {
                rethrows(i % 2 == 0 ? new RuntimeException() : thrown());
            } catch (RuntimeException e) {
                sum++;
            }
        }
        System.out.println(sum);
    }
}

/** The same work in two contexts; in one of them it takes more instructions than an int can count. */
class Contexts {
    static int work(int n) {
        int x = 1;
        for (int i = 0; i < n; i++) {
            x ^= i;
        }
        return x;
    }

    static int few() {
        return work(10) + 1;
    }

    static int many() {
        return work(1_000_000_000) + 1;
    }

    public static void main(String[] args) {
        System.out.println(args.length > 0 ? work(Integer.parseInt(args[0])) : few() ^ many());
    }
}
