public class Main {
    static final Object LOCK = new Object();

    static int recurse(int n) {
        synchronized (LOCK) {
            return withFinally(n + 1) + 1;
        }
    }

    static int withFinally(int n) {
        int before = n;
        try {
            return recurse(n);
        } finally {
            before--;
        }
    }

    static void attempt() {
        try {
            recurse(0);
        } catch (StackOverflowError e) {
            System.out.println("overflow, lock held: " + Thread.holdsLock(LOCK));
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 5; i++) {
            attempt();
        }
    }
}
