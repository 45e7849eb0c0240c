package instrument.runtime;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Whether probes have anything to do. With root methods they have not while no thread is inside one: then a probe costs a look at one
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
 */
final class Gate {
    private static final AtomicLongFieldUpdater<Gate> WORD = AtomicLongFieldUpdater.newUpdater(Gate.class, "word");
    private static final Gate GATE = new Gate();
    /** The count when nothing ever is recorded: no reason opens it. */
    private static final int NEVER = Integer.MIN_VALUE / 2;

    /** Number of the {@link Session}; in the lower half the number of reasons. */
    private volatile long word = 1;

    private Gate() {}

    /** Whether the event of a call that has begun may matter. */
    static boolean isOpen() {
        return (int) GATE.word > 0;
    }

    /** Whether the beginning of a call may matter. */
    static boolean isOpen(int id) {
        int reasons = (int) GATE.word;
        return reasons > 0 || reasons > NEVER / 2 && ThreadState.isRoot(id);
    }

    /** One reason more in this recording, or one less (-1); nothing happens if that is over. */
    static void count(int session, int change) {
        for (;;) {
            long word = GATE.word;
            if ((int) (word >> 32) != session || WORD.compareAndSet(GATE, word, word(session, (int) word + change))) {
                return;
            }
        }
    }

    /** The same in the recording that goes on. */
    static void count(int change) {
        count(Session.number, change);
    }

    /** Nothing is recorded until another recording begins. */
    static void close() {
        GATE.word = word(Session.number, NEVER);
    }

    /** Another recording begins, whose settings are not read yet. */
    static void renew() {
        GATE.word = word(Session.number, 1);
    }

    private static long word(int session, int reasons) {
        return (long) session << 32 | reasons & 0xffffffffL;
    }
}
