import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/** Makes requests in every way that the JDK has, to a server of its own: not every JDK that tests run on has one. Prints its port, and a closed one. */
final class Web {
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static int port;

    private Web() {}

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        port = server.getLocalPort();
        Thread serving = new Thread(() -> serve(server));
        serving.setDaemon(true);
        serving.start();
        int closed;
        try (ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            closed = other.getLocalPort();
        }
        System.out.println(port + " " + closed);
        if (args.length > 0) {
            many(Integer.parseInt(args[0]));
            return;
        }
        sync();
        async();
        plain();
        posts();
        urls();
        refused(closed);
        try {
            fails(closed);
        } catch (IOException e) {
            System.out.println("failed");
        }
        wrapped();
        own();
        threads();
        System.out.println("done");
    }

    private static void serve(ServerSocket server) {
        while (true) {
            try (Socket socket = server.accept()) {
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
                int length = 0;
                for (String line; (line = in.readLine()) != null && !line.isEmpty();) {
                    if (line.toLowerCase().startsWith("content-length:")) {
                        length = Integer.parseInt(line.substring(15).trim());
                    }
                }
                for (int i = 0; i < length; i++) {
                    in.read();
                }
                OutputStream out = socket.getOutputStream();
                out.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".getBytes(StandardCharsets.ISO_8859_1));
                out.flush();
            } catch (IOException e) {
                // The client has gone.
            }
        }
    }

    private static String address(String path) {
        return "http://127.0.0.1:" + port + path;
    }

    private static HttpRequest get(String path) {
        return HttpRequest.newBuilder(URI.create(address(path))).build();
    }

    private static void sync() throws Exception {
        for (int i = 0; i < 5; i++) {
            CLIENT.send(get("/items/" + i + "?secret=" + i + "#part"), BodyHandlers.ofString());
        }
        HttpRequest.Builder order = HttpRequest.newBuilder(URI.create("http://LOCALHOST:" + port));
        CLIENT.send(order.POST(HttpRequest.BodyPublishers.ofString("all")).build(), BodyHandlers.discarding());
        CLIENT.send(order.method("PURGE", HttpRequest.BodyPublishers.noBody()).build(), BodyHandlers.discarding());
    }

    private static void async() {
        for (int i = 0; i < 3; i++) {
            CLIENT.sendAsync(get("/users/" + UUID.randomUUID() + "/orders"), BodyHandlers.ofString()).join();
        }
        CLIENT.sendAsync(get("/users/" + UUID.randomUUID() + "/orders"), BodyHandlers.ofString(), null).join();
    }

    /** One request by each connection, whatever is called of it. */
    private static void plain() throws IOException {
        for (int i = 0; i < 3; i++) {
            HttpURLConnection connection = (HttpURLConnection) new URL(address("/plain/v1;jsessionid=A" + i)).openConnection();
            connection.connect();
            connection.getResponseCode();
            read(connection.getInputStream());
        }
        HttpURLConnection connection = (HttpURLConnection) new URL(address("/plain/head")).openConnection();
        connection.setRequestMethod("HEAD");
        connection.getResponseCode();
        connection.getResponseCode();
    }

    private static void posts() throws IOException {
        for (int i = 0; i < 2; i++) {
            HttpURLConnection connection = (HttpURLConnection) new URL(address("/posts")).openConnection();
            connection.setDoOutput(true);
            if (i == 1) {
                connection.connect();
            }
            connection.getOutputStream().write('x');
            read(connection.getInputStream());
        }
    }

    private static void urls() throws IOException {
        URLConnection connection = new URL("http://me:secret@127.0.0.1:" + port + "/urls").openConnection();
        read(connection.getInputStream());
        URL url = new URL(address("/urls"));
        read(url.openStream());
        read(url.openStream());
        // No requests.
        URLConnection own = Web.class.getResource("Web.class").openConnection();
        own.connect();
        read(own.getInputStream());
        read(Web.class.getResource("Web.class").openStream());
    }

    private static void read(InputStream in) throws IOException {
        try (InputStream closing = in) {
            closing.readAllBytes();
        }
    }

    private static void refused(int closed) throws Exception {
        for (int i = 0; i < 2; i++) {
            try {
                CLIENT.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + closed + "/closed")).build(), BodyHandlers.ofString());
            } catch (IOException e) {
                // The next one is told of all the same.
                CLIENT.send(get("/again"), BodyHandlers.ofString());
            }
        }
    }

    private static void fails(int closed) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL("http://127.0.0.1:" + closed + "/closed").openConnection();
        try {
            connection.connect();
        } catch (IOException e) {
            // It is remembered.
            connection.getInputStream();
        }
    }

    private static void wrapped() throws Exception {
        HttpClient client = new Passing(new Passing(CLIENT));
        client.send(get("/wrapped"), BodyHandlers.ofString());
        client.sendAsync(get("/wrapped"), BodyHandlers.ofString()).join();
    }

    /** The request is a class of the program: nobody asks it. */
    private static void own() throws Exception {
        CLIENT.send(new OwnRequest(), BodyHandlers.ofString());
    }

    private static void threads() throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(Web::work);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void work() {
        try {
            for (int i = 0; i < 10; i++) {
                CLIENT.send(get("/work/" + i), BodyHandlers.ofString());
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void many(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            CLIENT.send(get("/c" + i), BodyHandlers.ofString());
            CLIENT.send(get("/c" + i), BodyHandlers.ofString());
        }
    }

    private static final class OwnRequest extends HttpRequest {
        private final HttpRequest inner = get("/own");

        private void check() {
            for (StackTraceElement element : new Throwable().getStackTrace()) {
                if (element.getClassName().startsWith("instrument.")) {
                    Runtime.getRuntime().halt(9);
                }
            }
        }

        @Override
        public String toString() {
            check();
            return "own";
        }

        @Override
        public Optional<BodyPublisher> bodyPublisher() {
            return inner.bodyPublisher();
        }

        @Override
        public String method() {
            check();
            return inner.method();
        }

        @Override
        public Optional<Duration> timeout() {
            return inner.timeout();
        }

        @Override
        public boolean expectContinue() {
            return inner.expectContinue();
        }

        @Override
        public URI uri() {
            check();
            return inner.uri();
        }

        @Override
        public Optional<HttpClient.Version> version() {
            return inner.version();
        }

        @Override
        public HttpHeaders headers() {
            return inner.headers();
        }
    }

    /** Passes everything on, as clients that log or try again do. */
    private static final class Passing extends HttpClient {
        private final HttpClient inner;

        Passing(HttpClient inner) {
            this.inner = inner;
        }

        @Override
        public <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> handler) throws IOException, InterruptedException {
            return inner.send(request, handler);
        }

        @Override
        public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
            return inner.sendAsync(request, handler);
        }

        @Override
        public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, HttpResponse.BodyHandler<T> handler,
                HttpResponse.PushPromiseHandler<T> pushed) {
            return inner.sendAsync(request, handler, pushed);
        }

        @Override
        public Optional<CookieHandler> cookieHandler() {
            return inner.cookieHandler();
        }

        @Override
        public Optional<Duration> connectTimeout() {
            return inner.connectTimeout();
        }

        @Override
        public Redirect followRedirects() {
            return inner.followRedirects();
        }

        @Override
        public Optional<ProxySelector> proxy() {
            return inner.proxy();
        }

        @Override
        public SSLContext sslContext() {
            return inner.sslContext();
        }

        @Override
        public SSLParameters sslParameters() {
            return inner.sslParameters();
        }

        @Override
        public Optional<Authenticator> authenticator() {
            return inner.authenticator();
        }

        @Override
        public Version version() {
            return inner.version();
        }

        @Override
        public Optional<Executor> executor() {
            return inner.executor();
        }
    }
}
