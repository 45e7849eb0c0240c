import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** A small shop. Each argument is a fault that makes it do more than before; the result is the same. */
public final class Regressions {
    private static final int ROWS = 50;

    private static String fault = "";

    private static boolean has(String name) {
        return fault.equals(name);
    }

    /** What a database's driver would be. */
    static final class Connection {
        String prepareStatement(String sql) {
            return Sql.parse(sql);
        }

        void close() {}
    }

    static final class Sql {
        static String parse(String sql) {
            return sql.trim();
        }
    }

    /** Opened once; that is what a pool of connections is for. */
    static final class Connections {
        private static Connection kept;

        static Connection open() {
            if (has("no-pool")) {
                return connect();
            }
            if (kept == null) {
                kept = connect();
            }
            return kept;
        }

        static Connection connect() {
            return new Connection();
        }
    }

    static final class Item {
        final int number;
        private Integer price;

        Item(int number) {
            this.number = number;
        }

        int price() {
            if (price == null || has("no-memo")) {
                price = Prices.compute(number);
            }
            return price;
        }

        int total() {
            if (has("n+1")) {
                Connections.open().prepareStatement("select price from item");
            }
            return number;
        }

        boolean matches(String word) {
            return Words.normalise(word).equals(name());
        }

        String name() {
            return "item";
        }

        String describe() {
            return Text.format(number);
        }
    }

    static final class Prices {
        static int compute(int number) {
            return number * 7 % 13;
        }
    }

    static final class Words {
        static String normalise(String word) {
            return word.toLowerCase();
        }
    }

    static final class Text {
        static String format(int number) {
            return "#" + number;
        }
    }

    static final class Log {
        static void debug(String text) {}

        static boolean isDebug() {
            return false;
        }
    }

    static final class Settings {
        private static Map<String, String> parsed;

        static String get(String key) {
            if (parsed == null || has("no-cache")) {
                parsed = parse();
            }
            return parsed.get(key);
        }

        static Map<String, String> parse() {
            Map<String, String> all = new HashMap<>();
            for (String line : "currency=EUR tax=19 locale=de".split(" ")) {
                put(all, line);
            }
            return all;
        }

        private static void put(Map<String, String> all, String line) {
            int at = line.indexOf('=');
            all.put(line.substring(0, at), line.substring(at + 1));
        }
    }

    static final class OrderService {
        List<Item> list() {
            Connections.open().prepareStatement("select * from item");
            List<Item> items = new ArrayList<>();
            for (int i = 0; i < ROWS; i++) {
                items.add(Rows.read(i));
            }
            int total = 0;
            for (Item item : items) {
                total += item.total();
            }
            check(total);
            for (int i = 0; has("repeated-close") && i < ROWS; i++) {
                Connections.open().close();
            }
            return items;
        }

        private void check(int total) {
            if (total < 0) {
                throw new IllegalStateException();
            }
        }
    }

    static final class Rows {
        static Item read(int number) {
            Connections.open();
            Item item = new Item(number);
            if (has("eager")) {
                Prices.compute(number);
                item.describe();
            }
            return item;
        }
    }

    static final class Report {
        /** A sum, without a box. */
        int sum(List<Item> items) {
            if (has("boxing")) {
                Box sum = new Box(0);
                for (Item item : items) {
                    sum = new Box(sum.value + item.price());
                }
                return sum.value;
            }
            int sum = 0;
            for (Item item : items) {
                sum += item.price();
            }
            return sum;
        }

        void log(List<Item> items) {
            for (Item item : items) {
                if (Log.isDebug() || has("eager-logging")) {
                    Log.debug(item.describe());
                }
            }
        }

        /** Pairs of equal prices, over a table of prices. */
        int pairs(List<Item> items) {
            int pairs = 0;
            if (has("quadratic")) {
                for (Item one : items) {
                    for (Item other : items) {
                        pairs += same(one, other);
                    }
                }
                return pairs;
            }
            for (Item item : items) {
                pairs += same(item, item);
            }
            return pairs;
        }

        private int same(Item one, Item other) {
            return one.number == other.number ? 1 : 0;
        }

        String render(List<Item> items) {
            StringBuilder text = new StringBuilder(Header.of(items.size()));
            for (Item item : items) {
                if (has("repeated-parsing")) {
                    Template.parse("item {0}");
                }
                text.append(item.number);
                if (has("flush")) {
                    Output.flush();
                }
            }
            Template.parse("page {0}");
            Output.flush();
            return text.toString();
        }
    }

    static final class Header {
        static String of(int size) {
            return "items: " + size;
        }
    }

    static final class Template {
        static int parse(String text) {
            return text.indexOf('{');
        }
    }

    static final class Output {
        static void flush() {}
    }

    /** An object where a number was. */
    static final class Box {
        final int value;

