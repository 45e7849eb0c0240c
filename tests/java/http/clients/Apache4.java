import java.net.URI;
import org.apache.http.Header;
import org.apache.http.HttpRequestInterceptor;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

/** Asks with Apache HttpClient 4. */
public class Apache4 {
    public static void main(String[] args) throws Exception {
        ThreadLocal<String> seen = new ThreadLocal<>();
        // Each thread sends the same object again and again.
        ThreadLocal<HttpGet> requests = ThreadLocal.withInitial(HttpGet::new);
        try (CloseableHttpClient client = HttpClients.custom().setMaxConnPerRoute(16).addInterceptorLast((HttpRequestInterceptor) (sent, context) -> {
            Header header = sent.getFirstHeader("traceparent");
            seen.set(header == null ? null : header.getValue());
        }).build()) {
            Clients.ask(args, (url, path, nonce) -> {
                HttpGet request = requests.get();
                request.reset();
                request.setURI(URI.create(url + path + "?" + nonce));
                try (CloseableHttpResponse response = client.execute(request)) {
                    EntityUtils.consume(response.getEntity());
                }
                if (request.getFirstHeader("traceparent") != null) {
                    throw new IllegalStateException("a header was left in the request");
                }
                Hop.said("made", "GET", path, nonce, seen.get());
            });
        }
    }
}
