import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/** Two subgraphs that have one class in common; runs the one or the other as lines say. All classes are loaded at the start. */
public class TwoRoots {
    static class Left {
        static int run(int n, boolean holds) throws Exception {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                sum += OnlyLeft.step(i);
            }
            try {
                sum += OnlyLeft.fail(n);
            } catch (IllegalStateException e) {
                sum++;
            }
            if (holds) {
                OnlyLeft.hold();
                sum += OnlyLeft.step(n);
            }
            return sum + Shared.both(n);
        }
    }

    static class OnlyLeft {
        static int step(int n) {
            return deep(n) + 1;
        }

        static int deep(int n) {
            return Deepest.last(n) + 1;
        }

        static int fail(int n) {
            throw new IllegalStateException("" + n);
        }

        static void hold() throws InterruptedException {
            HELD.countDown();
            FREE.await();
        }
    }

    static class Deepest {
        static int last(int n) {
            return n;
        }
    }

    static class Right {
        static int run(int n) {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                sum += OnlyRight.step(i);
            }
            return sum + Shared.both(n);
        }
    }

    static class OnlyRight {
        static int step(int n) {
            return n + 2;
        }
    }

    static class Shared {
        static int both(int n) {
            return n;
        }
    }

    static final CountDownLatch HELD = new CountDownLatch(1);
    static final CountDownLatch FREE = new CountDownLatch(1);

    static void held(int n) {
        try {
            Left.run(n, true);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static void busy() {
        try {
            for (int i = 0;; i++) {
                Left.run(i % 9, false);
                Right.run(i % 9);
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Left.run(1, false);
        Right.run(1);
        for (int i = 0; args.length > 0 && i < Integer.parseInt(args[0]); i++) {
            Thread busy = new Thread(TwoRoots::busy);
            busy.setDaemon(true);
            busy.start();
        }
        System.out.println("ready");
        Thread thread = null;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            int n = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
            if (line.startsWith("left")) {
                Left.run(n, false);
            } else if (line.startsWith("right")) {
                Right.run(n);
            } else if (line.startsWith("hold")) {
                thread = new Thread(() -> held(n));
                thread.start();
                HELD.await();
            } else if (line.startsWith("free")) {
                FREE.countDown();
                thread.join();
            } else {
                System.gc();
            }
            System.out.println(line);
        }
        System.out.println("end");
    }
}
