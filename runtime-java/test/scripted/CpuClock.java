package instrument.runtime;

/** In the place of the runtime's own: CPU time passes half as fast as time. */
final class CpuClock {
    private CpuClock() {}

    static boolean start() {
        return true;
    }

    static boolean measures() {
        return true;
    }

    static long now() {
        return Clock.now() / 2;
    }
}
