/**
 * Threads that are stopped in the middle of what they do, probes included. Usage: Stopped THREADS. A virtual machine may lose what it is to throw
 * into a thread, about once in 2,000 times on Java 11 (it clears exceptions after some work of its own): such a thread is stopped again.
 */
public class Stopped {
    /** More than that is no accident. */
    private static final int MOST_LOST = 2;
    static volatile int sink;
    static volatile int calls;

    static int leaf(int x) {
        return x * 31 + 7;
    }

    static int middle(int x) {
        return leaf(leaf(x));
    }

    @SuppressWarnings({"deprecation", "removal"})
    public static void main(String[] args) throws Exception {
        int lost = 0;
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            Thread worker = new Thread() {
                @Override
                public void run() {
                    try {
                        while (true) {
                            sink = middle(sink);
                            calls++;
                        }
                    } catch (ThreadDeath e) {
                        // What was asked for.
                    }
                }
            };
            calls = 0;
            worker.start();
            while (calls < 10) {
                Thread.sleep(1);
            }
            worker.stop();
            worker.join(5000);
            while (worker.isAlive()) {
                lost++;
                worker.stop();
                worker.join(5000);
            }
        }
        System.out.println(lost <= MOST_LOST ? "done" : "ran on when stopped: " + lost);
    }
}
