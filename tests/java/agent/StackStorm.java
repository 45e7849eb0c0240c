import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.concurrent.CountDownLatch;

/**
 * What is hard for whoever walks stacks. {@code unload}: classes that are loaded, run for a few ms and are unloaded, again and again;
 * {@code threads}: thousands of threads that live for a moment; {@code deopt}: calls whose targets change; {@code projected}: a callee that is the same for
 * two callers; {@code halves}: the same, and prints {@code left NS} and {@code main NS}, CPU time that it measures itself. Prints {@code done}.
 */
public class StackStorm {
    static volatile long sink;

    /** A copy of this class in a loader of its own. */
    static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        Class<?> define(byte[] code) {
            return defineClass("StackStorm", code, 0, code.length);
        }
    }

    interface Shape {
        long area(long side);
    }

    static byte[] code() throws Exception {
        InputStream in = StackStorm.class.getResourceAsStream("StackStorm.class");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int b = in.read(); b >= 0; b = in.read()) {
            out.write(b);
        }
        return out.toByteArray();
    }

    public static void spin(int rounds) {
        long sum = sink;
        for (int i = 0; i < rounds; i++) {
            sum = sum * 31 + i;
        }
        sink = sum;
    }

    static void unload() throws Exception {
        byte[] code = code();
        for (int i = 0; i < 400; i++) {
            new Loader().define(code).getMethod("spin", int.class).invoke(null, 3000000);
            if (i % 20 == 0) {
                System.gc();
            }
        }
    }

    static void threads() throws Exception {
        for (int round = 0; round < 30; round++) {
            CountDownLatch done = new CountDownLatch(100);
            for (int i = 0; i < 100; i++) {
                new Thread(() -> {
                    spin(100000);
                    done.countDown();
                }, "storm-" + i).start();
            }
            done.await();
        }
    }

    static void deopt() {
        long end = System.currentTimeMillis() + 3000;
        for (int i = 0; System.currentTimeMillis() < end; i++) {
            int kind = i / 3000 % 4;
            Shape shape = kind == 0 ? side -> side : kind == 1 ? side -> side * side : kind == 2 ? side -> side + 1 : side -> -side;
            for (int side = 0; side < 50; side++) {
                sink += shape.area(side) + String.valueOf(side).hashCode();
            }
        }
    }

    static long ofThread() {
        return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    static void left() {
        spin(700000000);
    }

    static void right() {
        spin(700000000);
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "unload":
                unload();
                break;
            case "threads":
                threads();
                break;
            case "deopt":
                deopt();
                break;
            case "halves":
                long start = ofThread();
                left();
                long middle = ofThread();
                right();
                System.out.println("left " + (middle - start) + "\nmain " + (ofThread() - start));
                break;
            default:
                left();
                right();
        }
        System.out.println("done");
    }
}
