package instrument.runtime;

/**
 * When recording was paused, while the program ran on. The contract:
 *
 * <ul>
 * <li>A call that begins during a pause is never counted, nor timed, whenever it ends; nor is an object made in a pause, a
 * link, or a passage of a code region. What such a call calls after the pause is recorded, under the nearest caller that is
 * recorded.
 * <li>A call that began before is closed when it ends, during the pause or after it; its times are without the pause. For
 * the profile, what ends in a pause ended when the pause began.
 * <li>So entries = exits + unwinds + aborted + unclosed + open holds at every moment, and nothing is unclosed or unmatched that would
 * not have been so without the pause.
 * </ul>
 *
 * <p>A thread takes notice at its next event, for {@link Recording#mode} is another one then; it asks here how long
 * the pauses were that it does not know of yet. CPU time cannot be asked for at the moment of a pause in another thread: the part of
 * it that falls into a pause is estimated by the clock.
 *
 * <p>An object is what is known at one time, so that it is read as a whole.
 */
final class Pauses {
    private static final int CHUNK = 512;
    private static final int IN_CHUNK = (CHUNK - Format.HEADER) / 16;

    /** Held by who pauses, who resumes, and who cannot bear it meanwhile. */
    static final Object LOCK = new Object();
    private static volatile Pauses known = new Pauses(0, 0, 0);

    // Why recording is to be paused; guarded by the lock. Any reason is enough.
    /** Somebody has asked for it. */
    private static boolean isAsked;
    /** No burst goes on. */
    private static boolean isBetween;

    // Of the pause that was written last, if one was.
    private static Region chunk;
    private static int at;

    /** ns of the pauses that ended. */
    private final long ended;
    /** The clock when the one began that goes on; 0: none does. */
    private final long began;
    private final int count;

    private Pauses(long ended, long began, int count) {
        this.ended = ended;
        this.began = began;
        this.count = count;
    }

    /** Whether recording is paused. */
    static boolean isOn() {
        return (Recording.mode & 1) != 0;
    }

    /** Whether a pause goes on, or did so when the recording ended. */
    static boolean goesOn() {
        return known.began != 0;
    }

    /** Whether somebody has asked for a pause that goes on. */
    static boolean isAsked() {
        synchronized (LOCK) {
            return isAsked;
        }
    }

    /** ns of all pauses up to now. */
    static long ns(long now) {
        Pauses pauses = known;
        return pauses.began == 0 ? pauses.ended : pauses.ended + Math.max(0, now - pauses.began);
    }

    /** ns of the pauses that ended. */
    static long ended() {
        return known.ended;
    }

    /** How many pauses there were. */
    static int count() {
        return known.count;
    }

    /** Somebody asks to pause or to resume; nothing happens if that was done before. The caller's probes do nothing. */
    static void set(boolean on) {
        synchronized (LOCK) {
            isAsked = on;
            apply();
        }
    }

    /** A burst of the recording with this number ends, or begins. The caller's probes do nothing. */
    static void between(int session, boolean bursts) {
        synchronized (LOCK) {
            if (session == Recording.number) {
                isBetween = bursts;
                apply();
            }
        }
    }

    /** Every thread {@link ThreadState#catchUp takes notice} at its next event, as of a pause of no time. The caller's probes do nothing. */
    static void announce() {
        synchronized (LOCK) {
            if (Recording.mode != Recording.NEVER) {
                Gate.watch();
                Recording.mode += 2;
            }
        }
    }

    /** Pauses if there is a reason for it, else resumes. */
    private static void apply() {
        synchronized (LOCK) {
            boolean on = isAsked || isBetween;
            if (on == isOn() || Recording.mode == Recording.NEVER) {
                return;
            }
            Gate.watch();
            Pauses before = known;
            long now = Clock.now();
            if (on) {
                Gate.count(1);
                write(now);
                known = new Pauses(before.ended, now, before.count + 1);
            } else {
                known = new Pauses(ns(now), 0, before.count);
                if (chunk != null) {
                    chunk.put(at + 1, now);
                }
            }
            Recording.mode++;
        }
    }

    /** Another recording begins. */
    static void renew() {
        synchronized (LOCK) {
            known = new Pauses(0, 0, 0);
            isAsked = false;
            isBetween = false;
            chunk = null;
            at = 0;
        }
    }

    /** Writes that a pause begins, if there is a file and room in it: readers do without. */
    private static void write(long now) {
        ProfileFile file = Recording.file;
        if (file == null) {
            return;
        }
        at += 2;
        if (chunk == null || at >= Format.HEADER_WORDS + 2 * IN_CHUNK) {
            chunk = file.allocate(CHUNK);
            if (chunk == null) {
                return;
            }
            chunk.publish(Format.PAUSES, 0);
            at = Format.HEADER_WORDS;
        }
        chunk.put(at, now);
    }
}
