import java.util.HashMap;
import java.util.Map;

/** What takes the time before the first request: a table that is made when its class is first used. */
public class Starting {
    static final class Settings {
        static int port() {
            return 4711;
        }
    }

    static final class Currencies {
        static final Map<String, Double> RATES = new HashMap<>();

        static {
            load();
        }

        static void load() {
            for (int i = 0; i < 60; i++) {
                RATES.put("C" + i, parse(i));
            }
        }

        static double parse(int line) {
            double rate = 1;
            for (int i = 1; i < 400_000; i++) {
                rate = (rate * i + line) % 977;
            }
            return rate;
        }
    }

    static final class Server {
        static double serve(int request) {
            return request * Currencies.RATES.get("C" + request % 60);
        }
    }

    public static void main(String[] args) {
        double sum = Settings.port();
        for (int request = 0; request < 1000; request++) {
            sum += Server.serve(request);
        }
        System.out.println(sum);
    }
}
