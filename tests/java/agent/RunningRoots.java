import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.SynchronousQueue;

/** Roots that run when somebody attaches. Reads what to do from standard input, in a loop that is never left while there is more. */
public class RunningRoots {
    static int sink;

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("turns")) {
            Thread turns = new Thread(Turns::run, "turns");
            turns.setDaemon(true);
            turns.start();
        } else if (args.length > 0) {
            Thread virtual = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Worker::run);
            if (virtual == null) {
                throw new AssertionError();
            }
        } else {
            Thread worker = new Thread(Worker::run, "worker");
            worker.setDaemon(true);
            worker.start();
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        loop(lines);
        System.out.println("end");
    }

    /** A main loop. */
    static void loop(BufferedReader lines) throws Exception {
        for (String line; (line = lines.readLine()) != null;) {
            String[] words = line.split(" ");
            int count = words.length > 1 ? Integer.parseInt(words[1]) : 0;
            switch (words[0]) {
                case "step":
                    for (int i = 0; i < count; i++) {
                        step(i);
                    }
                    break;
                case "fail":
                    for (int i = 0; i < count; i++) {
                        try {
                            fail(i);
                        } catch (IllegalStateException e) {
                            sink++;
                        }
                    }
                    break;
                case "make":
                    for (int i = 0; i < count; i++) {
                        sink += new Made(i).value;
                    }
                    break;
                // The same method once more, above itself.
                case "in":
                    System.out.println(line);
                    loop(lines);
                    line = "out";
                    break;
                case "out":
                    return;
                // A method that is no root, which goes on to read.
                case "dive":
                    System.out.println(line);
                    dive(lines);
                    line = "rise";
                    break;
                case "rise":
                    throw new ArithmeticException();
                // The other thread.
                default:
                    Worker.TASKS.put(line);
                    Worker.DONE.take();
            }
            System.out.println(line);
        }
    }

    /** Its frame is left by the exception that the loop throws. */
    static void dive(BufferedReader lines) throws Exception {
        try {
            loop(lines);
        } catch (ArithmeticException e) {
            leaf();
        }
    }

    static void step(int i) {
        if (i % 2 == 0) {
            leaf();
        }
    }

    static void leaf() {
        sink++;
    }

    static void fail(int i) {
        leaf();
        throw new IllegalStateException();
    }

    static class Made {
        final int value;

        Made(int value) {
            this.value = value;
            leaf();
        }
    }

    /** A root that is called again and again, so that it returns and is called anew while its class is rewritten. */
    static class Turns {
        static void run() {
            for (;;) {
                turn();
            }
        }

        static void turn() {
            for (int i = 0; i < 50; i++) {
                leaf();
            }
        }
    }

    /** The other thread. */
    static class Worker {
        static final SynchronousQueue<String> TASKS = new SynchronousQueue<>();
        static final SynchronousQueue<String> DONE = new SynchronousQueue<>();

        static void run() {
            try {
                for (;;) {
                    serve();
                    DONE.put("");
                    outside();
                    DONE.put("");
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        /** Takes tasks until it is told to leave. */
        static void serve() throws InterruptedException {
            for (;;) {
                String[] words = TASKS.take().split(" ");
                if (words[0].equals("leave")) {
                    sink++;
                    return;
                }
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    step(i);
                }
                DONE.put("");
            }
        }

        /** No root. Takes one task. */
        static void outside() throws InterruptedException {
            String[] words = TASKS.take().split(" ");
            for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                step(i);
            }
        }
    }
}
