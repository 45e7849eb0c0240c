import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** {@code Busy}: four threads call the JDK and are called back until the process is killed. {@code Busy N}: N virtual threads, twice each. */
public final class Busy {
    private static final AtomicInteger DONE = new AtomicInteger();

    private Busy() {}

    static final class Backwards implements Comparator<Integer> {
        @Override
        public int compare(Integer a, Integer b) {
            return b.compareTo(a);
        }
    }

    static int work(int number) {
        List<Integer> list = new ArrayList<Integer>();
        for (int i = 0; i < 20; i++) {
            list.add(i * number % 17);
        }
        Collections.sort(list, new Backwards());
        try {
            return Integer.parseInt("none");
        } catch (NumberFormatException e) {
            return list.get(0);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            List<Thread> threads = new ArrayList<Thread>();
            for (int i = 0; i < Integer.parseInt(args[0]); i++) {
                threads.add((Thread) start.invoke(null, (Runnable) Busy::twice));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            return;
        }
        for (int i = 0; i < 4; i++) {
            new Thread(Busy::forever).start();
        }
        while (DONE.get() < 1000) {
            Thread.sleep(1);
        }
        System.out.println("ready");
    }

    private static void twice() {
        work(3);
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        work(5);
    }

    private static void forever() {
        for (int i = 0;; i++) {
            work(i);
            DONE.incrementAndGet();
        }
    }
}