        Box(int value) {
            this.value = value;
        }
    }

    static final class Index {
        private final Map<Integer, Item> byNumber = new HashMap<>();
        private final List<Item> all;

        Index(List<Item> all) {
            this.all = all;
            for (Item item : all) {
                byNumber.put(item.number, item);
            }
        }

        Item find(int number) {
            if (has("lost-index")) {
                for (Item item : all) {
                    if (isWanted(item, number)) {
                        return item;
                    }
                }
                return null;
            }
            Item item = byNumber.get(number);
            return isWanted(item, number) ? item : null;
        }

        private static boolean isWanted(Item item, int number) {
            return item.number == number;
        }
    }

    static final class Client {
        private int failures = 1;

        String fetch() {
            if (has("retry")) {
                failures = 5;
            }
            for (int i = 1;; i++) {
                if (send(i)) {
                    return "ok";
                }
            }
        }

        private boolean send(int attempt) {
            return attempt >= failures;
        }
    }

    static final class Search {
        int count(List<Item> items, String word) {
            int count = 0;
            String normal = Words.normalise(word);
            for (Item item : items) {
                if (has("in-the-loop") ? item.matches(word) : item.name().equals(normal)) {
                    count++;
                }
            }
            return count;
        }

        int fibonacci(int n) {
            return n < 2 ? n : has("exponential") ? fibonacci(n - 1) + fibonacci(n - 2) : known(n);
        }

        private int known(int n) {
            int a = 0, b = 1;
            for (int i = 0; i < n; i++) {
                int next = a + b;
                a = b;
                b = next;
            }
            return a;
        }

        void sort(List<Item> items) {
            int rounds = has("sorted-again") ? 3 : 1;
            for (int i = 0; i < rounds; i++) {
                items.sort((one, other) -> compare(one, other));
            }
        }

        private static int compare(Item one, Item other) {
            return Integer.compare(one.number, other.number);
        }

        char[] copy(List<Item> items) {
            char[] copy = new char[0];
            for (Item item : items) {
                if (has("copying")) {
                    copy = new char[copy.length + 1];
                }
            }
            return copy;
        }

        char[] buffer() {
            return new char[has("large-buffer") ? 4096 : 16];
        }
    }

    static final class Listeners {
        private final List<Runnable> all = new ArrayList<>();

        void add(Runnable listener) {
            all.add(listener);
        }

        void fire() {
            for (Runnable listener : all) {
                listener.run();
            }
        }
    }

    private static void changed() {}

    /** Whichever thread of the pool does what: figures that move, and that do not. */
    private static int inParallel(List<Item> items) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        try {
            List<Future<Integer>> results = new ArrayList<>();
            for (Item item : items) {
                results.add(pool.submit(() -> work(item)));
            }
            int sum = 0;
            for (Future<Integer> result : results) {
                sum += result.get();
            }
            return sum;
        } finally {
            pool.shutdown();
        }
    }

    private static final ThreadLocal<Object> BUFFER = ThreadLocal.withInitial(() -> newBuffer());

    private static Object newBuffer() {
        return new Object();
    }

    private static int work(Item item) {
        BUFFER.get();
        if (has("in-the-pool")) {
            Settings.parse();
        }
        return item.price();
    }

    /** Reads the clock, a different number of times in each run. A loop until some time has passed may end at the same call, where HotSpot compiles it. */
    private static void readClock() {
        for (int more = 100 + new java.util.Random().nextInt(1000); more > 0; more--) {
            nanoTime();
        }
    }

    private static long nanoTime() {
        return System.nanoTime();
    }

    public static void main(String[] arguments) throws Exception {
        fault = arguments.length > 0 ? arguments[0] : "";
        List<Item> items = new OrderService().list();
        Report report = new Report();
        int result = report.sum(items) + report.pairs(items.subList(0, 1));
        report.pairs(items);
        report.log(items);
        result += report.render(items).length();
        for (int i = 0; i < 10; i++) {
            result += Settings.get("tax").length();
        }
        Index index = new Index(items);
        for (int i = 0; i < ROWS; i++) {
            result += index.find(i).number;
        }
        result += new Client().fetch().length();
        Search search = new Search();
        result += search.count(items, "item") + search.fibonacci(15);
        search.sort(items);
        search.copy(items);
        search.buffer();
        Listeners listeners = new Listeners();
        for (int i = 0; i < 4; i++) {
            if (i == 0 || has("listener-leak")) {
                listeners.add(() -> changed());
            }
            listeners.fire();
        }
        result += inParallel(items);
        readClock();
        if (has("new-code")) {
            result += Added.unused();
        }
        if (has("killed")) {
            Runtime.getRuntime().halt(0);
        }
        System.out.println(result);
    }

    /** A method that was not there before. */
    static final class Added {
        static int unused() {
            return 0;
        }
    }
}
