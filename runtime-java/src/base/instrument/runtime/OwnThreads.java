package instrument.runtime;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** The threads of the recorder itself. */
final class OwnThreads {
    /** Never changed, but replaced: whoever reads it takes no lock. */
    private static volatile List<WeakReference<Thread>> own = new ArrayList<WeakReference<Thread>>();

    /**
     * Not by reflection: after 15 calls of a constructor the JDK initialises classes of its own. In a thread that is stopped meanwhile that
     * fails, and nobody in the program can use them from then on.
     */
    private static final Maker MAKER = maker();

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
            return MAKER.make(task);
        } catch (NoSuchMethodError e) {
            // Java 8.
            return new Maker().make(task);
        }
    }

    private static Maker maker() {
        try {
            return (Maker) Class.forName("instrument.runtime.LaterThreads").newInstance();
        } catch (ReflectiveOperationException e) {
            return new Maker();
        }
    }

    /** Makes threads as Java 8 can. */
    static class Maker {
        Thread make(Runnable task) {
            return new Thread(null, task, "instrument");
        }
    }
}
