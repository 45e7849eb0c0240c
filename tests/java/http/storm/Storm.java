import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Asks a service whatever may go wrong, by three clients in turn: Storm URL TLS-URL PROXY-URL REQUESTS THREADS. Each request has a number, which its header has, and few
 * paths are there for all of them: only the number tells one from the other. Half way it is ready, and waits for a line.
 */
public class Storm {
    /** A client: sends one request, and says nothing of it. */
    interface Client {
        int get(String url, String header, boolean asProxy, int patience, int cancelAfter) throws IOException;
    }

    static final String[] PATHS = {"/items/7", "/items/7", "/next/7", "/missing/7", "/moved/7", "/later/7", "/slow/7", "/slow/8", "/broken/7", "/unseen/7", "/items/7", "/items/7", "/secret/7"};
    static final int PATIENCE = 20000;
    static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(1, task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    /** The header of a request: {@code part} tells those apart that a service makes for one that it serves. */
    static String header(long number, int part) {
        return String.format("00-%032x-%016x-01", 0x5eed00000000L + number, 16 * number + part + 1);
    }

    public static void main(String[] args) throws Exception {
        Client[] clients = {new StormApache4(), new StormApache5(), new StormOk()};
        int requests = Integer.parseInt(args[3]);
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[4]));
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            int number = i;
            // Those who ask for what fails ask again at once, and have connections that the service has closed.
            all.add(pool.submit(() -> ask(args, clients[number / PATHS.length % clients.length], number)));
            if (i == requests / 2) {
                all.get(i - 20).get();
                System.out.println("ready");
                System.in.read();
            }
        }
        for (Future<?> one : all) {
            one.get();
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        Hop.tell();
        System.out.println("done");
        System.exit(0);
    }

    private static void ask(String[] args, Client client, int number) {
        int kind = number % PATHS.length;
        String path = PATHS[kind];
        String url = args[kind == 1 ? 1 : kind == 10 || kind == 11 ? 2 : 0];
        boolean asProxy = kind == 11;
        int patience = kind == 6 ? 100 : PATIENCE;
        String nonce = "n" + number;
        String side = "lost";
        try {
            client.get(url + path + "?" + nonce, header(number, 0), asProxy, patience, kind == 7 ? 50 : 0);
            side = "made";
        } catch (IOException e) {
            // It is one of those that fail.
        } catch (RuntimeException e) {
            // As a client does that was told to give up before it began.
        }
        Hop.said(side, "GET", path, nonce, header(number, 0));
    }
}
