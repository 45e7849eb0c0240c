import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Threads that wait in many ways and run hardly at all; each sleep takes half a second at least. */
public class Waiting {
    static final long WAIT = 500;
    static final BlockingQueue<Integer> QUEUE = new ArrayBlockingQueue<>(10);

    /** It is joined by its own name. */
    static class Taker extends Thread {
        int sum;

        @Override
        public void run() {
            try {
                for (int i = 0; i < 3; i++) {
                    sum += QUEUE.take();
                }
                // Who joins it surely waits.
                Thread.sleep(WAIT);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static int accepted(ServerSocket server) throws Exception {
        try (Socket socket = server.accept()) {
            return 1;
        }
    }

    static int selected() throws Exception {
        try (Selector selector = Selector.open()) {
            return selector.select(WAIT);
        }
    }

    static int parked() {
        long left = TimeUnit.MILLISECONDS.toNanos(WAIT);
        while (left > 0) {
            // On a busy machine time goes between two calls as well: that is no waiting.
            long start = System.nanoTime();
            LockSupport.parkNanos(left);
            left -= System.nanoTime() - start;
        }
        return 1;
    }

    static int waited() throws Exception {
        Object monitor = new Object();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WAIT);
        synchronized (monitor) {
            while (System.nanoTime() < end) {
                monitor.wait(WAIT);
            }
        }
        return 1;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress("127.0.0.1", 0));
            Taker taker = new Taker();
            taker.start();
            Future<Integer> accepts = pool.submit(() -> accepted(server));
            Future<Integer> selects = pool.submit(Waiting::selected);
            for (int i = 1; i <= 3; i++) {
                Thread.sleep(WAIT);
                QUEUE.put(i);
            }
            new Socket(server.getInetAddress(), server.getLocalPort()).close();
            taker.join();
            // Of it main surely waits for the end.
            Future<Integer> parks = pool.submit(Waiting::parked);
            System.out.println(taker.sum + accepts.get() + selects.get() + parks.get() + waited());
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}
