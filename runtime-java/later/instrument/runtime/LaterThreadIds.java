package instrument.runtime;

/** By {@code Thread.threadId} of Java 19. {@code build.sh} compiles this class by itself, since the rest is compiled against Java 8. */
final class LaterThreadIds extends ThreadIds {
    LaterThreadIds() {}

    @Override
    long number(Thread thread) {
        return thread.threadId();
    }
}
