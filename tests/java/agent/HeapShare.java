import java.util.Arrays;

/** Allocates the same bytes in code of its own and in code of the JDK; the first argument says how often each. */
public class HeapShare {
    static final int LENGTH = 10_000;
    static volatile byte[] sink = new byte[LENGTH];

    static void own() {
        sink = new byte[LENGTH];
    }

    static void jdk() {
        sink = Arrays.copyOf(sink, LENGTH);
    }

    public static void main(String[] args) throws Exception {
        int own = Integer.parseInt(args[0]);
        int jdk = Integer.parseInt(args[1]);
        // Threads that end are part of it.
        Thread thread = new Thread(() -> {
            for (int i = 0; i < own; i++) {
                own();
            }
        });
        thread.start();
        thread.join();
        for (int i = 0; i < jdk; i++) {
            jdk();
        }
        System.out.println("done");
    }
}
