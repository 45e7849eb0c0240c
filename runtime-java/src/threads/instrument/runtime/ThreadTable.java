package instrument.runtime;

/**
 * The states of the threads that have regions, by the identity of their threads. A thread may lose its thread locals while it lives: those
 * of the JDK's cleaners and, since Java 19, of the common pool do after every task. It is still the same thread.
 *
 * <p>Changed under the lock of {@link Threads}. Whoever looks needs none: each new thread does, and a virtual thread that waits lets others begin, which
 * then wait as well.
 */
final class ThreadTable {
    /**
     * So often a platform thread repeats a look that met a change; then it is left to the lock, since Thread.stop may have left a change half done. A virtual
     * thread may not wait for it, and Java has had no Thread.stop since there are virtual threads.
     */
    private static final int TRIES = 100;

    private volatile Bucket[] table = chains(64);
    private int count;
    /** Odd while something is changed, or where Thread.stop has ended a change. */
    private volatile int changes;

    /** The state of a thread; null: it has none, where the lock is held. */
    ThreadState find(Thread thread) {
        Bucket[] table = this.table;
        ThreadState state = table[System.identityHashCode(thread) & table.length - 1].first;
        while (state != null && state.thread.get() != thread) {
            state = state.next;
        }
        return state;
    }

    /** Whether the current thread has no state; false also if this could not be seen without the lock. */
    boolean lacks(Thread thread) {
        for (int i = 0; i < TRIES || LocalState.isVirtual(thread); i++) {
            int before = changes;
            if (find(thread) != null) {
                return false;
            }
            if ((before & 1) == 0 && changes == before) {
                return true;
            }
        }
        return false;
    }

    void add(ThreadState state, Thread thread) {
        changes |= 1;
        if (count == table.length) {
            grow();
        }
        state.hash = System.identityHashCode(thread);
        Bucket chain = table[state.hash & table.length - 1];
        state.next = chain.first;
        chain.first = state;
        count++;
        changes = (changes | 1) + 1;
    }

    void remove(ThreadState state) {
        Bucket chain = table[state.hash & table.length - 1];
        ThreadState before = null;
        for (ThreadState other = chain.first; other != state; other = other.next) {
            if (other == null) {
                return;
            }
            before = other;
        }
        changes |= 1;
        if (before == null) {
            chain.first = state.next;
        } else {
            before.next = state.next;
        }
        count--;
        changes = (changes | 1) + 1;
    }

    private void grow() {
        Bucket[] larger = chains(2 * table.length);
        for (Bucket chain : table) {
            for (ThreadState state = chain.first; state != null;) {
                ThreadState next = state.next;
                Bucket other = larger[state.hash & larger.length - 1];
                state.next = other.first;
                other.first = state;
                state = next;
            }
        }
        table = larger;
    }

    private static Bucket[] chains(int count) {
        Bucket[] chains = new Bucket[count];
        for (int i = 0; i < count; i++) {
            chains[i] = new Bucket();
        }
        return chains;
    }

    /** The states whose hashes end alike, by {@link ThreadState#next}. An object, since elements of arrays cannot be volatile. */
    private static final class Bucket {
        volatile ThreadState first;

        Bucket() {}
    }
}
