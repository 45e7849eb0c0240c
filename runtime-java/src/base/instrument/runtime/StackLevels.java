package instrument.runtime;

/** Makes sure of the stack that something needs which would be left half done without it. */
final class StackLevels {
    /** Enough for file operations: 6 KiB of compiled frames, 16 KiB of interpreted ones. */
    static final int OF_FILE = 200;

    private StackLevels() {}

    /**
     * Overflows the stack here if there are not so many levels left, so that it does not overflow inside something that
     * would be left half done.
     */
    static int need(int more) {
        return more == 0 ? 0 : need(more - 1) + 1;
    }
}
