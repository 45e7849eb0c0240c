public class Main {
    static final Object LOCK = new Object();
    static int sum;

    static void add(int n) {
        synchronized (LOCK) {
            if (n % 3 == 1) {
                throw new IllegalArgumentException("bad " + n);
            }
            sum += n;
        }
    }

    static int nested(Object other) {
        synchronized (LOCK) {
            synchronized (other) {
                return Thread.holdsLock(LOCK) && Thread.holdsLock(other) ? ++sum : -1;
            }
        }
    }

    public static void main(String[] args) {
        for (int i = 2; i < 12; i++) {
            try {
                add(i);
            } catch (IllegalArgumentException e) {
                System.out.println(e.getMessage());
            }
        }
        for (int i = 0; i < 5; i++) {
            System.out.println(nested(new Object()));
        }
        System.out.println(Thread.holdsLock(LOCK));
    }
}
