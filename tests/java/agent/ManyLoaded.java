import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;

/**
 * A program with many classes that are loaded, one among them that cannot be linked, as programs have whose optional libraries are
 * missing, one that is linked later, and two that speak HTTP. It does what it reads, line by line.
 */
public class ManyLoaded {
    public static void main(String[] args) throws Exception {
        ClassLoader loader = ManyLoaded.class.getClassLoader();
        byte[] template;
        try (InputStream in = loader.getResourceAsStream("Many0000.class")) {
            template = in.readAllBytes();
        }
        String text = new String(template, StandardCharsets.ISO_8859_1);
        for (int i = 1; i <= Integer.parseInt(args[0]); i++) {
            String name = String.format("Many%04d", i);
            byte[] bytes = text.replace("Many0000", name).getBytes(StandardCharsets.ISO_8859_1);
            MethodHandles.lookup().defineClass(bytes);
            Class.forName(name);
        }
        Class.forName("CannotBeLinked", false, loader);
        Class.forName("LinkedLater", false, loader);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", new Answers());
        server.start();
        Asks.port = server.getAddress().getPort();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            if (line.equals("later")) {
                for (int i = 0; i < 10; i++) {
                    LinkedLater.call();
                }
            } else if (line.equals("ask")) {
                Asks.ask();
            } else {
                Many0000.call();
            }
            System.out.println(line);
        }
        server.stop(0);
        System.out.println("end");
    }
}

class Asks {
    static int port;

    static void ask() throws IOException {
        new URL("http://127.0.0.1:" + port + "/items/7").openStream().close();
    }
}

class Answers implements HttpHandler {
    @Override
    public void handle(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }
}

class Many0000 {
    static int call() {
        return 1;
    }
}

class LinkedLater {
    static int call() {
        return 1;
    }
}

class Supertype {
}

/** The test removes it. */
class Missing extends Supertype {
}

class CannotBeLinked {
    Supertype make() {
        return new Missing();
    }
}
