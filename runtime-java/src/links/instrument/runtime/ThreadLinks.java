package instrument.runtime;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * Who started which thread. A thread that is about to be started is remembered with the link from the context that does
 * it, until its first event fetches the link. If several calls of {@code start()} announce it, the last one counts.
 */
public final class ThreadLinks {
    /** Threads that wait for their first event: more are not remembered. */
    private static final int MOST = 1 << 16;
    private static final Object LOCK = new Object();
    private static final ReferenceQueue<Thread> GONE = new ReferenceQueue<Thread>();
    private static Waiting[] table = new Waiting[64];
    private static int count;

    private ThreadLinks() {}

    /** {@code start()} is about to be called on an object, which may be null or no thread. */
    public static void starting(Object object) {
        if (!(object instanceof Thread)) {
            return;
        }
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            if (state != null && state.javaThread != 0) {
                startedBy((Thread) object, state);
            }
            if (state != null) {
                int link = LinkFrames.make(state, Links.START);
                if (link != 0) {
                    remember((Thread) object, link, state);
                }
            }
        } catch (StackOverflowError e) {
            // The thread starts without a link, if it does.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** A thread that waits. It may be collected before it has an event, or never have one. */
    private static final class Waiting extends WeakReference<Thread> {
        final int hash;
        /** 0: none. */
        int link;
        /** Number of the thread that starts it, see {@link JavaThreads}; 0: unknown. */
        int starter;
        Waiting next;

        Waiting(Thread thread, int hash, Waiting next) {
            super(thread, GONE);
            this.hash = hash;
            this.next = next;
        }
    }

    /** Remembers the link of a thread. */
    private static void remember(Thread thread, int link, ThreadState state) {
        int mode = state.mode;
        // Of a thread that runs already, start() will fail.
        if (mode != state.live || thread.isAlive()) {
            return;
        }
        state.mode = ThreadState.BUSY;
        try {
            if (Recording.settings.record == Settings.TREE) {
                Links.use(link);
            }
            synchronized (LOCK) {
                Waiting known = add(thread);
                if (known == null) {
                    release(link);
                } else {
                    release(known.link);
                    known.link = link;
                }
            }
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = mode;
            }
        }
    }

    /** Remembers who starts a thread. */
    private static void startedBy(Thread thread, ThreadState state) {
        int mode = state.mode;
        if (mode == ThreadState.BUSY || thread.isAlive()) {
            return;
        }
        state.mode = ThreadState.BUSY;
        try {
            synchronized (LOCK) {
                Waiting known = add(thread);
                if (known != null) {
                    known.starter = state.javaThread;
                }
            }
        } finally {
            state.mode = mode;
        }
    }

    /** The number of the thread that started this one, which begins; 0: unknown. */
    static int starter(Thread thread) {
        synchronized (LOCK) {
            Waiting known = count == 0 ? null : find(thread, System.identityHashCode(thread));
            if (known == null) {
                return 0;
            }
            if (known.link == 0) {
                remove(known);
            }
            return known.starter;
        }
    }

    /** The place of a thread; null: there is no room. */
    private static Waiting add(Thread thread) {
        forgetGone();
        int hash = System.identityHashCode(thread);
        Waiting known = find(thread, hash);
        if (known != null || count == MOST) {
            return known;
        }
        if (count == table.length) {
            grow();
        }
        int at = hash & table.length - 1;
        table[at] = new Waiting(thread, hash, table[at]);
        count++;
        Gate.count(1);
        return table[at];
    }

    /** The link of a thread, which has its first event; 0: there is none. */
    static int fetch(Thread thread) {
        synchronized (LOCK) {
            Waiting known = count == 0 ? null : find(thread, System.identityHashCode(thread));
            if (known == null) {
                return 0;
            }
            remove(known);
            return known.link;
        }
    }

    /** Whether {@link #fetch} would find a link. */
    static boolean isLinked(Thread thread) {
        synchronized (LOCK) {
            Waiting known = count == 0 ? null : find(thread, System.identityHashCode(thread));
            return known != null && known.link != 0;
        }
    }

    /** Another recording begins: the links were those of the last one. */
    static void renew() {
        synchronized (LOCK) {
            table = new Waiting[64];
            count = 0;
            while (GONE.poll() != null) {
                // It waits no more.
            }
        }
    }

    private static Waiting find(Thread thread, int hash) {
        Waiting waiting = table[hash & table.length - 1];
        while (waiting != null && waiting.get() != thread) {
            waiting = waiting.next;
        }
        return waiting;
    }

    private static void forgetGone() {
        for (Reference<? extends Thread> gone; (gone = GONE.poll()) != null;) {
            if (remove((Waiting) gone)) {
                release(((Waiting) gone).link);
            }
        }
    }

    private static void release(int link) {
        if (link != 0 && Recording.settings.record == Settings.TREE) {
            Links.disuse(link);
        }
    }

    private static boolean remove(Waiting which) {
        int at = which.hash & table.length - 1;
        Waiting before = null;
        for (Waiting waiting = table[at]; waiting != null; before = waiting, waiting = waiting.next) {
            if (waiting == which) {
                if (before == null) {
                    table[at] = waiting.next;
                } else {
                    before.next = waiting.next;
                }
                count--;
                Gate.count(-1);
                return true;
            }
        }
        return false;
    }

    private static void grow() {
        Waiting[] larger = new Waiting[2 * table.length];
        for (Waiting first : table) {
            for (Waiting waiting = first; waiting != null;) {
                Waiting next = waiting.next;
                int at = waiting.hash & larger.length - 1;
                waiting.next = larger[at];
                larger[at] = waiting;
                waiting = next;
            }
        }
        table = larger;
    }
}
