public class Main {
    private int ticks;
    private static int total;

    synchronized int tick(int n) {
        if (n % 2 == 0) {
            throw new IllegalStateException();
        }
        return ++ticks;
    }

    static synchronized int total(int n) {
        return total += 100 / n;
    }

    public static void main(String[] args) {
        Main main = new Main();
        int failed = 0;
        for (int i = 0; i < 1000; i++) {
            try {
                main.tick(i);
            } catch (IllegalStateException e) {
                failed++;
            }
        }
        for (int i = 0; i < 10; i++) {
            try {
                total(i);
            } catch (ArithmeticException e) {
                failed++;
            }
        }
        System.out.println(main.ticks + " " + failed + " " + total + " " + Thread.holdsLock(main));
    }
}
