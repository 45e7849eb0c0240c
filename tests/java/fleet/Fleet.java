import java.util.ArrayList;
import java.util.List;

/** Calls that call themselves, calls that throw, threads of a pool, lambdas; more of each for a larger first argument. */
public class Fleet {
    static long fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }

    static boolean isEven(int n) {
        return n == 0 || isOdd(n - 1);
    }

    static boolean isOdd(int n) {
        return n != 0 && isEven(n - 1);
    }

    static void fail(int n) {
        if (n > 3) {
            throw new IllegalStateException();
        }
    }

    /** Asks once for each item: the query in the loop. */
    static List<String> list(int items) {
        List<String> list = new ArrayList<>();
        for (int i = 0; i < items; i++) {
            list.add(item(i));
        }
        return list;
    }

    static String item(int i) {
        return "item " + i;
    }

    static void neverCalled() {
        list(1);
    }

    public static void main(String[] arguments) throws InterruptedException {
        int size = Integer.parseInt(arguments[0]);
        long sum = fibonacci(size);
        for (int i = 0; i < 2 * size; i++) {
            sum += isEven(i) ? 1 : 0;
            try {
                fail(i);
            } catch (IllegalStateException expected) {
                sum++;
            }
        }
        Runnable one = () -> list(size);
        Runnable two = () -> {
            list(2 * size);
            one.run();
        };
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(i % 2 == 0 ? one : two, "pool-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        two.run();
        System.out.println(sum);
    }
}
