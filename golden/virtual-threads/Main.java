import java.util.concurrent.Executors;

/** Threads that nobody constructs: start() takes a task, or comes after a builder. */
public class Main {
    public static void main(String[] args) throws Exception {
        Thread.startVirtualThread(() -> System.out.println("static")).join();
        Thread.ofVirtual().name("v").start(() -> System.out.println("builder")).join();
        Thread.ofPlatform().daemon().start(() -> System.out.println("platform")).join();
        Thread.Builder builder = Thread.ofVirtual();
        builder.start(() -> System.out.println("any")).join();
        Thread unstarted = builder.unstarted(() -> System.out.println("unstarted"));
        unstarted.start();
        unstarted.join();
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            System.out.println(executor.submit(() -> "executor").get());
        }
    }
}
