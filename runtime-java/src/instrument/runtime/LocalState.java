package instrument.runtime;

import java.util.Arrays;

/**
 * Each thread's state. Where the constructor of java.lang.Object has a probe, the first look-up of a thread, which makes its map
 * of thread locals, comes here again for every object that it makes. So a thread is announced before that, in a list that
 * needs nothing made; what it makes until it has arrived is not recorded.
 *
 * <p>Threads that carry virtual threads are not recorded by themselves. They must not wait for a lock that a virtual thread is to get
 * next: nobody else lets that run.
 */
final class LocalState extends ThreadLocal<ThreadState> {
    /** What threads get that are on their way: it is OFF. Null until the settings are read. */
    static volatile ThreadState nowhere;

    private static final Class<?> CARRIER = carrier();

    /** Threads on their way, and how many. Any thread may read the number: it sees its own. */
    private Thread[] arriving = new Thread[64];
    private int count;

    LocalState() {}

    /** The state of the current thread; null: the settings are not read. */
    ThreadState of(Thread thread) {
        if (thread.getClass() == CARRIER) {
            return nowhere;
        }
        if (count != 0 && isArriving(thread)) {
            return nowhere;
        }
        try {
            return get();
        } finally {
            if (count != 0) {
                arrived(thread);
            }
        }
    }

    /** The state of the current thread, which has none yet, the settings being read. */
    ThreadState make(Thread thread) {
        if (thread.getClass() == CARRIER || !announce(thread)) {
            return nowhere;
        }
        try {
            ThreadState state = get();
            if (state == null || state.isOld()) {
                state = Threads.stateOf(thread);
                set(state);
            }
            return state;
        } finally {
            arrived(thread);
        }
    }

    @Override
    protected ThreadState initialValue() {
        Thread thread = Thread.currentThread();
        announce(thread);
        return Threads.settings == null ? null : Threads.stateOf(thread);
    }

    /** Null: this Java has no virtual threads, or a security manager does not let us ask. */
    private static Class<?> carrier() {
        try {
            return Class.forName("jdk.internal.misc.CarrierThread", false, null);
        } catch (Exception e) {
            return null;
        }
    }

    private synchronized boolean isArriving(Thread thread) {
        for (int i = 0; i < count; i++) {
            if (arriving[i] == thread) {
                return true;
            }
        }
        return false;
    }

    /** False: it is announced already. */
    private synchronized boolean announce(Thread thread) {
        if (isArriving(thread)) {
            return false;
        }
        if (count + 1 == arriving.length) {
            // There is room for this one while the array is made.
            arriving[count++] = thread;
            arriving = Arrays.copyOf(arriving, 2 * arriving.length);
            return true;
        }
        arriving[count++] = thread;
        return true;
    }

    private synchronized void arrived(Thread thread) {
        for (int i = 0; i < count; i++) {
            if (arriving[i] == thread) {
                arriving[i] = arriving[--count];
                arriving[count] = null;
                return;
            }
        }
    }
}
