import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Asks a service: Asker URL REQUESTS THREADS. Each request has a nonce. With the property `header=own`, each has a traceparent of its own; with
 * `header=rubbish` one that is not valid, or other headers that nobody should read.
 */
public class Asker {
    private static final boolean HEADER = "own".equals(System.getProperty("header"));
    private static final boolean RUBBISH = "rubbish".equals(System.getProperty("header"));
    private static final String VALID = "0af7651916cd43dd8448eb211c80319c-b7ad6b71692033%02x-01";
    static final String[] ALL_RUBBISH = {
        "01-" + VALID, "ff-" + VALID, "00-" + VALID + "-00", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b71692033%02x-01", "",
        "00-00000000000000000000000000000000-b7ad6b71692033%02x-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "00", "rubbish", "0".repeat(5000),
    };

    public static void main(String[] args) throws Exception {
        String url = args[0];
        int requests = Integer.parseInt(args[1]);
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[2]));
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            int number = i;
            all.add(pool.submit(() -> ask(url, number)));
        }
        for (Future<?> one : all) {
            one.get();
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        Hop.tell();
        System.out.println("done");
    }

    static Object ask(String url, int number) throws Exception {
        String nonce = "n" + number + "x";
        if (RUBBISH) {
            return send(url, "/items/" + number, nonce, 20000);
        }
        switch (number % 10) {
            case 0: return send(url, "/next/" + number, nonce, 20000);
            case 1: return send(url, "/moved/" + number, nonce, 20000);
            case 2: return send(url, "/missing/" + number, nonce, 20000);
            case 3: return send(url, "/slow/" + number, nonce, 150);
            case 4: return async(url, "/next/" + number, nonce, false);
            case 5: return async(url, "/slow/" + number, nonce, true);
            case 6: return connect(url, "/items/" + number, nonce, false);
            case 7: return connect(url, "/items/" + number, nonce, true);
            case 8: return connect(url, "/missing/" + number, nonce, false);
            default: return send(url, "/broken/" + number, nonce, 20000);
        }
    }

    static String header(String nonce) {
        return String.format("00-%032x-%016x-01", 0x5eedL << 32 | nonce.hashCode() & 0xffffffffL, 1L + (nonce.hashCode() & 0xffffffffL));
    }

    private static HttpRequest request(String url, String path, String nonce) {
        return request(url, path, nonce, 20000);
    }

    private static HttpRequest request(String url, String path, String nonce, int patience) {
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(url + path + "?" + nonce)).timeout(Duration.ofMillis(patience));
        if (HEADER) {
            builder.header("traceparent", header(nonce));
        }
        int number = RUBBISH ? Integer.parseInt(nonce.substring(1, nonce.length() - 1)) : 0;
        if (RUBBISH && number % 11 == 10) {
            builder.header("traceparent", header(nonce)).header("baggage", "x=" + "y".repeat(1 << 16)).header("tracestate", "@@=@@");
        } else if (RUBBISH) {
            builder.header("traceparent", String.format(ALL_RUBBISH[number % 11], number % 256));
        }
        return builder.build();
    }

    static int send(String url, String path, String nonce, int patience) throws Exception {
        try {
            return answered(Hop.CLIENT.send(request(url, path, nonce, patience), HttpResponse.BodyHandlers.ofString()), path, nonce);
        } catch (IOException e) {
            Hop.said("lost", "GET", path, nonce, HEADER ? header(nonce) : null);
            return -1;
        }
    }

    private static int answered(HttpResponse<?> response, String path, String nonce) {
        Hop.said("made", "GET", path, nonce, Hop.sent(response));
        return response.statusCode();
    }

    static Object async(String url, String path, String nonce, boolean cancels) throws Exception {
        CompletableFuture<HttpResponse<String>> answer = Hop.CLIENT.sendAsync(request(url, path, nonce), HttpResponse.BodyHandlers.ofString());
        if (cancels) {
            Thread.sleep(100);
            Hop.said("lost", "GET", path, nonce, HEADER ? header(nonce) : null);
            return answer.cancel(true);
        }
        try {
            return answered(answer.join(), path, nonce);
        } catch (CompletionException e) {
            return -1;
        }
    }

    static int connect(String url, String path, String nonce, boolean writes) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(url + path + "?" + nonce).openConnection();
        Hop.said("made", writes ? "POST" : "GET", path, nonce, HEADER ? header(nonce) : null);
        if (HEADER) {
            connection.setRequestProperty("traceparent", header(nonce));
        }
        if (writes) {
            connection.setDoOutput(true);
            connection.getOutputStream().write(new byte[] {'a', 'b'});
        }
        try (InputStream in = connection.getInputStream()) {
            in.readAllBytes();
        } catch (IOException e) {
            // As for a file that is not there.
        }
        return connection.getResponseCode();
    }
}
