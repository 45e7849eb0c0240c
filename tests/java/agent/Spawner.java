import java.util.ArrayList;
import java.util.List;

/** As many virtual threads as the argument says, a thousand at a time; and a method of the main thread. */
public class Spawner {
    static int[] done = new int[1];

    static synchronized void task() {
        done[0]++;
    }

    static void spawn(int count) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = Thread.ofVirtual().unstarted(Spawner::task);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static double compute() {
        double sum = 0;
        for (int i = 1; i < 20_000_000; i++) {
            sum += 1.0 / i;
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        for (int count = Integer.parseInt(args[0]); count > 0; count -= 1000) {
            spawn(Math.min(count, 1000));
        }
        System.out.println(done[0] + " " + compute());
    }
}
