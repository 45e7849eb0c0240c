import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Places orders, and looks each of them up again: java Shoppers.java URL REQUESTS. */
public class Shoppers {
    private static final String[] NAMES = {"ada", "emmy", "grace", "sofja"};
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    public static void main(String[] arguments) throws IOException, InterruptedException {
        URI orders = URI.create(arguments[0] + "/orders");
        int requests = Integer.parseInt(arguments[1]);
        TreeMap<Integer, Integer> answers = new TreeMap<>();
        String known = "1";
        for (int i = 0; i < requests; i++) {
            HttpRequest.Builder request = HttpRequest.newBuilder();
            if (i % 2 == 0) {
                // One order in four has a desk, of which there are not enough.
                String body = "{\"customer\": \"%s\", \"lines\": [{\"item\": %d, \"pieces\": 1}, {\"item\": %d, \"pieces\": 1}, {\"item\": 5, \"pieces\": 2}]}"
                        .formatted(NAMES[i / 2 % 4], 1 + i / 2 % 2, 3 + i / 2 % 4 / 3);
                request.uri(orders).header("Content-Type", "application/json").POST(BodyPublishers.ofString(body));
            } else {
                request.uri(URI.create(orders + "/" + known));
            }
            HttpResponse<String> answer = CLIENT.send(request.build(), BodyHandlers.ofString());
            answers.merge(answer.statusCode(), 1, Integer::sum);
            Matcher order = Pattern.compile("\"order\":(\\d+)").matcher(answer.body());
            known = order.find() ? order.group(1) : known;
        }
        answers.forEach((status, count) -> System.out.println(count + " requests answered with " + status));
    }
}
