import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Objects with values that a test knows. All hang on static fields of this class. Arguments: further objects, class loaders. */
public class Known {
    interface Limits {
        int LIMIT = Integer.parseInt("77");
        String UNIT = new String("metres");
    }

    interface More extends Limits {
        long FAR = Long.parseLong("123456789012");
    }

    enum Colour {
        RED(1), GREEN(2) {
            int twice() {
                return 40;
            }
        };

        final int weight;

        Colour(int weight) {
            this.weight = weight;
        }

        int twice() {
            return 2 * weight;
        }
    }

    static class Base implements Limits {
        static short counter = 12;
        int value = 1;
        private String name = "base";
        Object self = this;
    }

    static class Middle extends Base implements More {
        static Object shared = new int[] {3, 1, 4};
        private String name = "middle";
        byte small = -5;
    }

    static class Leaf extends Middle implements Comparable<Leaf> {
        static final double RATIO = Double.parseDouble("2.5");
        int value = 3;
        private String name = "leaf";
        boolean flag = true;

        public int compareTo(Leaf other) {
            return 0;
        }
    }

    static class Primitives {
        boolean z = true;
        byte b = -128;
        char c = '\u20ac';
        short s = -32768;
        int i = Integer.MIN_VALUE;
        long j = Long.MIN_VALUE + 1;
        float f = -1.5f;
        double d = Math.PI;
        Object none = null;
    }

    static class Node {
        Node next;
        Object data;
    }

    static class Failure extends RuntimeException {
        int code = 42;
        String detail = "why";
    }

    static class Carrier extends Thread {
        long marker = 987654321L;
    }

    static Leaf leaf = new Leaf();
    static Primitives primitives = new Primitives();
    static Node cycle = new Node();
    static Object[] arrays = {
        new boolean[] {true, false, true}, new byte[] {1, -2, 3}, new char[] {'a', '\u1234'}, new short[] {-1, 300},
        new int[] {1, -2, 1 << 30}, new long[] {1L << 40, -1}, new float[] {0.5f, Float.NaN}, new double[] {1e300, -0.0},
        new int[0], new Object[0], new String[] {null, "x", null, null}, new int[][] {{1}, null, {}}, new Object[5]
    };
    static String text = "gr\u00fc\u00dfe \u20ac";
    static String latin = "plain";
    static Colour colour = Colour.GREEN;
    static Failure failure = new Failure();
    static WeakReference<Object> weak = new WeakReference<>(cycle);
    static SoftReference<Object> soft = new SoftReference<>(new Node());
    static ThreadLocal<Object> local = new ThreadLocal<>();
    static Carrier carrier = new Carrier();
    static Supplier<Object> plain = () -> "constant";
    static Supplier<Object> capturing;
    static Map<String, Object> map = new HashMap<>();
    static List<Class<?>> loaded = new ArrayList<>();
    static byte[] large = new byte[3 << 20];
    static Object[] sparse = new Object[3 << 20];
    static Class<?> primitive = int.class;
    static Object limit = Limits.LIMIT + More.FAR + Limits.UNIT.length();

    public static void main(String[] args) throws Exception {
        int[] captured = {9, 8, 7};
        capturing = () -> captured;
        cycle.next = new Node();
        cycle.next.next = cycle;
        cycle.next.data = "tail";
        for (int i = 0; i < 1000; i++) {
            map.put("key " + i, new Node());
        }
        sparse[1 << 21] = "far";
        large[large.length - 1] = 17;
        URL here = Known.class.getProtectionDomain().getCodeSource().getLocation();
        int loaders = args.length > 1 ? Integer.parseInt(args[1]) : 20;
        for (int i = 0; i < loaders; i++) {
            URLClassLoader loader = new URLClassLoader(new URL[] {here}, null);
            Class<?> loadedClass = loader.loadClass("Known$Node");
            loadedClass.getDeclaredConstructors()[0].setAccessible(true);
            loaded.add(loadedClass);
            map.put("loaded " + i, loadedClass.getDeclaredConstructors()[0]);
        }
        Object lock = new Node();
        Thread waiting = new Thread(() -> {
            Object onStack = new long[] {1, 2, 3, 4, 5};
            local.set(new Node());
            synchronized (lock) {
                lock.notifyAll();
            }
            try {
                Thread.sleep(1000000);
            } catch (InterruptedException e) {
                System.out.println(onStack);
            }
        }, "waiting");
        waiting.setDaemon(true);
        synchronized (lock) {
            waiting.start();
            lock.wait();
        }
        if (args.length > 0) {
            List<Object> many = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(args[0]); i++) {
                Node node = new Node();
                node.data = new int[] {i};
                many.add(node);
            }
            map.put("many", many);
        }
        System.out.println("done " + plain.get());
    }
}
