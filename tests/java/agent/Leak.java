import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sessions stay; the cache is full after the first round; arrays and builders go with the next collection. */
public class Leak {
    static class Base {
        final long id;

        Base(long id) {
            this.id = id;
        }
    }

    static final class Session extends Base {
        final byte[] data;

        Session() {
            this(100);
        }

        Session(int bytes) {
            super(bytes);
            data = new byte[bytes];
        }
    }

    static final class Price {
        final int[] digits = new int[3];
    }

    static final List<Session> SESSIONS = new ArrayList<>(5000);
    static final Map<Integer, Price> CACHE = new HashMap<>();

    static void login() {
        SESSIONS.add(new Session());
    }

    static Price price(int i) {
        Price price = CACHE.get(i % 100);
        if (price == null) {
            price = new Price();
            CACHE.put(i % 100, price);
        }
        return price;
    }

    static long serve(int i) {
        return new long[8].length + price(i).digits.length;
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            if (i % 10 == 0) {
                login();
            }
            sum += serve(i);
            if (i % 1000 == 999) {
                System.gc();
            }
        }
        System.out.println(sum + " " + SESSIONS.size());
    }
}
