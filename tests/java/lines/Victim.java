package lines;

import java.util.function.IntUnaryOperator;

/**
 * What `//=N` says was derived by hand: how often the line is executed, and behind `b` each conditional branch or switch of the line with its
 * ways: on to what follows, then the jump; of a switch its targets in their order. A line without it has no code.
 */
public final class Victim {
    static int counter;
    static int nextNumber;

    private int made = next(); //= 3

    Victim() {
        this(5); //= 1
    } //= 1

    Victim(int n) { //= 3
        made += n; //= 3
    } //= 3

    private static int next() {
        return ++nextNumber; //= 3
    }

    static synchronized void touch() {
        counter++; //= 21
    } //= 21

    static int loops(int n) {
        int sum = 0; //= 1
        for (int i = 0; i < n; i++) { //= 11 b 10/1
            sum += i; //= 10
        }
        while (sum > 0) { //= 6 b 5/1
            sum -= 10; //= 5
        }
        do {
            sum++; //= 5
        } while (sum < 0); //= 5 b 1/4
        return sum; //= 1
    }

    /** Its first instruction is the target of a jump backwards. */
    static void toTheStart(int n) {
        while (n > 0) { //= 9 b 7/2
            n--; //= 7
        }
    } //= 2

    static String choose(int n) {
        switch (n) { //= 5 b 1/2/1/1
            case 1:
                touch(); //= 1
                // On to the next.
            case 2:
                touch(); //= 3
                break; //= 3
            case 3:
                return "three"; //= 1
            default:
                touch(); //= 1
        }
        return "other"; //= 4
    }

    static int falling(int n) {
        int seen = 0; //= 4
        switch (n) { //= 4 b 1/1/1/1
            case 1:
                seen++; //= 1
            case 2:
                seen++; //= 2
            case 3:
                seen++; //= 3
            default:
        }
        return seen; //= 4
    }

    static int parse(String text) {
        if (text.isEmpty()) { //= 3 b 1/2
            throw new IllegalStateException(); //= 1
        }
        return Integer.parseInt(text); //= 2
    }

    static int guarded(String text) {
        int value = -1; //= 3
        try {
            value = parse(text); //= 3
            touch(); //= 1
        } catch (NumberFormatException e) { //= 1
            value = -2; //= 1
        } finally {
            touch(); //= 3
        } //= 3
        return value; //= 2
    }

    static int lambdas(int n) {
        IntUnaryOperator twice = x -> x * 2; //= 5
        int sum = 0; //= 1
        for (int i = 0; i < n; i++) { //= 5 b 4/1
            sum += twice.applyAsInt(i); //= 4
        }
        Runnable touches = () -> { //= 1
            touch(); //= 2
        }; //= 2
        touches.run(); //= 1
        touches.run(); //= 1
        return sum; //= 1
    }

    static int one() {
        return 1; //= 8
    }

    static int plus(int a, int b) {
        return a + b; //= 4
    }

    static int many(int a, int b) {
        int c = a > 0 && b > 0 ? a : b; //= 4 b 2/2 1/1
        for (int i = 0; i < a; i++) c += i; //= 4 b 2/4
        if (c > 0) touch(); else counter--; //= 4 b 2/2
        return plus( //= 4
            one(), //= 4
            one()); //= 4
    }

    static void check(int n) {
        if (n == 0) { //= 3 b 1/2
            throw new IllegalArgumentException(); //= 1
        }
    } //= 2

    static void leaves(int n) {
        touch(); //= 3
        check(n); //= 3
        touch(); //= 2
    } //= 2

    static boolean positive(int n) {
        if (n == 0) { //= 3 b 1/2
            throw new IllegalArgumentException(); //= 1
        }
        return n > 0; //= 2 b 1/1
    }

    static void conditions(int n) {
        if (positive(n)) { //= 3 b 1/1
            touch(); //= 1
        }
    } //= 2

    static void work() {
        for (int i = 0; i < 100_000; i++) { //= 400004 b 400000/4
            if (i % 2 == 0) { //= 400000 b 200000/200000
                one(i); //= 200000
            }
        }
    } //= 4

    private static int one(int i) {
        return i > 10 ? i : -i; //= 200000 b 199976/24
    }

    static void threads() throws InterruptedException {
        Thread[] threads = new Thread[4]; //= 1
        for (int i = 0; i < threads.length; i++) { //= 5 b 4/1
            threads[i] = new Thread(Victim::work); //= 4
            threads[i].start(); //= 4
        }
        for (Thread thread : threads) { //= 5 b 4/1
            thread.join(); //= 4
        }
    } //= 1

    static void never() {
        touch(); //= 0
    } //= 0

    /** Never loaded. */
    static final class Unused { //= 0
        int value = 3; //= 0

        int twice() {
            return value > 0 ? 2 * value : 0; //= 0 b 0/0
        }
    }

    static void ends() {
        touch(); //= 1
        System.exit(0); //= 1
    } //= 0

    public static void main(String[] args) throws InterruptedException {
        new Victim(); //= 1
        new Victim(1); //= 1
        new Victim(2); //= 1
        loops(10); //= 1
        toTheStart(3); //= 1
        toTheStart(4); //= 1
        for (int n : new int[] {1, 2, 2, 3, 9}) { //= 6 b 5/1
            choose(n); //= 5
        }
        for (int n = 1; n <= 4; n++) { //= 5 b 4/1
            falling(n); //= 4
        }
        for (String text : new String[] {"7", "x", ""}) { //= 4 b 3/1
            try {
                guarded(text); //= 3
            } catch (IllegalStateException e) { //= 1
                touch(); //= 1
            } //= 2
        }
        lambdas(4); //= 1
        many(1, 1); //= 1
        many(1, -1); //= 1
        many(-1, 1); //= 1
        many(-1, -1); //= 1
        for (int n = -1; n <= 1; n++) { //= 4 b 3/1
            try {
                leaves(n); //= 3
            } catch (IllegalArgumentException e) { //= 1
                counter++; //= 1
            } //= 2
            try {
                conditions(n); //= 3
            } catch (IllegalArgumentException e) { //= 1
                counter++; //= 1
            } //= 2
        }
        threads(); //= 1
        ends(); //= 1
    } //= 0
}
