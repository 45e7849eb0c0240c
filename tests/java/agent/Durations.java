/** Calls whose number and ends are known, in threads that end; one is open when the program is halted. */
public class Durations {
    static final int THREADS = 40;

    static class Base {
        Base(boolean fails) {
            if (fails) {
                throw new IllegalArgumentException();
            }
        }
    }

    static class Made extends Base {
        Made(boolean fails) {
            super(fails);
        }
    }

    static void work(int i) {
        if (i % 5 == 0) {
            throw new IllegalStateException();
        }
    }

    static void first() {
        for (int i = 0; i < 50; i++) {
            attempt(i);
        }
    }

    static void second() {
        for (int i = 0; i < 25; i++) {
            attempt(i);
        }
    }

    static void attempt(int i) {
        try {
            work(i);
        } catch (IllegalStateException e) {
            // It was to fail.
        }
    }

    static void nested(int depth) {
        if (depth > 0) {
            between(depth);
        }
    }

    static void between(int depth) {
        nested(depth - 1);
    }

    static void construct() {
        for (int i = 0; i < 4; i++) {
            try {
                new Made(i == 3);
            } catch (IllegalArgumentException e) {
                // It was to fail.
            }
        }
    }

    static void hold() {
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                first();
                second();
                nested(6);
                construct();
            });
            thread.start();
            thread.join();
        }
        hold();
    }
}
