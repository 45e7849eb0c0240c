package instrument.runtime;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** An object of the program as a key: it is not kept alive, and none of its methods is called. */
final class WeakIdentity extends WeakReference<Object> {
    private final int hash;

    WeakIdentity(Object of, ReferenceQueue<Object> queue) {
        super(of, queue);
        hash = System.identityHashCode(of);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof WeakIdentity && get() != null && get() == ((WeakIdentity) other).get();
    }

    /** Equal to the key of an object, for questions after that. */
    static final class Question {
        Object of;

        @Override
        public int hashCode() {
            return System.identityHashCode(of);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof WeakIdentity && ((WeakIdentity) other).get() == of;
        }
    }
}
