/** What an allocation costs: ns each of several kinds, in the last rounds of several threads. Arguments: threads, rounds, objects a round. */
public final class HeapCost {
    private static volatile Object sink;

    private static final class Small {
        int a;
        int b;
    }

    private static final class Deep extends Middle {
        long c;
    }

    private static class Middle {
        long d;
    }

    /** Keeps every hundredth, and lets each escape. */
    private static Object[] kept(int n) {
        return new Object[n / 100 + 1];
    }

    private static Object small(int n) {
        Object[] kept = kept(n);
        for (int i = 0; i < n; i++) {
            kept[i % kept.length] = new Small();
        }
        return kept;
    }

    private static Object mixed(int n) {
        Object[] kept = kept(n);
        for (int i = 0; i < n; i += 4) {
            kept[i % kept.length] = new Small();
            kept[(i + 1) % kept.length] = new Deep();
            kept[(i + 2) % kept.length] = new Object();
            kept[(i + 3) % kept.length] = new StringBuilder();
        }
        return kept;
    }

    private static Object arrays(int n) {
        Object[] kept = kept(n);
        for (int i = 0; i < n; i++) {
            kept[i % kept.length] = new int[4];
        }
        return kept;
    }

    public static void main(String[] args) throws Exception {
        final int rounds = Integer.parseInt(args[1]);
        final int n = Integer.parseInt(args[2]);
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        final double[][] best = new double[threads.length][3];
        for (int t = 0; t < threads.length; t++) {
            final double[] mine = best[t];
            threads[t] = new Thread() {
                @Override
                public void run() {
                    java.util.Arrays.fill(mine, Double.MAX_VALUE);
                    for (int round = 0; round < rounds; round++) {
                        for (int kind = 0; kind < 3; kind++) {
                            long start = System.nanoTime();
                            sink = kind == 0 ? small(n) : kind == 1 ? mixed(n) : arrays(n);
                            mine[kind] = Math.min(mine[kind], (double) (System.nanoTime() - start) / n);
                        }
                    }
                }
            };
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (double[] mine : best) {
            System.out.printf(java.util.Locale.ROOT, "small %.2f  mixed %.2f  arrays %.2f%n", mine[0], mine[1], mine[2]);
        }
    }
}
