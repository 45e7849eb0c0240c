/** Calls tiny methods until it can read something; prints how often it went round. */
public class TinyCalls {
    private int state = 1;

    private int next() {
        for (int i = 0; i < 8; i++) {
            state = state * 31 + i;
        }
        return state;
    }

    private int round() {
        int sum = 0;
        for (int i = 0; i < 10_000; i++) {
            sum += next();
        }
        return sum;
    }

    public static void main(String[] args) throws java.io.IOException {
        TinyCalls tiny = new TinyCalls();
        long rounds = 0;
        int sum = 0;
        while (System.in.available() == 0) {
            sum += tiny.round();
            rounds++;
        }
        if (sum == 42) {
            System.err.println(sum);
        }
        System.out.println(rounds);
    }
}
