import java.lang.ref.Cleaner;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** Threads of the JDK that forget their thread locals after each task. Prints how many threads did what. */
public class Forgetful {
    static final Set<Thread> CLEANERS = ConcurrentHashMap.newKeySet();
    static final Set<Thread> WORKERS = ConcurrentHashMap.newKeySet();
    static final CountDownLatch CLEANED = new CountDownLatch(50);

    static void clean() {
        CLEANERS.add(Thread.currentThread());
        CLEANED.countDown();
    }

    static void work() {
        WORKERS.add(Thread.currentThread());
    }

    public static void main(String[] args) throws Exception {
        Cleaner cleaner = Cleaner.create();
        for (int i = 0; i < 50; i++) {
            cleaner.register(new Object(), Forgetful::clean);
        }
        while (CLEANED.getCount() > 0) {
            System.gc();
            Thread.sleep(10);
        }
        for (int i = 0; i < 300; i++) {
            CompletableFuture.runAsync(Forgetful::work).get();
        }
        System.out.println(CLEANERS.size() + " " + WORKERS.size());
    }
}
