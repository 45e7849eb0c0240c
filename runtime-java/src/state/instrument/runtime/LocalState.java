package instrument.runtime;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Each thread's state. Where the constructor of java.lang.Object has a probe, the first look-up of a thread, which makes its map
 * of thread locals, comes here again for every object that it makes. So a thread is announced before that, in a place that
 * needs nothing made; what it makes until it has arrived is not recorded. There is no lock on the way: a virtual thread that waited for one would let others
 * run, and thousands of them would be on their way at once.
 *
 * <p>Carrier threads, and threads that resume virtual ones, are not recorded by themselves. They must not wait for a lock that a virtual thread
 * is to get next: nobody else lets that run.
 */
final class LocalState extends ThreadLocal<Object> {
    /** What threads get that are on their way: it is OFF. Null until the settings are read. */
    static volatile ThreadState nowhere;

    private static final Class<?> CARRIER = carrier();

    /** Most of all threads that can be on their way at once, since there are not so many processors: another one waits. A power of two. */
    private static final int PLACES = 64;

    /** Threads on their way, and how many. No atomic references: they need java.lang.invoke, which is not there yet when the first threads of a rewritten JDK begin. */
    private final Place[] arriving = new Place[PLACES];
    private final AtomicInteger count = new AtomicInteger();

    LocalState() {
        for (int i = 0; i < PLACES; i++) {
            arriving[i] = new Place();
        }
    }

    /** The state of the current thread; null: the settings are not read. */
    ThreadState of(Thread thread) {
        if (thread.getClass() == CARRIER) {
            return nowhere;
        }
        if (count.get() != 0 && isArriving(thread)) {
            return nowhere;
        }
        try {
            return state();
        } finally {
            if (count.get() != 0) {
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
            ThreadState state = state();
            if (state == null || state.isOld()) {
                state = Recorder.get().stateOf(thread);
                put(state);
            }
            return state;
        } finally {
            arrived(thread);
        }
    }

    /** The state of the current thread, if it has one. */
    ThreadState state() {
        return (ThreadState) Copy.of(get());
    }

    /** Gives the current thread a state. */
    void put(ThreadState state) {
        set(held(state));
    }

    private static Object held(ThreadState state) {
        return state == null ? null : Copy.held(state, state.thread);
    }

    @Override
    protected Object initialValue() {
        Thread thread = Thread.currentThread();
        announce(thread);
        return Recording.settings == null ? null : held(Recorder.get().stateOf(thread));
    }

    /** Null: this Java has no virtual threads, or a security manager does not let us ask. */
    private static Class<?> carrier() {
        try {
            return Class.forName("jdk.internal.misc.CarrierThread", false, null);
        } catch (Exception e) {
            return null;
        }
    }

    /** Whether this thread of the JDK resumes virtual threads that slept, or waited for a monitor (JEP 491). */
    static boolean resumesVirtual(Thread thread) {
        String name = thread.getName();
        if (CARRIER == null || name == null) {
            return false;
        }
        String type = thread.getClass().getName();
        return type.equals("jdk.internal.misc.InnocuousThread") && name.startsWith("VirtualThread-")
            || type.equals("java.util.concurrent.DelayScheduler");
    }

    /** By the names of classes: Java 8 knows no virtual threads. */
    static boolean isVirtual(Thread thread) {
        for (Class<?> type = thread.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals("java.lang.BaseVirtualThread")) {
                return true;
            }
        }
        return false;
    }

    private boolean isArriving(Thread thread) {
        for (Place place : arriving) {
            if (place.thread == thread) {
                return true;
            }
        }
        return false;
    }

    /** False: it is announced already. */
    private boolean announce(Thread thread) {
        if (count.get() != 0 && isArriving(thread)) {
            return false;
        }
        count.incrementAndGet();
        for (int i = System.identityHashCode(thread);; i++) {
            Place place = arriving[i & PLACES - 1];
            if (place.taken.compareAndSet(0, 1)) {
                place.thread = thread;
                return true;
            }
        }
    }

    private void arrived(Thread thread) {
        for (Place place : arriving) {
            if (place.thread == thread) {
                place.thread = null;
                place.taken.set(0);
                count.decrementAndGet();
                return;
            }
        }
    }

    /** Of a thread on its way. */
    private static final class Place {
        final AtomicInteger taken = new AtomicInteger();
        volatile Thread thread;

        Place() {}
    }
}
