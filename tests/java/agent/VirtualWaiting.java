import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A thousand virtual threads that sleep and wait for each other. */
public class VirtualWaiting {
    static final CountDownLatch ALL = new CountDownLatch(1000);

    static void nap() {
        try {
            Thread.sleep(100);
            ALL.countDown();
            ALL.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            threads.add(Thread.ofVirtual().start(VirtualWaiting::nap));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("all");
    }
}
