package instrument.runtime;

import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * The thread and the shutdown hook of all copies of the recorder whose class loaders a program may let go of, see {@link Copy}. It is loaded once in
 * each virtual machine, by a loader of its own, which refers to none of those; {@link Keepers} finds it. It knows the copies weakly, and
 * only by interfaces of the JDK: what a copy has to do goes with the copy. So it uses no other class of the recorder.
 */
public final class Keeper implements Runnable {
    /** ns. */
    private static final long MS = 1000000;

    // Guarded by the class: tasks, and for each of them when it is due.
    private static final ArrayList<WeakReference<LongSupplier>> TASKS = new ArrayList<WeakReference<LongSupplier>>();
    private static final ArrayList<Long> DUE = new ArrayList<Long>();
    private static final ArrayList<WeakReference<IntConsumer>> AT_END = new ArrayList<WeakReference<IntConsumer>>();
    /** Whether the copies of those have ended. */
    private static final ArrayList<AtomicBoolean> ENDED = new ArrayList<AtomicBoolean>();
    /** ms to wait at the end for copies that have been collected, and are about to end. */
    private static final int TO_END = 1000;

    private final boolean isHook;

    private Keeper(boolean isHook) {
        this.isHook = isHook;
    }

    /** Begins. */
    public static void start() {
        Thread hook = thread(new Maker(new Keeper(true)));
        Thread thread = thread(new Maker(new Keeper(false)));
        thread.setDaemon(true);
        Runtime.getRuntime().addShutdownHook(hook);
        thread.start();
    }

    /** Made in the name of nobody: a thread refers to the code on whose behalf it was made, and that of a copy calls this. */
    private static Thread thread(Maker maker) {
        Thread thread;
        try {
            thread = AccessController.doPrivileged(maker);
        } catch (LinkageError e) {
            thread = maker.run();
        }
        // By this the copies find the one that there is.
        thread.setContextClassLoader(Keeper.class.getClassLoader());
        return thread;
    }

    /** Calls a task so many ns from now, and again as many ns later as it says; below 0: it is over. */
    public static void later(LongSupplier task, long ns) {
        synchronized (Keeper.class) {
            TASKS.add(new WeakReference<LongSupplier>(task));
            DUE.add(System.nanoTime() + ns);
            Keeper.class.notifyAll();
        }
    }

    /** Calls a task when the virtual machine ends, with the number of tasks that were called before, unless its copy has gone and has {@code ended}. */
    public static void atEnd(IntConsumer task, AtomicBoolean ended) {
        synchronized (Keeper.class) {
            for (int i = AT_END.size() - 1; i >= 0; i--) {
                if (ENDED.get(i).get()) {
                    AT_END.remove(i);
                    ENDED.remove(i);
                }
            }
            AT_END.add(new WeakReference<IntConsumer>(task));
            ENDED.add(ended);
        }
    }

    @Override
    public void run() {
        if (isHook) {
            end();
            return;
        }
        while (true) {
            try {
                step();
            } catch (InterruptedException e) {
                // Not for us: the thread is nobody's.
            }
        }
    }

    private static void end() {
        ArrayList<WeakReference<IntConsumer>> tasks;
        ArrayList<AtomicBoolean> ended;
        synchronized (Keeper.class) {
            tasks = new ArrayList<WeakReference<IntConsumer>>(AT_END);
            ended = new ArrayList<AtomicBoolean>(ENDED);
        }
        int called = 0;
        for (int i = 0; i < tasks.size(); i++) {
            IntConsumer task = tasks.get(i).get();
            try {
                if (task != null) {
                    ended.get(i).set(true);
                    task.accept(called++);
                }
            } catch (Throwable e) {
                // The other copies have their own ends.
            }
        }
        try {
            for (int ms = 0; ms < TO_END && !areOver(ended); ms++) {
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            // Somebody does not want to wait.
        }
    }

    private static boolean areOver(ArrayList<AtomicBoolean> ended) {
        boolean all = true;
        for (AtomicBoolean one : ended) {
            all &= one.get();
        }
        return all;
    }

    /** Waits for a task, and calls it. Nothing of it is on the stack while others are waited for. */
    private static void step() throws InterruptedException {
        WeakReference<LongSupplier> next = next();
        LongSupplier task = next.get();
        long again = -1;
        try {
            again = task == null ? -1 : task.getAsLong();
        } catch (Throwable e) {
            // It is over.
        }
        synchronized (Keeper.class) {
            int at = TASKS.indexOf(next);
            if (again < 0) {
                TASKS.remove(at);
                DUE.remove(at);
            } else {
                DUE.set(at, System.nanoTime() + again);
            }
        }
    }

    private static WeakReference<LongSupplier> next() throws InterruptedException {
        synchronized (Keeper.class) {
            while (true) {
                int first = -1;
                for (int i = TASKS.size() - 1; i >= 0; i--) {
                    if (first < 0 || DUE.get(i) - DUE.get(first) < 0) {
                        first = i;
                    }
                }
                long left = first < 0 ? 0 : DUE.get(first) - System.nanoTime();
                if (first < 0) {
                    Keeper.class.wait();
                } else if (left > 0) {
                    Keeper.class.wait(left / MS, (int) (left % MS));
                } else {
                    return TASKS.get(first);
                }
            }
        }
    }

    /** Makes a thread. */
    private static final class Maker implements PrivilegedAction<Thread> {
        private final Runnable task;

        Maker(Runnable task) {
            this.task = task;
        }

        @Override
        public Thread run() {
            ThreadGroup root = Thread.currentThread().getThreadGroup();
            while (root.getParent() != null) {
                root = root.getParent();
            }
            try {
                // Newer virtual machines have a constructor that takes over no inheritable thread locals.
                Constructor<Thread> plain = Thread.class.getConstructor(
                    ThreadGroup.class, Runnable.class, String.class, long.class, boolean.class);
                return plain.newInstance(root, task, "instrument", Long.valueOf(0), Boolean.FALSE);
            } catch (ReflectiveOperationException e) {
                return new Thread(root, task, "instrument");
            }
        }
    }
}
