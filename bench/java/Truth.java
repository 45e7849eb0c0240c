import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Programs in the manner of SPECjvm98, as JFluid's authors measured them (seed 002, table 1): how much time does a profiler
 * charge to a program, and how much does the program take without it? Usage: Truth PROGRAM WARM_UP ROUNDS. Prints, for
 * each round, the ns that {@code measured} took; that method is the root of what is compared.
 */
public class Truth {
    interface Program {
        long run();
    }

    public static void main(String[] args) {
        Program program = program(args[0]);
        long check = 0;
        for (int i = Integer.parseInt(args[1]); i > 0; i--) {
            check += program.run();
        }
        for (int i = Integer.parseInt(args[2]); i > 0; i--) {
            long start = System.nanoTime();
            check += measured(program);
            System.out.println("round " + (System.nanoTime() - start));
        }
        System.out.println("check " + check);
    }

    static long measured(Program program) {
        return program.run();
    }

    static Program program(String name) {
        switch (name) {
            case "compress": return new Compress();
            case "db": return new Database();
            case "jack": return new Parser();
            case "jess": return new Rules();
            case "mpegaudio": return new Filter();
            case "matrix": return new Matrix();
            default: throw new IllegalArgumentException(name);
        }
    }

    /** LZW over bytes: one method for each byte, and two for each new word. */
    static final class Compress implements Program {
        private final byte[] input = new byte[1 << 21];
        private final int[] keys = new int[1 << 17];
        private final int[] codes = new int[1 << 17];
        private int next;
        private long out;

        Compress() {
            long seed = 42;
            for (int i = 0; i < input.length; i++) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                input[i] = (byte) ("etaoin shrdlu\n".charAt((int) ((seed >>> 33) % 14)) ^ (seed >>> 60));
            }
        }

        public long run() {
            out = 0;
            Arrays.fill(keys, -1);
            next = 256;
            int prefix = 0;
            for (byte b : input) {
                prefix = step(prefix, b & 255);
            }
            put(prefix);
            return out;
        }

        private int step(int prefix, int c) {
            int key = prefix << 8 | c;
            int slot = (key * 0x9E3779B1) >>> 15;
            while (keys[slot] >= 0 && keys[slot] != key) {
                slot = slot + 1 & keys.length - 1;
            }
            if (keys[slot] >= 0) {
                return codes[slot];
            }
            put(prefix);
            if (next < 1 << 16) {
                add(slot, prefix, c, next++);
            }
            return c;
        }

        private void add(int slot, int prefix, int c, int code) {
            keys[slot] = prefix << 8 | c;
            codes[slot] = code;
        }

