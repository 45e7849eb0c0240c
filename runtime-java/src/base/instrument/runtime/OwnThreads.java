package instrument.runtime;

import java.lang.ref.WeakReference;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;

/** The threads of the recorder itself. */
final class OwnThreads {
    /** Never changed, but replaced: whoever reads it takes no lock. */
    private static volatile List<WeakReference<Thread>> own = new ArrayList<WeakReference<Thread>>();

    private OwnThreads() {}

    /** Whether a thread is one of our own. */
    static boolean isOwn(Thread thread) {
        for (WeakReference<Thread> one : own) {
            if (one.get() == thread) {
                return true;
            }
        }
        return false;
    }

    private static synchronized Thread own(Thread thread) {
        List<WeakReference<Thread>> more = new ArrayList<WeakReference<Thread>>();
        for (WeakReference<Thread> one : own) {
            if (one.get() != null) {
                more.add(one);
            }
        }
        more.add(new WeakReference<Thread>(thread));
        own = more;
        return thread;
    }

    /** A thread of our own. Newer virtual machines have a constructor that runs no code of inheritable thread locals. */
    static Thread thread(Runnable task) {
        return own(newThread(task));
    }

    private static Thread newThread(Runnable task) {
        try {
            Constructor<Thread> plain = Thread.class.getConstructor(
                ThreadGroup.class, Runnable.class, String.class, long.class, boolean.class);
            return plain.newInstance(null, task, "instrument", Long.valueOf(0), Boolean.FALSE);
        } catch (InvocationTargetException e) {
            if (ThreadStop.is(e.getCause())) {
                throw (Error) e.getCause();
            }
        } catch (Exception e) {
            // Java 8.
        }
        return new Thread(null, task, "instrument");
    }
}
