import java.io.IOException;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

/** Asks with OkHttp 4. */
class StormOk implements Storm.Client {
    private final OkHttpClient client = new OkHttpClient();

    @Override
    public int get(String url, String header, boolean asProxy, int patience, int cancelAfter) throws IOException {
        Request.Builder request = new Request.Builder().url(url).header("traceparent", header);
        if (asProxy) {
            request.header("Forwarded", "for=192.0.2.7");
        }
        Call call = client.newBuilder().readTimeout(patience, TimeUnit.MILLISECONDS).build().newCall(request.build());
        if (cancelAfter > 0) {
            Storm.TIMER.schedule(call::cancel, cancelAfter, TimeUnit.MILLISECONDS);
        }
        try (Response response = call.execute()) {
            response.body().bytes();
            return response.code();
        }
    }
}