        private void put(int code) {
            out = out * 31 + code;
        }
    }

    /** Sorting and searching records by string keys: the work is in the JDK, few calls are the program's own. */
    static final class Database implements Program {
        private final List<String> records = new ArrayList<>();

        Database() {
            long seed = 7;
            for (int i = 0; i < 60_000; i++) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                records.add("record-" + Long.toString(seed >>> 20, 36));
            }
        }

        public long run() {
            String[] sorted = sort();
            long found = 0;
            for (int i = 0; i < 300; i++) {
                found += count(sorted, "record-" + (char) ('a' + i % 26));
            }
            return found;
        }

        private String[] sort() {
            String[] copy = records.toArray(new String[0]);
            Arrays.sort(copy);
            return copy;
        }

        private long count(String[] sorted, String prefix) {
            long hits = 0;
            for (String record : sorted) {
                if (record.startsWith(prefix)) {
                    hits++;
                }
            }
            return hits;
        }
    }

    /** A recursive-descent parser and evaluator of expressions. */
    static final class Parser implements Program {
        private final String text;
        private int at;

        Parser() {
            StringBuilder b = new StringBuilder();
            for (int i = 0; i < 4000; i++) {
                b.append("(").append(i).append("+7)*(").append(i % 13).append("-x");
                for (int n = 0; n < 400; n++) {
                    b.append((char) ('a' + (i + n) % 26));
                }
                b.append(")+");
            }
            text = b.append("1").toString();
        }

        public long run() {
            long sum = 0;
            for (int i = 0; i < 3; i++) {
                at = 0;
                sum += expression();
            }
            return sum;
        }

        private long expression() {
            long value = term();
            while (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
                value = text.charAt(at++) == '+' ? value + term() : value - term();
            }
            return value;
        }

        private long term() {
            long value = factor();
            while (at < text.length() && text.charAt(at) == '*') {
                at++;
                value *= factor();
            }
            return value;
        }

        private long factor() {
            char c = text.charAt(at);
            if (c == '(') {
                at++;
                long value = expression();
                at++;
                return value;
            }
            return c == 'x' ? variable() : number();
        }

        private long variable() {
            long hash = 0;
            while (Character.isLetter(text.charAt(at))) {
                hash = hash * 31 + text.charAt(at++);
            }
            return hash;
        }

        private long number() {
            long value = 0;
            while (at < text.length() && Character.isDigit(text.charAt(at))) {
                value = value * 10 + text.charAt(at++) - '0';
            }
            return value;
        }
    }

    /** Rules over facts in hash maps, with an interface call for each test. */
    static final class Rules implements Program {
        interface Test {
            boolean holds(Map<String, Integer> fact);
        }

        static final class Less implements Test {
            private final String[] keys;
            private final int bound;

            Less(int bound, String... keys) {
                this.keys = keys;
                this.bound = bound;
            }

            public boolean holds(Map<String, Integer> fact) {
                int sum = 0;
                for (String key : keys) {
                    sum += fact.get(key);
                }
                return sum < bound;
            }
        }

        static final class Both implements Test {
            private final Test a;
            private final Test b;

            Both(Test a, Test b) {
                this.a = a;
                this.b = b;
            }

            public boolean holds(Map<String, Integer> fact) {
                return a.holds(fact) && b.holds(fact);
            }
        }

        private final List<Map<String, Integer>> facts = new ArrayList<>();
        private final List<Test> rules = new ArrayList<>();

        Rules() {
            for (int i = 0; i < 60_000; i++) {
                Map<String, Integer> fact = new HashMap<>();
                fact.put("a", i * 31 % 1000);
                fact.put("b", i * 17 % 1000);
                fact.put("c", i * 7 % 1000);
                facts.add(fact);
            }
            java.util.Collections.shuffle(facts, new java.util.Random(1));
            for (int i = 0; i < 20; i++) {
                rules.add(new Both(new Less(i * 150, "a", "b", "c"), new Both(new Less(2000 - i * 20, "b", "a"), new Less(800, "c"))));
            }
        }

        public long run() {
            long fired = 0;
            for (Map<String, Integer> fact : facts) {
                fired += fire(fact);
            }
            return fired;
        }

        private int fire(Map<String, Integer> fact) {
            int fired = 0;
            for (Test rule : rules) {
                if (rule.holds(fact)) {
                    fired++;
                }
            }
            return fired;
        }
    }

    /** A synthesis filter: one method for each window of 32 samples. */
    static final class Filter implements Program {
        private final float[] window = new float[128];
        private final float[] samples = new float[1 << 15];

        Filter() {
            for (int i = 0; i < window.length; i++) {
                window[i] = (float) Math.sin(i / 40.0);
            }
        }

        public long run() {
            float sum = 0;
            for (int from = 0; from + 128 < samples.length; from += 32) {
                sum += subband(from);
                rotate(from);
            }
            return (long) sum;
        }

        private float subband(int from) {
            float sum = 0;
            for (int i = 0; i < 128; i++) {
                sum += window[i] * samples[from + i];
            }
            return sum;
        }

        private void rotate(int from) {
            for (int i = 0; i < 32; i++) {
                samples[from + i] = samples[from + i] * 0.5f + i;
            }
        }
    }

    /** Large loops, hardly a call. */
    static final class Matrix implements Program {
        private final double[][] a = new double[160][160];
        private final double[][] b = new double[160][160];

        Matrix() {
            for (int i = 0; i < a.length; i++) {
                for (int j = 0; j < a.length; j++) {
                    a[i][j] = i + j;
                    b[i][j] = i - j;
                }
            }
        }

        public long run() {
            double trace = 0;
            for (int i = 0; i < a.length; i++) {
                trace += row(i);
            }
            return (long) trace;
        }

        private double row(int i) {
            double sum = 0;
            for (int j = 0; j < a.length; j++) {
                double cell = 0;
                for (int k = 0; k < a.length; k++) {
                    cell += a[i][k] * b[k][j];
                }
                sum += cell;
            }
            return sum;
        }
    }
}
