/** Calls tiny methods for so many seconds; prints how often it went round. */
public class TinyCalls {
    private int state = 1;

    private int next() {
        state = state * 31 + 7;
        return state;
    }

    private int round() {
        int sum = 0;
        for (int i = 0; i < 10_000; i++) {
            sum += next();
        }
        return sum;
    }

    public static void main(String[] args) {
        TinyCalls tiny = new TinyCalls();
        long rounds = 0;
        int sum = 0;
        for (long end = System.nanoTime() + Integer.parseInt(args[0]) * 1_000_000_000L; System.nanoTime() < end;) {
            sum += tiny.round();
            rounds++;
        }
        if (sum == 42) {
            System.err.println(sum);
        }
        System.out.println(rounds);
    }
}
