import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What all clients do: URL REQUESTS THREADS. */
class Clients {
    interface Client {
        void ask(String url, String path, String nonce) throws Exception;
    }

    static void ask(String[] args, Client client) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[2]));
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            String path = new String[] {"/next/", "/items/", "/missing/", "/moved/", "/later/"}[i % 5] + i;
            String nonce = "n" + i + "x";
            all.add(pool.submit(() -> {
                client.ask(args[0], path, nonce);
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get();
        }
        pool.shutdown();
        Hop.tell();
        System.out.println("done");
    }
}
