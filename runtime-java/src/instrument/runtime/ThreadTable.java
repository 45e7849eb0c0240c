package instrument.runtime;

/**
 * The states of the threads that have regions, by the identity of their threads. A thread may lose its thread locals while it lives: those
 * of the JDK's cleaners and, since Java 19, of the common pool do after every task. It is still the same thread.
 */
final class ThreadTable {
    private ThreadState[] table = new ThreadState[64];
    private int count;

    /** The state of a thread; null: it has none. */
    ThreadState find(Thread thread) {
        ThreadState state = table[System.identityHashCode(thread) & table.length - 1];
        while (state != null && state.thread.get() != thread) {
            state = state.next;
        }
        return state;
    }

    void add(ThreadState state, Thread thread) {
        if (count == table.length) {
            grow();
        }
        state.hash = System.identityHashCode(thread);
        int at = state.hash & table.length - 1;
        state.next = table[at];
        table[at] = state;
        count++;
    }

    void remove(ThreadState state) {
        int at = state.hash & table.length - 1;
        ThreadState before = null;
        for (ThreadState other = table[at]; other != state; other = other.next) {
            if (other == null) {
                return;
            }
            before = other;
        }
        if (before == null) {
            table[at] = state.next;
        } else {
            before.next = state.next;
        }
        count--;
    }

    private void grow() {
        ThreadState[] larger = new ThreadState[2 * table.length];
        for (ThreadState first : table) {
            for (ThreadState state = first; state != null;) {
                ThreadState next = state.next;
                int at = state.hash & larger.length - 1;
                state.next = larger[at];
                larger[at] = state;
                state = next;
            }
        }
        table = larger;
    }
}
