/** Code regions that cannot be timed exactly, or cannot be found. */
public class Main {
    static boolean condition(int a, int b) {
        return a > 0
            && positive(b);
    }

    static boolean positive(int a) {
        return a > 0;
    }

    static int handler(int n) {
        int a = 0;
        try {
            a = 100 / n;
            a++;
        } catch (ArithmeticException e) {
            a = -1;
        }
        return a;
    }

    static int overlap(int n) {
        int a = n;
        a += 1;
        a += 2;
        a += 3;
        return a;
    }

    final int field = 7;

    Main() {
    }

    Main(int n) {
    }

    public static void main(String[] args) {
        System.out.println(condition(1, 2) + " " + handler(0) + " " + overlap(1));
    }
}
