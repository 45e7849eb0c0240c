package instrument.runtime;

/** What {@code java.util.concurrent.locks.LockSupport} calls where threads are recorded: locks of java.util.concurrent wait there. */
public final class Parks {
    private Parks() {}

    /** The current thread is about to wait until it is unparked; the blocker is the lock, or whatever it waits for. May be null. */
    public static void parking(Object blocker) {
        if (blocker != null && JavaThreads.on) {
            Monitors.parking(blocker);
        }
    }

    /** It goes on. */
    public static void parked() {
        if (JavaThreads.on) {
            Monitors.parked();
        }
    }
}
