package instrument.runtime;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * What a probe looks at first: whether it has anything to do. With root methods it has not while no thread is inside one: then a probe costs a look at one
 * word, and only the entry of a root method goes on. The gate is open for as long as there is a reason; each is counted:
 *
 * <ul>
 * <li>the settings are not read yet, or everything is recorded;
 * <li>a thread that is inside, or was started inside and has had no event yet;
 * <li>a state on trial; monitors that are recorded;
 * <li>a pause: calls that begin in one are remembered. This reason stays.
 * </ul>
 *
 * <p>A thread that is inside has counted itself, so it never finds the gate closed. A reason that is given up late costs time, and no event.
 *
 * <p>Most programs have no root methods and no pauses: their gate is open from the beginning to the end. So the words that other threads
 * may change are not even read until {@link #watch} is called. Until then the only subclass that is loaded is {@link Open}, whose answers are
 * constants; a compiler that relies on that makes nothing of them. Words that are read as volatile ones would cost more than their reading: nothing that
 * a probe reads after them may be kept from the probe before. When {@link Watched} is loaded, HotSpot stops every thread and drops all code
 * that relied on there being one subclass, also where it is in the middle of a loop; then the words are read at every event.
 */
abstract class Gate {
    private static final AtomicLongFieldUpdater<Gate> WORD = AtomicLongFieldUpdater.newUpdater(Gate.class, "word");
    /** The count when nothing ever is recorded: no reason opens it. */
    static final int NEVER = Integer.MIN_VALUE / 2;

    /** Has the word, whichever gate answers. */
    static final Gate FIRST = new Open();
    /** Null: the settings are not read yet. Whether it is null a probe would look anyway, since a compiler cannot know that it is not. */
    private static Gate now;

    /** Number of the {@link Recording}; in the lower half the number of reasons. */
    volatile long word = 1;

    abstract boolean lets();

    abstract boolean lets(int id);

    abstract int mode();

    abstract boolean mayMute();

    /** Whether recording may be paused. Only for who has a state, as {@link #recording}. */
    static boolean mutes() {
        return now.mayMute();
    }

    /** Whether the event of a call that has begun may matter. */
    static boolean isOpen() {
        return now == null || now.lets();
    }

    /** Whether the beginning of a call may matter. */
    static boolean isOpen(int id) {
        return now == null || now.lets(id);
    }

    /** Whether the settings have been read. */
    static boolean isSet() {
        return now != null;
    }

    /** The mode that the fast paths let through: {@link Recording#mode}. Only for who has a state: then the settings have been read. */
    static int recording() {
        return now.mode();
    }

    /** Comes before anything that can close the gate, or change {@link Recording#mode}: from now on probes look. */
    static void watch() {
        if (now == null || now == FIRST) {
            // Made before the lock is taken: class loaders have locks, and code that has probes.
            become(Watched.create());
        }
    }

    /** The settings have been read, and nobody relies on that yet. */
    static void set() {
        become(FIRST);
    }

    private static synchronized void become(Gate gate) {
        if (now == null || gate != FIRST) {
            now = gate;
        }
    }

    /** One reason more in this recording, or one less (-1); nothing happens if that is over. */
    static void count(int session, int change) {
        for (;;) {
            long word = FIRST.word;
            if ((int) (word >> 32) != session || WORD.compareAndSet(FIRST, word, word(session, (int) word + change))) {
                return;
            }
        }
    }

    /** The same in the recording that goes on. */
    static void count(int change) {
        count(Recording.number, change);
    }

    /** Nothing is recorded until another recording begins. */
    static void close() {
        watch();
        FIRST.word = word(Recording.number, NEVER);
    }

    /** Another recording begins, whose settings are not read yet. */
    static void renew() {
        FIRST.word = word(Recording.number, 1);
    }

    private static long word(int session, int reasons) {
        return (long) session << 32 | reasons & 0xffffffffL;
    }

    /** The gate that is never closed: everything is recorded, and there was no pause. */
    static final class Open extends Gate {
        Open() {}

        @Override
        boolean lets() {
            return true;
        }

        @Override
        boolean lets(int id) {
            return true;
        }

        @Override
        int mode() {
            return Recording.FIRST_RECORDING;
        }

        @Override
        boolean mayMute() {
            return false;
        }
    }

    /** The gate of a recording that has root methods, or that was paused or ended once. Not loaded before: see {@link Gate}. */
    static final class Watched extends Gate {
        Watched() {}

        /** Not a constructor: whoever calls this is verified without loading the class. */
        static Gate create() {
            return new Watched();
        }

        @Override
        boolean lets() {
            return (int) FIRST.word > 0;
        }

        @Override
        boolean lets(int id) {
            int reasons = (int) FIRST.word;
            return reasons > 0 || reasons > NEVER / 2 && Recording.isRoot(id);
        }

        @Override
        int mode() {
            return Recording.mode;
        }

        @Override
        boolean mayMute() {
            return true;
        }
    }
}
