package instrument.api;

/**
 * A part of what a thread does that has a name of its own in the profile, such as a test or a request. Calls and allocations within it, and
 * those of the tasks and threads that are started in it, stand below {@code (boundary NAME)}.
 *
 * <pre>{@code
 * try (Boundary boundary = Boundary.open("checkout")) {
 *     shop.checkOut(order);
 * }
 * }</pre>
 *
 * Boundaries may be within others, and have the name of one that is or was open: they share a context then. Without the recorder nothing
 * happens but the call.
 */
public final class Boundary implements AutoCloseable {
    private final Thread thread = Thread.currentThread();
    private final String name;
    /** 0: it is not recorded, or was closed. */
    private int number;
    private final boolean isRecorded;

    private Boundary(String name) {
        this.name = name;
        number = Recorder.enter(name);
        isRecorded = number != 0;
    }

    /**
     * What the current thread does from here on is within a boundary, until {@link #close}. Where this is called in the middle of a method,
     * {@code close} must be called in the same method.
     *
     * @param name what reports call it, one line
     */
    public static Boundary open(String name) {
        if (name == null) {
            throw new NullPointerException("name");
        }
        return new Boundary(name);
    }

    /** What reports call it. */
    public String name() {
        return name;
    }

    /** Whether it is in a profile. Not so without the recorder, where only counts are recorded, and past 16,384 names. */
    public boolean isRecorded() {
        return isRecorded;
    }

    /**
     * Ends it; does nothing the second time.
     *
     * @throws IllegalStateException another thread opened it
     */
    @Override
    public void close() {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException("the boundary " + name + " was opened by the thread " + thread.getName() + ", which has to close it");
        }
        int open = number;
        number = 0;
        if (open != 0) {
            Recorder.leave(open);
        }
    }
}
