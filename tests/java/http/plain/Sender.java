import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** Sends requests of all kinds that the JDK can, each on its own: Sender URL. */
public class Sender {
    public static void main(String[] args) throws Exception {
        String url = args[0];
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest.Builder[] requests = {
            HttpRequest.newBuilder(),
            HttpRequest.newBuilder().DELETE(),
            HttpRequest.newBuilder().POST(HttpRequest.BodyPublishers.ofString("body")).header("X-Many", "a").header("X-Many", "b"),
            HttpRequest.newBuilder().PUT(HttpRequest.BodyPublishers.noBody()).version(HttpClient.Version.HTTP_1_1),
            HttpRequest.newBuilder().method("PATCH", HttpRequest.BodyPublishers.ofString("patch")).timeout(Duration.ofSeconds(30)),
        };
        for (HttpRequest.Builder request : requests) {
            client.send(request.uri(URI.create(url + "/a%20b/7?q=%2F")).build(), HttpResponse.BodyHandlers.ofString());
        }
        client.sendAsync(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString()).join();
        // Somebody else's header stays the only one.
        String header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        client.send(HttpRequest.newBuilder(URI.create(url + "/own")).header("traceparent", header).build(), HttpResponse.BodyHandlers.ofString());
        client.send(HttpRequest.newBuilder(URI.create(url + "/own")).header("traceparent", "rubbish").build(), HttpResponse.BodyHandlers.ofString());
        for (String body : new String[] {null, "body"}) {
            HttpURLConnection connection = (HttpURLConnection) new URL(url + "/connection?x").openConnection();
            connection.setRequestProperty("X-One", "1");
            if (body != null) {
                connection.setDoOutput(true);
                connection.getOutputStream().write(body.getBytes("UTF-8"));
            }
            System.out.println(connection.getResponseCode());
            try (InputStream in = connection.getInputStream()) {
                in.readAllBytes();
            }
        }
        System.out.println("done");
    }
}
