/** Threads that are stopped in the middle of what they do, probes included. Usage: Stopped THREADS. */
public class Stopped {
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
            worker.join();
        }
        System.out.println("done");
    }
}
