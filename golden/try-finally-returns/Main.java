public class Main {
    static int cleanups;

    static void fail(int n) {
        if (n % 2 == 1) {
            throw new RuntimeException("n=" + n);
        }
    }

    static int ways(int n) {
        try {
            if (n == 0) {
                return 100;
            }
            try {
                if (n == 1) {
                    return 101;
                }
                if (n > 3) {
                    fail(n);
                }
            } finally {
                cleanups++;
            }
            return 102;
        } catch (RuntimeException e) {
            return 103;
        } finally {
            cleanups += 10;
        }
    }

    @SuppressWarnings("finally")
    static int override(int n) {
        try {
            if (n == 1) {
                throw new RuntimeException();
            }
            return n;
        } finally {
            if (n < 2) {
                return -1;
            }
        }
    }

    static void passes(int n) {
        try {
            fail(n);
        } finally {
            cleanups += 1000;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 6; i++) {
            System.out.println(ways(i) + " " + cleanups);
        }
        for (int i = 0; i < 3; i++) {
            System.out.println(override(i));
        }
        fail(0);
        fail(2);
        try {
            passes(2);
            passes(3);
        } catch (RuntimeException e) {
            System.out.println(e.getMessage() + " " + cleanups);
        }
    }
}
