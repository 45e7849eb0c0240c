package instrument.runtime;

/**
 * The numbers of threads, from Java 19 on: {@code Thread.getId}, which is older, is not final, so a program's own class can give what it likes.
 * {@code build.sh} compiles this class by itself, since the rest is compiled against Java 8.
 */
final class ThreadIds {
    private ThreadIds() {}

    /** The number of a thread; 0 while it is being constructed. */
    static long number(Thread thread) {
        return thread.threadId();
    }

    /** Whether {@link #number} works. */
    static boolean work() {
        try {
            return number(Thread.currentThread()) > 0;
        } catch (LinkageError e) {
            return false;
        }
    }
}
