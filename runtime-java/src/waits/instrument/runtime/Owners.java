package instrument.runtime;

/**
 * Who has the monitors that threads wait for. To ask stops all threads, and whoever asks may have to wait for a processor: so it is
 * the {@link NoteWriter} that asks, about waits that last, the oldest first, and no more than a share of the time goes into it.
 */
final class Owners {
    static final int OFF = 0;
    static final int ON = 1;

    /** One part in so many of the time. */
    private static final int SHARE = 50;
    /** Waits that may be asked about. Of more, the owners stay unknown. */
    private static final int MOST = 4096;
    /** ns between two questions. */
    private static final long PAUSE = 1000000;

    /** {@link #OFF}, {@link #ON}, or anything else: whatever it takes. */
    static int mode;

    // Of the note writer.
    private static final Wait[] OPEN = new Wait[MOST];
    private static int count;
    private static long next;

    private Owners() {}

    /** Another recording begins, and its note writer has not. */
    static void renew() {
        java.util.Arrays.fill(OPEN, null);
        count = 0;
        next = 0;
    }

    /** The number of the thread that has a monitor; 0: nobody has it. Stops all threads to tell. */
    private static native int owner(Object monitor);

    /** A note was written. If it is of a thread that waits for a monitor, its owner is asked for. */
    static void written(Note note) {
        if (note instanceof Wait && !keep((Wait) note)) {
            ((Wait) note).forgetMonitor();
        }
    }

    private static boolean keep(Wait wait) {
        if (mode == OFF || wait.contended() == null || wait.isOver() || count == MOST) {
            return false;
        }
        if (count == 0) {
            next = Math.max(next, Clock.now());
        }
        OPEN[count++] = wait;
        return true;
    }

    /** Asks, if there is something to ask about and it is time to. After how many ns this should be called again; 0: there is no need. */
    static long ask() {
        drop(0, 0);
        long now = Clock.now();
        if (count > 0 && now >= next) {
            Wait oldest = OPEN[0];
            int owner = owner(oldest.contended());
            long took = Clock.now() - now;
            next = now + took + Math.max(PAUSE, mode == ON ? SHARE * took : 0);
            drop(oldest.number, owner);
            if (count > 0 && OPEN[0] == oldest) {
                // Nobody had it at that moment: others come first.
                System.arraycopy(OPEN, 1, OPEN, 0, count - 1);
                OPEN[count - 1] = oldest;
            }
        }
        return count == 0 ? 0 : Math.max(1, next - Clock.now());
    }

    /**
     * Drops waits that are over, and tells those for a monitor who has it. If one is over by now the answer may be of the time after
     * it; if the owner is the very thread it is about to be.
     */
    private static void drop(int monitor, int owner) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            Wait wait = OPEN[i];
            if (wait.isOver()) {
                wait.ownedBy(0);
            } else if (owner != 0 && wait.number == monitor) {
                wait.ownedBy(owner == wait.thread ? 0 : owner);
            } else {
                OPEN[kept++] = wait;
            }
        }
        for (int i = kept; i < count; i++) {
            OPEN[i] = null;
        }
        count = kept;
    }
}
