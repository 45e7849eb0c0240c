import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/** A program that is asked while it runs. It does what it reads, line by line, and says when that is done. */
public class Asked {
    static class Item {}

    static class Lock {}

    static final Object LOCK = new Lock();
    static final Object SIGNAL = new Object();
    static volatile Object sink;
    static volatile boolean busy = true;

    static int leaf(int n) {
        sink = new Item();
        return n + 1;
    }

    static int recurse(int n) {
        return n == 0 ? leaf(n) : recurse(n - 1) + 1;
    }

    static void call(int times) {
        for (int i = 0; i < times; i++) {
            leaf(i);
        }
    }

    /** Is inside when recording is paused or resumed. */
    static void answer(BufferedReader in) throws Exception {
        for (String line; (line = in.readLine()) != null && !line.equals("out");) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "call":
                    call(Integer.parseInt(words[1]));
                    break;
                case "recurse":
                    recurse(Integer.parseInt(words[1]));
                    break;
                case "in":
                    System.out.println(line);
                    answer(in);
                    continue;
                case "busy":
                    for (int i = 0; i < 2; i++) {
                        thread("busy-" + i, Asked::work);
                    }
                    break;
                case "idle":
                    busy = false;
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println(line);
        }
        System.out.println("out");
    }

    static void work() {
        try {
            for (int i = 0; busy; i++) {
                recurse(20);
                if (i % 10 == 0) {
                    Thread.sleep(1);
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static Thread thread(String name, Runnable task) {
        Thread thread = new Thread(new ThreadGroup("asked"), task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        CountDownLatch waiting = new CountDownLatch(1);
        Thread waiter = thread("waiter", () -> {
            synchronized (SIGNAL) {
                waiting.countDown();
                try {
                    SIGNAL.wait();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        });
        waiting.await();
        synchronized (LOCK) {
            synchronized (LOCK) {
                Thread blocked = thread("blocked", () -> {
                    synchronized (LOCK) {
                        sink = LOCK;
                    }
                });
                while (blocked.getState() != Thread.State.BLOCKED || waiter.getState() != Thread.State.WAITING) {
                    Thread.sleep(1);
                }
                System.out.println("ready");
                answer(new BufferedReader(new InputStreamReader(System.in)));
            }
        }
    }
}
