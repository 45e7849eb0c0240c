import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;

/** Notes in a file that it ran, counts the lines of its input, makes many short calls and a few long ones, and ends with 3; or sleeps. */
public class Twice {
    static long state = 1;

    public static void main(String[] args) throws Exception {
        Files.write(Paths.get(args[0]), "ran\n".getBytes(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        if (args.length > 1) {
            Thread.sleep(60_000);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int lines = 0;
        while (in.readLine() != null) {
            lines++;
        }
        for (int i = 0; i < 20; i++) {
            often();
            seldom();
        }
        System.out.println(lines + " lines, " + (state != 0));
        System.exit(3);
    }

    /** A million calls that do next to nothing. */
    static void often() {
        for (int i = 0; i < 1_000_000; i++) {
            step();
        }
    }

    static void step() {
        state = state * 6364136223846793005L + 1442695040888963407L;
    }

    /** About 20 ms without a call. */
    static void seldom() {
        long x = state | 1;
        for (int i = 0; i < 20_000_000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        state = x;
    }
}
