package instrument.runtime;

/**
 * Whether a thread is the one that a state belongs to: the first thing that a probe wants to know. A look through the weak reference of the state would do, but
 * compilers keep nothing across such a look, since a collector may clear the reference at any time: what a probe has read is read again by the next one. So a thread
 * is known by the number that it has, which no other thread of the process ever gets; where the recorder cannot read that, the reference is all there is.
 */
final class Owner {
    /** By {@link ThreadIds}, where none of the ways to words reads the numbers. */
    private static final int IDS = -1;

    private static final int WAY = way();

    private Owner() {}

    private static int way() {
        int words = Memory.threads();
        return words == Memory.BUFFER && ThreadIds.IDS != null ? IDS : words;
    }

    static boolean is(ThreadState state, Thread thread) {
        return WAY == Memory.INTERNAL ? state.owner == InternalWords.number(thread)
            : WAY == Memory.UNSUPPORTED ? state.owner == UnsupportedWords.number(thread)
            : WAY == IDS ? state.owner == ThreadIds.IDS.number(thread)
            : state.thread.get() == thread;
    }

    /** What {@link #is} compares. {@link ThreadState#NOBODY} for a thread that is still being constructed: it has no number. */
    static long of(Thread thread) {
        long number = WAY == Memory.INTERNAL ? InternalWords.number(thread)
            : WAY == Memory.UNSUPPORTED ? UnsupportedWords.number(thread)
            : WAY == IDS ? ThreadIds.IDS.number(thread)
            : 0;
        return number == 0 ? ThreadState.NOBODY : number;
    }
}
