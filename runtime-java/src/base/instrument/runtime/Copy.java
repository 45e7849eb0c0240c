package instrument.runtime;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * This copy of the recorder: there is one for each class loader that has loaded it. A program that reloads parts of itself, as an
 * application server, lets go of such loaders while it runs, and the copy must go with them. So nothing that lives on may refer to one of its
 * objects: neither a thread, nor the thread locals of one, nor what is kept for a class of the JDK.
 */
final class Copy {
    /** The virtual machine has it until it ends: it is in the loader of the JDK, of the program's class path, or one between. */
    static final boolean LASTS = lasts();

    /** What is held for those that may not. */
    private static final Queue<Held> HELD = LASTS ? null : new ConcurrentLinkedQueue<Held>();
    /** Looked at for each one that comes: what belonged to threads that ended cannot pile up. */
    private static final int SWEEP = 2;

    private Copy() {}

    private static boolean lasts() {
        ClassLoader own = Copy.class.getClassLoader();
        if (own == null) {
            // The others may not be there yet.
            return true;
        }
        try {
            for (ClassLoader loader = ClassLoader.getSystemClassLoader(); loader != own; loader = loader.getParent()) {
                if (loader == null) {
                    return false;
                }
            }
        } catch (SecurityException e) {
            // Who may not know gets what does no harm where nothing is reloaded.
        }
        return true;
    }

    /** What to keep, in a place that may outlive this copy, for an object that lives as long as the copy does, or as its thread. */
    static Object held(Object value, Reference<Thread> owner) {
        if (LASTS || value == null) {
            return value;
        }
        for (int i = 0; i < SWEEP; i++) {
            Held old = HELD.poll();
            if (old != null && !old.isOver()) {
                HELD.add(old);
            }
        }
        HELD.add(new Held(value, owner));
        return new WeakReference<Object>(value);
    }

    /** An object, and the thread that it belongs to; null: it belongs to the copy. */
    private static final class Held {
        @SuppressWarnings("unused") // nothing else refers to it
        private final Object value;
        private final Reference<Thread> owner;

        Held(Object value, Reference<Thread> owner) {
            this.value = value;
            this.owner = owner;
        }

        boolean isOver() {
            Thread thread = owner == null ? null : owner.get();
            return owner != null && (thread == null || !thread.isAlive());
        }
    }

    /** The object that {@link #held} has been given. */
    static Object of(Object kept) {
        return LASTS || kept == null ? kept : ((Reference<?>) kept).get();
    }
}
