import java.util.ArrayList;
import java.util.List;

/** Three workers wait for a journal, since a fourth thread copies it while it has its lock. */
public class Locked {
    static final class Journal {
        private final List<String> lines = new ArrayList<>();

        synchronized void write(String line) {
            lines.add(line);
        }

        synchronized int copy() throws InterruptedException {
            // As a slow disk would do.
            Thread.sleep(40);
            return lines.size();
        }
    }

    static final Journal JOURNAL = new Journal();

    static void work() {
        for (int i = 0; i < 400; i++) {
            JOURNAL.write("line " + i);
            if (i % 40 == 0) {
                pause();
            }
        }
    }

    static void pause() {
        try {
            Thread.sleep(5);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> workers = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            workers.add(new Thread(Locked::work, "worker-" + i));
        }
        Thread backup = new Thread(() -> {
            try {
                for (int i = 0; i < 8; i++) {
                    JOURNAL.copy();
                    pause();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "backup");
        backup.start();
        workers.forEach(Thread::start);
        for (Thread worker : workers) {
            worker.join();
        }
        backup.join();
    }
}
