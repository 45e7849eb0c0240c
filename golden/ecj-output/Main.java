public class Main {
    static final Object LOCK = new Object();
    static int made;

    final int n;

    Main(int n) {
        made += n;
        this.n = n;
    }

    static int locked(int n) {
        synchronized (LOCK) {
            if (n > 1) {
                throw new IllegalStateException();
            }
            return n;
        }
    }

    @SuppressWarnings("finally")
    static int ways(int n) {
        for (int i = 0;; i++) {
            try {
                if (i == n) {
                    return i;
                }
                new Main(10);
                if (i == 2) {
                    break;
                }
                continue;
            } catch (RuntimeException e) {
                return -1;
            } finally {
                made++;
            }
        }
        return -2;
    }

    static String text(Object o) {
        switch (String.valueOf(o)) {
            case "a":
                return "A";
            case "b":
                new Main(100);
            default:
                Runnable run = () -> new Main(1000);
                run.run();
                assert o != null;
                return o + "!" + made;
        }
    }

    public static void main(String[] args) {
        for (int n = 0; n < 5; n++) {
            try {
                System.out.println(ways(n) + locked(n));
            } catch (IllegalStateException e) {
                System.out.println("state " + made);
            }
        }
        System.out.println(text("a") + text("b") + text(1));
    }
}
