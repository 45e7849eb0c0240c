import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Executors;

/**
 * A service: Hop [URL of the next one]. Prints its port, and in the end of each request that it has served or made a line: side, method, path, nonce, which is the query,
 * and the header that it has seen or sent. Ends with the end of its input.
 */
public class Hop {
    static final HttpClient CLIENT = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    private static final StringBuilder SAID = new StringBuilder();
    static String next;
    /** Sends a request with a nonce to the next service, and says so; null: a client of the JDK does. */
    static Asks asks;

    interface Asks {
        int ask(String nonce) throws IOException;
    }

    public static void main(String[] args) throws Exception {
        next = args.length > 0 ? args[0] : null;
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", Hop::serve);
        java.util.concurrent.ExecutorService pool = Executors.newFixedThreadPool(16);
        server.setExecutor(pool);
        server.start();
        System.out.println("ready");
        System.out.println(server.getAddress().getPort());
        while (System.in.read() >= 0) {
            // Until it is closed.
        }
        server.stop(0);
        pool.shutdown();
        tell();
    }

    static void serve(HttpExchange exchange) throws IOException {
        URI uri = exchange.getRequestURI();
        String path = uri.getPath();
        String nonce = uri.getQuery();
        said("served", exchange.getRequestMethod(), path, nonce, exchange.getRequestHeaders().getFirst("traceparent"));
        exchange.getRequestBody().readAllBytes();
        int status = 200;
        if (path.startsWith("/next/") && next != null) {
            // Two requests to the next service for one, as services do: one in the method that serves, one in another.
            HttpRequest request = to(nonce + "a");
            try {
                HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
                said("made", "GET", request.uri().getPath(), request.uri().getQuery(), sent(response));
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            status = step(nonce + "b");
        } else if (path.startsWith("/moved/")) {
            exchange.getResponseHeaders().set("Location", "/items/7?" + nonce);
            status = 302;
        } else if (path.startsWith("/missing/")) {
            status = 404;
        } else if (path.startsWith("/slow/")) {
            sleep(400);
        } else if (path.startsWith("/broken/")) {
            exchange.close();
            throw new IllegalStateException("broken");
        }
        byte[] body = ("done " + nonce).getBytes("UTF-8");
        exchange.sendResponseHeaders(status, status == 200 ? body.length : -1);
        try (OutputStream out = exchange.getResponseBody()) {
            if (status == 200) {
                out.write(body);
            }
        }
    }

    /** Asks the next service. */
    static int step(String nonce) throws IOException {
        if (asks != null) {
            return asks.ask(nonce);
        }
        HttpRequest request = to(nonce);
        try {
            HttpResponse<String> response = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
            said("made", "GET", request.uri().getPath(), request.uri().getQuery(), sent(response));
            return 200;
        } catch (InterruptedException e) {
            return 500;
        }
    }

    private static HttpRequest to(String nonce) {
        URI to = URI.create(next + "/items/" + Math.abs(nonce.hashCode()) + "?" + nonce);
        return HttpRequest.newBuilder(to).timeout(Duration.ofSeconds(20)).build();
    }

    /** The header that a request had when it was sent. */
    static String sent(HttpResponse<?> response) {
        HttpResponse<?> first = response;
        while (first.previousResponse().isPresent()) {
            first = first.previousResponse().get();
        }
        return first.request().headers().firstValue("traceparent").orElse(null);
    }

    static void said(String side, String method, String path, String nonce, String header) {
        String line = side + ' ' + method + ' ' + path + ' ' + nonce + ' ' + header;
        synchronized (SAID) {
            SAID.append(line).append('\n');
        }
    }

    /** Prints it all: nobody reads what a service says while it serves. */
    static void tell() {
        System.out.print(SAID);
    }

    static void delete(File folder) {
        File[] files = folder.listFiles();
        for (File file : files == null ? new File[0] : files) {
            delete(file);
        }
        folder.delete();
    }

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
