/** A thread that waits to enter a synchronized method, 500 ms at least. */
public class SynchronizedWait {
    static volatile boolean isInside;
    static volatile Thread asking;

    /** Stays until another thread waits to enter, and half a second more. */
    static synchronized void holds() throws InterruptedException {
        isInside = true;
        while (asking == null || asking.getState() != Thread.State.BLOCKED) {
            Thread.sleep(1);
        }
        Thread.sleep(500);
    }

    static synchronized int answer() {
        return 42;
    }

    static int asks() {
        return answer();
    }

    public static void main(String[] args) throws Exception {
        Thread holder = new Thread(() -> {
            try {
                holds();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        holder.start();
        while (!isInside) {
            Thread.sleep(1);
        }
        asking = Thread.currentThread();
        System.out.println(asks());
        holder.join();
    }
}
