import java.util.Arrays;

//@calls big 2
final class ParserTables {
    static int[] big(int first) {
        //@fill
        return new int[] {
            first,
            //@repeat 6800 $i * 65537 % 99991 + 32768,
        };
    }

    static void run() {
        System.out.println(Arrays.hashCode(big(3)) + " " + Arrays.hashCode(big(4)));
    }
}
