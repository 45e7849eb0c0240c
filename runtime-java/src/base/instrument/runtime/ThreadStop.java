package instrument.runtime;

/** What Thread.stop throws into another thread, up to Java 19. By name: the class is about to leave the JDK. */
final class ThreadStop {
    private static final String DEATH = "java.lang.ThreadDeath";

    private ThreadStop() {}

    /** Whether this ends the program's thread, and has to go on. */
    static boolean is(Throwable reason) {
        return reason.getClass().getName().equals(DEATH);
    }

    /** Another one, in the place of one that is lost; null: this JDK has none. */
    static Error again() {
        try {
            return Death.create();
        } catch (LinkageError e) {
            return null;
        }
    }

    /** Not by reflection: see {@link OwnThreads}. */
    private static final class Death {
        static Error create() {
            return new ThreadDeath();
        }
    }
}
