import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.http.auth.AuthScope;
import org.apache.http.auth.UsernamePasswordCredentials;
import org.apache.http.client.config.RequestConfig;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.BasicCredentialsProvider;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

/** Asks with Apache HttpClient 4. */
class StormApache4 implements Storm.Client {
    private final CloseableHttpClient client;

    StormApache4() {
        BasicCredentialsProvider credentials = new BasicCredentialsProvider();
        credentials.setCredentials(AuthScope.ANY, new UsernamePasswordCredentials("storm", "secret"));
        client = HttpClients.custom().setMaxConnPerRoute(5).setMaxConnTotal(20).setDefaultCredentialsProvider(credentials).build();
    }

    @Override
    public int get(String url, String header, boolean asProxy, int patience, int cancelAfter) throws IOException {
        HttpGet request = new HttpGet(url);
        request.setHeader("traceparent", header);
        if (asProxy) {
            request.setHeader("X-Forwarded-For", "192.0.2.7");
        }
        request.setConfig(RequestConfig.custom().setSocketTimeout(patience).setConnectTimeout(Storm.PATIENCE).build());
        if (cancelAfter > 0) {
            Storm.TIMER.schedule(request::abort, cancelAfter, TimeUnit.MILLISECONDS);
        }
        try (CloseableHttpResponse response = client.execute(request)) {
            EntityUtils.consume(response.getEntity());
            return response.getStatusLine().getStatusCode();
        }
    }
}
