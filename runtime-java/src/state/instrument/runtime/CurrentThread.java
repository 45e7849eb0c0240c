package instrument.runtime;

/** The state of the current thread, and what becomes of it where a part of the recorder fails. */
final class CurrentThread {
    private static final LocalState LOCAL = new LocalState();

    // Any thread may write these at any time; whatever is read belongs to the thread that it says.
    static ThreadState first;
    private static ThreadState second;
    // While there is a state on trial.
    private static ThreadState ownState;
    private static ThreadState ownFirst;
    /** Its recording. */
    private static int trial;

    private CurrentThread() {}

    static void entryFailed(ThreadState state, Throwable failure) {
        if (failure instanceof StackOverflowError) {
            throw (StackOverflowError) failure;
        }
        failed(state, failure);
    }

    /**
     * The state of the current thread; null: nobody has read the settings. ThreadLocal.get is half of what a probe costs, so two threads are looked
     * up by identity first; one that keeps missing takes a place. Weak references: a place keeps no thread alive.
     */
    static ThreadState current() {
        ThreadState state = placed();
        return state == null ? unplaced(Thread.currentThread()) : state;
    }

    /** The same if the thread has a place, else null. */
    static ThreadState placed() {
        Thread thread = Thread.currentThread();
        ThreadState state = first;
        if (state != null && Owner.is(state, thread)) {
            return state;
        }
        state = second;
        return state != null && Owner.is(state, thread) ? state : null;
    }

    /** The state of the current thread, which has no place. */
    static ThreadState unplaced(Thread thread) {
        ThreadState state = LOCAL.of(thread);
        if (state != null && (state.misses++ & 0xffff) == 0) {
            place(state);
        }
        return state;
    }

    /** What {@link #current} gives once the settings are read; null: this thread is about to read them, its events are not recorded. */
    static ThreadState newState() {
        if (!Recorder.configured()) {
            return null;
        }
        ThreadState state = LOCAL.make(Thread.currentThread());
        if (state != null && state.misses++ == 0) {
            place(state);
        }
        return state;
    }

    /** As {@link #current}, for whoever is not in a hurry: never the state of a recording that is over. */
    static ThreadState fresh() {
        ThreadState state = current();
        return state == null || !state.isOld() ? state : renewed(state);
    }

    /** The state of the current thread in this recording, in the place of the one that it had in an earlier one. */
    static ThreadState renewed(ThreadState old) {
        ThreadState state = Recording.isOver() || !Recorder.configured() ? null : LOCAL.make(Thread.currentThread());
        if (state == null) {
            return LocalState.nowhere;
        }
        state.owner = Owner.of(Thread.currentThread());
        if (first == old) {
            first = state;
        }
        if (second == old) {
            second = state;
        }
        return state;
    }

    /** No thread has a place any more. */
    static void renew() {
        first = null;
        second = null;
    }

    /** A new state takes a place that is free, one that keeps missing takes the first. */
    private static void place(ThreadState state) {
        if (state == LocalState.nowhere) {
            return;
        }
        state.owner = Owner.of(Thread.currentThread());
        if (isFree(first)) {
            first = state;
        } else if (isFree(second)) {
            second = state;
        } else if (state.misses > 1) {
            second = first;
            first = state;
        }
    }

    /** Never records the current thread, which is our own. */
    static void leaveOut() {
        if (Recorder.configured()) {
            ThreadState state = Recorder.get().newState(Thread.currentThread());
            state.mode = ThreadState.OFF;
            LOCAL.put(state);
        }
    }

    /**
     * Puts a state on trial in the place of that of the current thread, and in the place that is looked at first; null: puts
     * back what was there.
     */
    static void onTrial(ThreadState state) {
        if (state != null) {
            Gate.count(state.session, 1);
            trial = state.session;
            ownState = LOCAL.state();
            ownFirst = first;
            LOCAL.put(state);
            state.owner = Owner.of(Thread.currentThread());
            first = state;
        } else {
            first = ownFirst;
            LOCAL.put(ownState);
            Gate.count(trial, -1);
        }
    }

    private static boolean isFree(ThreadState place) {
        return place == null || place.thread.get() == null;
    }

    /** Ends the recording of a thread; only ThreadDeath goes on. */
    static void failed(ThreadState state, Throwable failure) {
        boolean death = false;
        try {
            death = ThreadStop.is(failure);
            if (death) {
                if (state != null) {
                    state.mend();
                }
            } else {
                if (state != null) {
                    state.stop();
                    state.drop();
                }
                Recording.complain(failure);
            }
        } catch (Throwable e) {
            // Nothing is left to try.
        }
        if (death) {
            throw (Error) failure;
        }
    }
}
