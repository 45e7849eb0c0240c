import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.io.entity.EntityUtils;

/** Asks with Apache HttpClient 5. */
public class Apache5 {
    public static void main(String[] args) throws Exception {
        ThreadLocal<String> seen = new ThreadLocal<>();
        try (CloseableHttpClient client = HttpClients.custom().addRequestInterceptorLast((sent, entity, context) -> {
            Header header = sent.getFirstHeader("traceparent");
            seen.set(header == null ? null : header.getValue());
        }).build()) {
            Clients.ask(args, (url, path, nonce) -> {
                HttpGet request = new HttpGet(url + path + "?" + nonce);
                client.execute(request, response -> {
                    EntityUtils.consume(response.getEntity());
                    return null;
                });
                if (request.getFirstHeader("traceparent") != null) {
                    throw new IllegalStateException("a header was left in the request");
                }
                Hop.said("made", "GET", path, nonce, seen.get());
            });
        }
    }
}
