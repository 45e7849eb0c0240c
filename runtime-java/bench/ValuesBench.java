import instrument.runtime.Values;
import java.io.File;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import javax.servlet.http.HttpServletRequest;

/**
 * What it costs to tell of a value that was there before, entry and exit together: javac -cp runtime-java/classes -d DIR runtime-java/bench/ValuesBench.java
 * runtime-java/bench/HttpServletRequest.java; java -cp runtime-java/classes:DIR ValuesBench. Prints ns of the best and the middle one of 15 rounds, with the
 * same object each time and with 64 objects in turn; what makes them is not part of it.
 */
public final class ValuesBench {
    private static final int CALLS = 400_000;

    private ValuesBench() {}

    private record Served(String getMethod, String getRequestURI) implements HttpServletRequest {}

    public static void main(String[] args) throws Exception {
        measure("statement", i -> "select name from item where id = " + i, text -> Values.statementText((String) text));
        measure("HttpRequest", i -> HttpRequest.newBuilder(URI.create("http://localhost:8080/items/" + i + "/price?a=b")).build(), Values::requestMade);
        measure("URL", ValuesBench::url, Values::connectionRead);
        measure("HttpServletRequest", i -> new Served("GET", "/items/" + i + "/price"), Values::requestServed);
        measure("String", i -> "data/input/part-" + i + ".csv", Values::fileRead);
        measure("File", i -> new File("data/input/part-" + i + ".csv"), Values::fileWritten);
        measure("Path", i -> Path.of("data/input/part-" + i + ".csv"), Values::fileRead);
    }

    private static Object url(int number) {
        try {
            return new URL("http://localhost:8080/items/" + number + "/price?a=b");
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void measure(String name, IntFunction<Object> make, ToIntFunction<Object> enter) {
        Object[] values = new Object[64];
        for (int i = 0; i < values.length; i++) {
            values[i] = make.apply(i);
        }
        System.out.printf("%-20s same %s   64 in turn %s%n", name, rounds(values, 0, enter), rounds(values, values.length - 1, enter));
    }

    private static String rounds(Object[] values, int mask, ToIntFunction<Object> enter) {
        double[] rounds = new double[15];
        for (int round = 0; round < rounds.length; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                Values.valueLeft(enter.applyAsInt(values[i & mask]));
            }
            rounds[round] = (double) (System.nanoTime() - start) / CALLS;
        }
        java.util.Arrays.sort(rounds);
        return String.format("%5.1f %5.1f", rounds[0], rounds[rounds.length / 2]);
    }
}
