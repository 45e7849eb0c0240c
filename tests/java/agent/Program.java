import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

/** Calls of every kind, in numbers that a test knows; then it ends as it is told to. */
public class Program {
    static class Base implements Serializable {
        Base(int n) {
            if (n % 8 == 0) {
                throw new IllegalArgumentException("eight");
            }
        }
    }

    static class Item extends Base implements Comparable<Item> {
        final int n;

        Item(int n) {
            super(n);
            this.n = n;
        }

        @Override
        public int compareTo(Item other) {
            return Integer.compare(n, other.n);
        }
    }

    /** Not public, so that its proxy lies in this package. */
    interface Local extends Comparable<Object> {}

    static int make(int n) {
        try {
            return new Item(n).n;
        } catch (IllegalArgumentException e) {
            return 0;
        } finally {
            count++;
        }
    }

    private static int count;

    static int fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static synchronized long locked(long value) {
        return value * 31;
    }

    private static int overflow(int depth) {
        return overflow(depth + 1) + 1;
    }

    public static void main(String[] args) throws Exception {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += make(i);
        }
        sum += fibonacci(15);
        List<Thread> threads = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                for (int n = 0; n < 500; n++) {
                    locked(n);
                }
            }, "worker " + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Object proxy = Proxy.newProxyInstance(
            Program.class.getClassLoader(), new Class<?>[] {Local.class}, new InvocationHandler() {
                @Override
                public Object invoke(Object self, Method method, Object[] arguments) {
                    return 5;
                }
            });
        // Often enough for an accessor to be made.
        Method compare = Comparable.class.getMethod("compareTo", Object.class);
        for (int i = 0; i < 40; i++) {
            sum += (Integer) compare.invoke(proxy, "");
        }
        System.out.println(sum + " " + count);
        String end = args.length == 0 ? "" : args[0];
        if (end.equals("exit")) {
            System.exit(7);
        } else if (end.equals("halt")) {
            Runtime.getRuntime().halt(7);
        } else if (end.equals("overflow")) {
            try {
                overflow(0);
            } catch (StackOverflowError e) {
                // What is loaded now is loaded where the stack was full a moment ago.
                System.out.println(new Late().get());
            }
        } else if (end.equals("wait")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
            System.out.println("ready");
            Thread.sleep(60000);
        }
    }

    /** Goes on until it is killed. */
    public static class Endless {
        static long step(long n) {
            return n * 31 + 1;
        }

        public static void main(String[] args) throws Exception {
            System.out.println("ready");
            for (long n = 0;; n = step(n)) {
                Thread.sleep(1);
            }
        }
    }

    static class Late {
        int get() {
            return 1;
        }
    }
}
