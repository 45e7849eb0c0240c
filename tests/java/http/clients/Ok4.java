import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/** Asks with OkHttp 4: every other request by its dispatcher. */
public class Ok4 {
    public static void main(String[] args) throws Exception {
        OkHttpClient client = new OkHttpClient();
        Clients.ask(args, (url, path, nonce) -> {
            Call call = client.newCall(new Request.Builder().url(url + path + "?" + nonce).build());
            Response answer = nonce.hashCode() % 2 == 0 ? call.execute() : enqueued(call);
            try (Response response = answer) {
                response.body().bytes();
                Response first = response;
                while (first.priorResponse() != null) {
                    first = first.priorResponse();
                }
                Hop.said("made", "GET", path, nonce, first.request().header("traceparent"));
            }
        });
        client.dispatcher().executorService().shutdown();
        client.connectionPool().evictAll();
    }

    private static Response enqueued(Call call) throws Exception {
        CompletableFuture<Response> answer = new CompletableFuture<>();
        call.enqueue(new Callback() {
            @Override
            public void onFailure(Call failed, IOException e) {
                answer.completeExceptionally(e);
            }

            @Override
            public void onResponse(Call done, Response response) {
                answer.complete(response);
            }
        });
        return answer.get();
    }
}
