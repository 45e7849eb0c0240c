package instrument.runtime;

/** What was on a thread's stack, on its way to a number in {@link Contexts}. */
final class Chain {
    /** Of the tree, if there is one. */
    final int node;
    /** From the outermost on: id + 1 of the method, or {@link Format#DEEPER}. Null: the number is known. */
    private volatile int[] consumers;
    private int context;

    Chain(int node, int[] consumers) {
        this.node = node;
        this.consumers = consumers;
    }

    Chain(int node, int context) {
        this.node = node;
        this.context = context;
    }

    /** The number; whoever calls has no monitor. */
    int context() {
        int[] unknown = consumers;
        if (unknown != null) {
            int number = 0;
            for (int consumer : unknown) {
                number = Contexts.of(number, consumer);
            }
            context = number;
            consumers = null;
        }
        return context;
    }

    boolean isKnown() {
        return consumers == null;
    }
}
