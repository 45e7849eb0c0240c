package instrument.runtime;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedList;
import java.util.TimerTask;
import java.util.concurrent.ForkJoinTask;

/**
 * Tasks that nothing can stand for: those of fork and join, and of timers. Whoever runs them knows the objects themselves, so they are given as they
 * are. Each is remembered with the link from the context that gave it, until its own method begins. If several calls give one, the last counts.
 *
 * <p>Nothing is kept alive. More than so many tasks that wait are not remembered: they run without a link.
 */
public final class TaskLinks {
    /** Parts of the table, each with a lock of its own, and the most tasks in each. */
    private static final int PARTS = 64;
    private static final int MOST = 1 << 10;
    private static final Part[] TABLE = new Part[PARTS];
    /** That it was full was said. */
    private static volatile boolean isFull;
    /** The class of what Arrays.asList gives. */
    private static final Class<?> LIST_OF_ARRAY = Arrays.asList().getClass();

    static {
        for (int i = 0; i < PARTS; i++) {
            TABLE[i] = new Part();
        }
    }

    private TaskLinks() {}

    // ---- what gives a task ----

    /** A task, an array or a collection of tasks is about to be given; it may be null, or something else. */
    public static void given(Object given) {
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            if (state == null || state.mode != state.live) {
                return;
            }
            if (isTask(given)) {
                give(state, given);
            } else if (LinkFrames.canMake(state)) {
                Object[] tasks = tasksOf(state, given);
                for (int i = 0; tasks != null && i < tasks.length; i++) {
                    if (isTask(tasks[i])) {
                        give(state, tasks[i]);
                    }
                }
            }
        } catch (StackOverflowError e) {
            // The task runs without a link, if it does.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    private static boolean isTask(Object object) {
        return object instanceof ForkJoinTask || object instanceof TimerTask;
    }

    private static void give(ThreadState state, Object task) {
        int link = LinkFrames.make(state, Links.HAND_OVER);
        if (state.mode != state.live) {
            return;
        }
        state.mode = ThreadState.BUSY;
        try {
            int hash = System.identityHashCode(task);
            if (link != 0) {
                part(hash).put(task, hash, link);
            } else {
                part(hash).get(task, hash, true);
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
    }

    /** The elements of an array, and of a collection whose every method is the JDK's; null: it is none. */
    private static Object[] tasksOf(ThreadState state, Object given) {
        if (given instanceof Object[]) {
            return (Object[]) given;
        }
        if (!(given instanceof Collection)) {
            return null;
        }
        Class<?> of = given.getClass();
        if (of != ArrayList.class && of != LinkedList.class && of != LIST_OF_ARRAY && !of.getName().startsWith("java.util.ImmutableCollections$List")) {
            return null;
        }
        state.mode = ThreadState.BUSY;
        try {
            return ((Collection<?>) given).toArray();
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
    }

    // ---- what runs one ----

    /** The first instruction of a method that may be that of a task. The number of the link whose frame is open now; 0: there is none. */
    public static int taskBegins(Object task) {
        boolean again = task instanceof TimerTask;
        if (!again && !(task instanceof ForkJoinTask)) {
            return 0;
        }
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            int link = again ? periodic(state, task) : find(state, task, true);
            return link != 0 && LinkedTask.enter(link) != null ? link : 0;
        } catch (StackOverflowError e) {
            return 0;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return 0;
        }
    }

    /** The end of such a method. */
    public static void taskEnds(int link) {
        if (link != 0) {
            ThreadState state = null;
            try {
                state = CurrentThread.fresh();
            } catch (StackOverflowError e) {
                // The frame stays open until one beneath it closes.
            }
            LinkedTask.leave(state, link);
        }
    }

    /** A timer runs a task any number of times, and nobody else does on its behalf. */
    private static int periodic(ThreadState state, Object task) {
        if (!Thread.currentThread().getClass().getName().equals("java.util.TimerThread")) {
            return 0;
        }
        int link = find(state, task, false);
        // The method of a superclass, called by that of the task.
        for (int i = state == null || link == 0 ? 0 : state.depth(); i > 0; i--) {
            if (state.isLink(state.frame(i - 1), link)) {
                return 0;
            }
        }
        return link;
    }

    private static int find(ThreadState state, Object task, boolean forget) {
        int hash = System.identityHashCode(task);
        Part part = part(hash);
        if (part.count == 0) {
            return 0;
        }
        boolean live = state != null && state.mode == state.live;
        if (live) {
            state.mode = ThreadState.BUSY;
        }
        try {
            return part.get(task, hash, forget);
        } finally {
            if (live && state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
    }

    // ---- the table ----

    private static Part part(int hash) {
        return TABLE[hash & PARTS - 1];
    }

    /** A task that waits. */
    private static final class Waiting extends WeakReference<Object> {
        final int hash;
        int link;
        Waiting next;

        Waiting(Object task, int hash, int link, Waiting next) {
            super(task);
            this.hash = hash;
            this.link = link;
            this.next = next;
        }
    }

    private static final class Part {
        private Waiting[] table = new Waiting[16];
        /** Whoever runs a task sees that there is one: it was given before. */
        private int count;

        synchronized void put(Object task, int hash, int link) {
            Waiting known = find(task, hash);
            if (known != null) {
                known.link = link;
            } else if (count < MOST) {
                if (count == table.length) {
                    grow();
                }
                int at = place(hash);
                table[at] = new Waiting(task, hash, link, table[at]);
                count++;
            } else if (!isFull) {
                isFull = true;
                Log.say("too many tasks of fork and join or of timers wait at once: some are recorded without their cause");
            }
        }

        synchronized int get(Object task, int hash, boolean forget) {
            Waiting known = find(task, hash);
            if (known == null) {
                return 0;
            }
            if (forget) {
                remove(known);
            }
            return known.link;
        }

        synchronized void clear() {
            table = new Waiting[16];
            count = 0;
        }

        private int place(int hash) {
            return hash / PARTS & table.length - 1;
        }

        /** The place of a task. Those on the way that are gone are removed. */
        private Waiting find(Object task, int hash) {
            for (Waiting waiting = table[place(hash)]; waiting != null; waiting = waiting.next) {
                Object known = waiting.get();
                if (known == task) {
                    return waiting;
                }
                if (known == null) {
                    remove(waiting);
                }
            }
            return null;
        }

        private void remove(Waiting which) {
            int at = place(which.hash);
            Waiting before = null;
            for (Waiting waiting = table[at]; waiting != which; waiting = waiting.next) {
                before = waiting;
            }
            if (before == null) {
                table[at] = which.next;
            } else {
                before.next = which.next;
            }
            count--;
        }

        private void grow() {
            Waiting[] old = table;
            table = new Waiting[2 * old.length];
            for (Waiting first : old) {
                for (Waiting waiting = first; waiting != null;) {
                    Waiting next = waiting.next;
                    int at = place(waiting.hash);
                    waiting.next = table[at];
                    table[at] = waiting;
                    waiting = next;
                }
            }
        }
    }

    /** Another recording begins: the links were those of the last one. */
    static void renew() {
        isFull = false;
        for (Part part : TABLE) {
            part.clear();
        }
    }
}
