package instrument.runtime;

/**
 * A time in which a thread could not go on. Its beginning is written by {@link NoteWriter}, its end by the thread itself if there is
 * a record by then: whichever of the two comes later finds what the other has left.
 */
final class Wait extends Note {
    // Kinds.
    static final int CONTENDED = 1;
    static final int WAITING = 2;

    /** In the place of the owner: the thread waits for a monitor and does not park. */
    static final int NOT_PARKED = -1;

    private static final int TIMED_OUT = 1;
    /** In the place of the clock at the end: it did not take place. */
    private static final long CANCELLED = -1;
    private static final int CHUNK = 1 << 16;
    private static final int WORDS = 8;

    // Of the note writer.
    private static Region chunk;
    private static int used;

    final int kind;
    final int thread;
    private final long clock;
    final int number;
    private final long timeout;
    private final Chain chain;
    /** Of a thread that parks: the number of the thread that had the lock; 0: nobody. */
    private final int owner;
    /** The monitor; null when it is needed no more. Whoever waits has it as well. */
    private Object monitor;
    private int context;

    /** Where it is written; null: it is not yet. */
    private volatile Region region;
    private int at;
    /** 0: it is not over. */
    private volatile long end;
    private int flags;

    Wait(int kind, int thread, long clock, int number, Object monitor, long timeout, Chain chain, int owner) {
        this.kind = kind;
        this.thread = thread;
        this.clock = clock;
        this.number = number;
        this.monitor = monitor;
        this.timeout = timeout;
        this.chain = chain;
        this.owner = owner;
    }

    /** Another recording begins, and its note writer has not. */
    static void renew() {
        chunk = null;
        used = 0;
    }

    /** It is over. */
    void end(long clock, boolean timedOut) {
        flags = timedOut ? TIMED_OUT : 0;
        end = clock;
        putEnd();
    }

    /** It did not take place. */
    void cancel() {
        end = CANCELLED;
        putEnd();
    }

    @Override
    boolean write() {
        int type = ClassNames.numberOf(monitor);
        context = chain == null ? 0 : chain.context();
        if (chunk == null || used + WORDS > chunk.length >> 3) {
            Region fresh = Recording.file.allocate(CHUNK);
            if (fresh == null) {
                return false;
            }
            fresh.publish(Format.WAITS, 0);
            chunk = fresh;
            used = Format.HEADER_WORDS;
        }
        at = used;
        used += WORDS;
        chunk.put(at + 1, clock);
        chunk.put(at + 3, (long) type << 32 | number & 0xffffffffL);
        chunk.put(at + 4, parks() ? (long) owner << 32 | context & 0xffffffffL : context);
        chunk.put(at + 5, timeout);
        chunk.put(at, (long) thread << 32 | kind);
        region = chunk;
        putEnd();
        return true;
    }

    /** Whether it is not a monitor that the thread waits for, but a lock or condition of java.util.concurrent. */
    boolean parks() {
        return owner != NOT_PARKED;
    }

    boolean isOver() {
        return end != 0;
    }

    /** The monitor whose owner may be asked for; null: there is none. */
    Object contended() {
        return kind == CONTENDED && !parks() ? monitor : null;
    }

    /** Its owner will not be asked for. */
    void forgetMonitor() {
        monitor = null;
    }

    /** This thread had the monitor meanwhile; 0: nobody knows. Called by the note writer, once. */
    void ownedBy(int owner) {
        monitor = null;
        region.put(at + 4, (long) owner << 32 | context & 0xffffffffL);
    }

    private void putEnd() {
        Region region = this.region;
        long end = this.end;
        if (region == null || end == 0) {
            return;
        }
        if (end == CANCELLED) {
            region.put(at, 0);
        } else {
            region.put(at + 6, flags);
            region.put(at + 2, end);
        }
    }
}
