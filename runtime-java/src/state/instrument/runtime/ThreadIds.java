package instrument.runtime;

/** The numbers of threads, from Java 19 on: {@code Thread.getId}, which is older, is not final, so a program's own class can give what it likes. */
abstract class ThreadIds {
    /** Null: Java is older. The only subclass, so that calls are bound when they are compiled. */
    static final ThreadIds IDS = create();

    ThreadIds() {}

    /** The number of a thread; 0 while it is being constructed. */
    abstract long number(Thread thread);

    private static ThreadIds create() {
        try {
            ThreadIds ids = (ThreadIds) Class.forName("instrument.runtime.LaterThreadIds").newInstance();
            return ids.number(Thread.currentThread()) > 0 ? ids : null;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }
}
