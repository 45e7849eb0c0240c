import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicLong;

/** Threads that sleep and make objects, most of them virtual. Prints each line that it reads once all virtual ones have gone on. */
public class Sleepers {
    private static final int VIRTUAL = 200;
    private static final AtomicLong ROUNDS = new AtomicLong();
    static volatile Object made;

    static int make(int more) {
        made = new Object();
        return more == 0 ? 0 : 1 + make(more - 1);
    }

    private static void work(int ms, int objects, AtomicLong rounds) {
        while (true) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                return;
            }
            make(objects);
            rounds.incrementAndGet();
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < VIRTUAL; i++) {
            Thread.ofVirtual().start(() -> work(1, 30, ROUNDS));
        }
        for (int i = 0; i < 100; i++) {
            Thread thread = new Thread(() -> work(3, 5, new AtomicLong()));
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null;) {
            for (long rounds = ROUNDS.get() + 10 * VIRTUAL; ROUNDS.get() < rounds;) {
                Thread.sleep(5);
            }
            System.out.println(line);
        }
        System.out.println("end");
        System.exit(0);
    }
}
