import java.util.Arrays;

/** Calls methods of the JDK in whose place a compiler puts code of its own, until it does. */
public class Intrinsics {
    static int compare(byte[] one, byte[] other) {
        return Arrays.equals(one, other) ? 1 : 0;
    }

    static int fill(byte[] into) {
        Arrays.fill(into, (byte) 3);
        return into[0];
    }

    public static void main(String[] args) {
        byte[] one = new byte[20];
        byte[] other = new byte[20];
        int sum = 0;
        for (int i = 0; i < 1_000_000; i++) {
            sum += compare(one, other);
            sum += Arrays.copyOf(args, 3, String[].class).length;
            sum += fill(one) + fill(other);
        }
        System.out.println(sum);
    }
}
