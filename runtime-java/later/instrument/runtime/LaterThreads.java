package instrument.runtime;

/** By a constructor of Java 9 that runs no code of inheritable thread locals. {@code build.sh} compiles this class by itself. */
final class LaterThreads extends OwnThreads.Maker {
    LaterThreads() {}

    @Override
    Thread make(Runnable task) {
        return new Thread(null, task, "instrument", 0, false);
    }
}
