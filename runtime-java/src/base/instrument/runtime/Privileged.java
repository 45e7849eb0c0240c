package instrument.runtime;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Does what needs permissions with those of the runtime alone: below it on the stack there may be code of the program that
 * has fewer. Loads what a security manager needs only if there is one, for it is about to leave the JDK.
 */
final class Privileged {
    private Privileged() {}

    static void run(Runnable task) {
        if (!managed()) {
            task.run();
        } else {
            Managed.run(task);
        }
    }

    /** Whether there is a security manager. */
    static boolean managed() {
        try {
            return System.getSecurityManager() != null;
        } catch (LinkageError e) {
            return false;
        }
    }

    /** A system property; null: there is none, or it is not to be known. */
    static String property(String key) {
        try {
            return System.getProperty(key);
        } catch (SecurityException e) {
            return null;
        }
    }

    /** The parent of a group; null: it has none, or a security manager, which may be the program's own, would be asked. */
    static ThreadGroup parent(ThreadGroup group) {
        return managed() ? null : group.getParent();
    }

    private static final class Managed {
        static void run(final Runnable task) {
            AccessController.doPrivileged(new PrivilegedAction<Void>() {
                @Override
                public Void run() {
                    task.run();
                    return null;
                }
            });
        }
    }
}
