package instrument.runtime;

import java.util.Arrays;

/**
 * The calls of one thread that began while recording was paused. They are open like others, and events belong to them by the
 * same rules, but nothing of them is in the file: each lies between two frames of the shadow stack, or on top of it, and
 * knows how many are beneath.
 */
final class MutedFrames {
    private static final long[] NONE = {};

    private final ThreadState state;
    /** Pending bit, id + 1, and in the lower half the number of frames of the shadow stack beneath. */
    private long[] frames = NONE;
    private int count;
    private int pending;
    /** What {@link Recording#mode} is in the pause whose events {@link #entered} and the like take; 0: they take none. */
    private int pause;
    /** The mode of the thread in that pause. */
    private int quiet;

    MutedFrames(ThreadState state) {
        this.state = state;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** How many of them are pending. */
    int pending() {
        return pending;
    }

    /** Frames of the shadow stack under the topmost; 0: there is none. */
    int covered() {
        return count == 0 ? 0 : beneath(count - 1);
    }

    private int beneath(int index) {
        return (int) frames[index];
    }

    // ---- fast paths: true if the event needs nothing else. They leave it to the next recorded event to cover frames of the shadow stack ----

    private boolean isQuiet() {
        return pause == Recording.mode && state.mode == quiet;
    }

    /** Whether the topmost one is on top of both stacks. */
    private boolean isOnTop(int upper, int mask) {
        int top = count - 1;
        return top >= 0 && ((int) (frames[top] >>> 32) & mask) == upper && beneath(top) == state.depth();
    }

    boolean entered(int id, long pendingBit) {
        if (!isQuiet() || count == frames.length) {
            return false;
        }
        if (pendingBit != 0) {
            if (!Constructors.isKnown(id) || state.pending + pending >= state.pendingLimit) {
                return false;
            }
        }
        // It may find no room on the stack: then nothing has changed.
        frames[count] = (long) (id + 1) << 32 | pendingBit | state.depth();
        pending += pendingBit != 0 ? 1 : 0;
        count++;
        return true;
    }

    boolean ended(int id) {
        if (!isQuiet() || !isOnTop(id + 1, 0xffffffff)) {
            return false;
        }
        count--;
        return true;
    }

    boolean superReturned(int id) {
        if (!isQuiet() || !isOnTop(id + 1 | 0x80000000, 0xffffffff)) {
            return false;
        }
        ready(count - 1);
        return true;
    }

    boolean caught(int id) {
        return isQuiet() && isOnTop(id + 1, 0x7fffffff);
    }

    // ---- slow ----

    /** A call begins during a pause. With roots it is of interest only below one. */
    void begin(int id, long pendingBit) {
        int before = state.mode;
        if (before == ThreadState.BUSY || before == ThreadState.STOPPED || before == ThreadState.OFF) {
            return;
        }
        if (Recording.roots != null && before != state.live && isEmpty() && !Recording.isRoot(id)) {
            return;
        }
        state.mode = ThreadState.BUSY;
        try {
            if (pendingBit != 0) {
                Constructors.learn(state, id);
                if (state.pending + pending >= state.pendingLimit) {
                    state.sweep(1);
                }
            }
            push(id, pendingBit, state.depth());
            state.covered();
            // With roots the end of the last one is more.
            pause = Recording.roots == null ? Recording.mode : 0;
            quiet = before;
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = before;
            }
        }
    }

    private void push(int id, long pendingBit, int beneath) {
        if (count == frames.length) {
            frames = Arrays.copyOf(frames, Math.max(16, 2 * count));
        }
        frames[count] = (long) (id + 1) << 32 | pendingBit | beneath;
        count++;
        if (pendingBit != 0) {
            pending++;
        }
    }

    /** The place of the one that an event belongs to; what is above it, on both stacks, is closed. -1: it belongs to none. */
    int find(int upper, int mask) {
        int at = count == 0 || state.mode == ThreadState.BUSY ? -1 : match(upper, mask);
        if (at >= 0) {
            int beneath = beneath(at);
            if (state.depth() > beneath && state.begin(0)) {
                try {
                    state.uncover(beneath);
                } finally {
                    if (state.mode == ThreadState.BUSY) {
                        state.mode = state.live;
                    }
                }
            }
            truncate(at + 1);
        }
        return at;
    }

    /** The place of the one that an event belongs to; -1: it fits a frame of the shadow stack above it, or none. */
    private int match(int upper, int mask) {
        int depth = state.depth();
        for (int index = count - 1; index >= 0; index--) {
            while (depth > beneath(index)) {
                depth--;
                if (((int) (state.frame(depth) >>> 32) & mask) == upper) {
                    return -1;
                }
            }
            if (((int) (frames[index] >>> 32) & mask) == upper) {
                return index;
            }
        }
        return -1;
    }

    /** The super() of one has returned. */
    void ready(int index) {
        frames[index] &= ~Format.PENDING;
        pending--;
    }

    /** Removes all from a place on. */
    void truncate(int length) {
        while (count > length) {
            count--;
            if (frames[count] < 0) {
                pending--;
            }
        }
    }

    /** Those above a frame of the shadow stack are gone; -1: all are. */
    void endAbove(int frame) {
        if (count == 0) {
            return;
        }
        int length = count;
        while (length > 0 && beneath(length - 1) > frame) {
            length--;
        }
        truncate(length);
        state.covered();
    }

    /**
     * Which frames of the shadow stack are of pending constructors that are no longer there; null: this is not known, or none is. Those that are here are removed.
     * See {@link Constructors#isOnTop} for the parameter.
     */
    boolean[] gone(int entering) {
        int depth = state.depth();
        int[] uppers = new int[depth + count];
        int[] places = new int[depth + count];
        int frame = 0;
        int all = 0;
        for (int i = 0; i <= count; i++) {
            for (int end = i < count ? beneath(i) : depth; frame < end; frame++) {
                places[all] = frame;
                uppers[all++] = (int) (state.frame(frame) >>> 32);
            }
            if (i < count) {
                places[all] = ~i;
                uppers[all++] = (int) (frames[i] >>> 32);
            }
        }
        boolean[] both = Constructors.gone(uppers, entering);
        if (both == null) {
            return null;
        }
        boolean[] gone = new boolean[depth];
        int lower = 0;
        int to = 0;
        for (int i = 0; i < all; i++) {
            if (places[i] >= 0) {
                gone[places[i]] = both[i];
                lower += both[i] ? 1 : 0;
            } else if (both[i]) {
                pending--;
            } else {
                frames[to++] = frames[~places[i]] - lower;
            }
        }
        count = to;
        return gone;
    }
}
