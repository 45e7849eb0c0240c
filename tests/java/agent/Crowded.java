/**
 * The same loop of tiny calls with probes and, in a class that is left out, without them, in turn, while other threads keep all
 * processors busy. Prints what the loop without probes took, in ns.
 */
public class Crowded {
    private static final int CALLS = 1000000;
    private static final int ROUNDS = 12;

    public static void main(String[] args) {
        for (int i = 2 * Runtime.getRuntime().availableProcessors(); i > 0; i--) {
            Thread thread = new Thread(new Busy());
            thread.setDaemon(true);
            thread.start();
        }
        long check = 0;
        long plain = 0;
        for (int i = 0; i < ROUNDS; i++) {
            check += loop(CALLS);
            long start = System.nanoTime();
            check -= Plain.loop(CALLS);
            plain += System.nanoTime() - start;
        }
        System.out.println(plain + " " + check);
    }

    static long loop(int calls) {
        long x = calls;
        for (int i = 0; i < calls; i++) {
            x = step(x, i);
        }
        return x;
    }

    static long step(long x, int i) {
        return x * 31 + i;
    }

    static final class Plain {
        static long loop(int calls) {
            long x = calls;
            for (int i = 0; i < calls; i++) {
                x = step(x, i);
            }
            return x;
        }

        private static long step(long x, int i) {
            return x * 31 + i;
        }
    }

    static final class Busy implements Runnable {
        static volatile long count;

        public void run() {
            while (true) {
                count++;
            }
        }
    }
}
