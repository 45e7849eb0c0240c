import org.apache.http.Header;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

/** Asks with Apache HttpClient 4. */
public class Apache4 {
    public static void main(String[] args) throws Exception {
        try (CloseableHttpClient client = HttpClients.custom().setMaxConnPerRoute(16).build()) {
            Clients.ask(args, (url, path, nonce) -> {
                HttpGet request = new HttpGet(url + path + "?" + nonce);
                try (CloseableHttpResponse response = client.execute(request)) {
                    EntityUtils.consume(response.getEntity());
                }
                Header header = request.getFirstHeader("traceparent");
                Hop.said("made", "GET", path, nonce, header == null ? null : header.getValue());
            });
        }
    }
}
