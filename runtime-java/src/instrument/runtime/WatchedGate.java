package instrument.runtime;

/** The gate of a recording that has root methods, or that was paused or ended once. Not loaded before: see {@link Gate}. */
final class WatchedGate extends Gate {
    private WatchedGate() {}

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static Gate create() {
        return new WatchedGate();
    }

    @Override
    boolean lets() {
        return (int) FIRST.word > 0;
    }

    @Override
    boolean lets(int id) {
        int reasons = (int) FIRST.word;
        return reasons > 0 || reasons > NEVER / 2 && ThreadState.isRoot(id);
    }

    @Override
    int mode() {
        return ThreadState.recording;
    }
}
