package instrument.runtime;

/**
 * The recording that goes on, or is about to begin: what all parts of the recorder go by, and what ends with it. It knows none of those parts.
 *
 * <p>In one process there may be one recording after another, each with a profile of its own: see {@link Session}. A thread keeps the state that it had; by
 * {@link #number} that is known to be old.
 */
final class Recording {
    /** What {@link #mode} is when nothing ever is recorded: no probe looks any further. */
    static final int NEVER = Integer.MIN_VALUE;
    /** The first of the modes of threads that record. */
    static final int FIRST_RECORDING = 16;

    /** What the user chose; null until the first event. */
    static volatile Settings settings;
    /** It is a calling context tree. Known a little earlier than the other settings. */
    static volatile boolean recordsTree;
    /** The file has been opened, or could not be. Under the lock of {@link Threads}. */
    static boolean started;
    /** Null: recording is off, or did not start yet. */
    static volatile ProfileFile file;
    /** Why there is none, if it could not be created. */
    static volatile String refusal;
    /** Remote calls are recorded. */
    static volatile boolean hasRemoteCalls;

    /**
     * Bits of the ids of the root methods; null: everything is recorded. Set, if ever, before the first state is made: the
     * states take it for a constant.
     */
    static long[] roots;

    /**
     * The one mode that the fast paths let through. Every pause and every resumption sets another one, so that each thread takes
     * notice at its next event. Odd: recording is paused, and no thread has it.
     */
    static volatile int mode = FIRST_RECORDING;

    /** Recordings that have ended. */
    static volatile int number;
    /** The last one has ended, and no other has begun. */
    private static volatile boolean isOver;
    /** The largest {@link #mode} so far. */
    private static int lastMode = FIRST_RECORDING;
    private static boolean complained;
    /** Numbers that were given to threads, and to sums of ended ones, in this copy's part of the file. Under the lock of {@link Threads}. */
    static int threads;

    private Recording() {}

    /** Whether the last one has ended and no other has begun. */
    static boolean isOver() {
        return isOver;
    }

    /** It is over: no probe records anything. The caller holds the lock of {@link Pauses}. */
    static void end() {
        isOver = true;
        lastMode = Math.max(lastMode, mode & ~1);
        mode = NEVER;
    }

    /** Another one is about to begin; nothing is known of it. Under the lock of {@link Threads}. */
    static void renew() {
        settings = null;
        file = null;
        refusal = null;
        started = false;
        hasRemoteCalls = false;
        complained = false;
        threads = 0;
    }

    /** It may begin with the next event. The caller holds the lock of {@link Pauses}. */
    static void open() {
        lastMode += 2;
        mode = lastMode;
        isOver = false;
    }

    /** Also true while it is not known which methods are roots. */
    static boolean isRoot(int id) {
        long[] known = roots;
        int word = id >> 6;
        return known == null || word < known.length && (known[word] >>> id & 1) != 0;
    }

    /** Says once why a thread is no longer recorded. */
    static void complain(Throwable reason) {
        if (!complained) {
            complained = true;
            Log.say("recording stopped in a thread: " + reason.getClass().getName());
        }
    }
}
