import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.util.Timeout;

/** Asks with Apache HttpClient 5. */
class StormApache5 implements Storm.Client {
    private final CloseableHttpClient client = HttpClients.createDefault();

    @Override
    public int get(String url, String header, boolean asProxy, int patience, int cancelAfter) throws IOException {
        HttpGet request = new HttpGet(url);
        request.setHeader("traceparent", header);
        if (asProxy) {
            request.setHeader("Via", "1.1 storm");
        }
        request.setConfig(RequestConfig.custom().setResponseTimeout(Timeout.ofMilliseconds(patience)).build());
        if (cancelAfter > 0) {
            Storm.TIMER.schedule(request::cancel, cancelAfter, TimeUnit.MILLISECONDS);
        }
        return client.execute(request, response -> {
            EntityUtils.consume(response.getEntity());
            return response.getCode();
        });
    }
}
