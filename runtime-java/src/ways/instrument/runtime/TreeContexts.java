package instrument.runtime;

/** The numbers in {@link Contexts} of a tree's nodes, where somebody asked for them. Links have none: they are no calls. */
final class TreeContexts {
    private final TreeNodes nodes;
    /** By node, 0 where nobody asked. */
    private final IntTable numbers = new IntTable();

    TreeContexts(TreeNodes nodes) {
        this.nodes = nodes;
    }

    int of(int node) {
        int context = numbers.get(node);
        return context != 0 ? context : make(node);
    }

    void put(int node, int context) {
        numbers.put(node, context);
    }

    /** From the nearest caller that has a number down again. */
    private int make(int node) {
        int unknown = 0;
        int at = node;
        for (; at != 0 && numbers.get(at) == 0; at = nodes.callerOf(at)) {
            unknown++;
        }
        int context = numbers.get(at);
        int[] path = new int[unknown];
        for (at = node; unknown > 0; at = nodes.callerOf(at)) {
            path[--unknown] = at;
        }
        for (int below : path) {
            if (!nodes.isLink(below)) {
                context = Contexts.of(context, nodes.consumerOf(below));
            }
            numbers.put(below, context);
        }
        return context;
    }

    /** The same for somebody who has a monitor, and must not wait for the one of {@link Contexts}. */
    Chain chain(int node) {
        int known = numbers.get(node);
        if (known != 0) {
            return new Chain(node, known);
        }
        int length = 0;
        for (int at = node; at != 0; at = nodes.callerOf(at)) {
            length += nodes.isLink(at) ? 0 : 1;
        }
        int[] consumers = new int[length];
        for (int at = node; at != 0; at = nodes.callerOf(at)) {
            if (!nodes.isLink(at)) {
                consumers[--length] = nodes.consumerOf(at);
            }
        }
        return new Chain(node, consumers);
    }
}
