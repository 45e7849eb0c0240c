import java.util.ArrayList;
import java.util.List;

/** Virtual threads that contend and wait, and measure themselves how long: lines of KEY VALUE, ns. */
public class Virtual {
    static final class Lock {}

    static final Lock LOCK = new Lock();
    static final class Gate {}

    static final Gate GATE = new Gate();
    static volatile long contended;
    static volatile long waited;

    static long enter() {
        long start = System.nanoTime();
        synchronized (LOCK) {
            return System.nanoTime() - start;
        }
    }

    static long pause() throws InterruptedException {
        synchronized (GATE) {
            long start = System.nanoTime();
            GATE.wait(50);
            return System.nanoTime() - start;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            Thread thread;
            synchronized (LOCK) {
                thread = Thread.ofVirtual().name("virtual").start(() -> contended += enter());
                while (thread.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
                Thread.sleep(60);
            }
            thread.join();
        }
        for (int i = 0; i < 3; i++) {
            Thread.ofVirtual().start(() -> {
                try {
                    waited += pause();
                } catch (InterruptedException e) {
                    throw new Error(e);
                }
            }).join();
        }
        // Many, of which most never wait.
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            all.add(Thread.startVirtualThread(() -> { }));
        }
        for (Thread thread : all) {
            thread.join();
        }
        System.out.println("contended " + contended);
        System.out.println("waited " + waited);
    }
}
