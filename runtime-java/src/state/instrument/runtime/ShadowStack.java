package instrument.runtime;

/**
 * What a way to record does with the events of a thread: what {@link ThreadState} relies on, and its subclasses are. Frames and their rules are described there.
 */
abstract class ShadowStack {
    /** On trial: the id of the method that calls the others. */
    static final int TRIAL_CALLER = 0;

    ShadowStack() {}

    // ---- fast paths: true if the event was recorded ----

    abstract boolean enter(int id);

    abstract boolean enterConstructor(int id);

    /** A slow path ends: what runs from now on is the program again. */
    void endOfProbe() {}

    /** Its regions are there, and the thread is the current one. */
    void attached() {}

    /** Of a call into a library; takes it only if the id is known to be that of one. */
    boolean enterLibrary(int id) {
        // It is, where there was one before in this place.
        return enter(id);
    }

    abstract boolean exit(int id);

    abstract boolean unwind(int id);

    abstract boolean superReturned(int id);

    abstract boolean caught(int id);

    /** The call of the topmost frame has executed so many instructions; true if it has this upper half, or nothing is to be counted. */
    abstract boolean executed(int upper, long count);

    // ---- what the slow paths ask of the subclass; the thread is BUSY ----

    /** Frames on the shadow stack. */
    abstract int depth();

    /** A frame, 0 being the outermost. */
    abstract long frame(int index);

    abstract void setFrame(int index, long frame);

    /** Makes room for an entry, in every respect; false: there is none. */
    abstract boolean reserve(int id);

    /** Records an entry that {@link #reserve} has made room for. */
    abstract void enterReserved(int id, long pendingBit);

    /** An event other than an entry comes in: reads the clock, if there is one, and makes room for the event. */
    abstract boolean arrived(long eventKind, int number);

    /** An event of this frame is about to come in: calls into libraries above it have ended by an exception. False: there is no room. */
    boolean arriving(int at) {
        return true;
    }

    /** Closes the topmost frame. */
    abstract void closeTop(int column);

    /** An exception that another thread sent (Thread.stop) has cut a probe off between two steps: no call may be counted by half. */
    void mend() {}

    /** Counts an event that fits no frame. */
    abstract boolean unmatched(int id);

    /** Closes these pending frames, which are not on top, as aborted, each with the calls into libraries right above it. What is above them stays, under other callers. */
    abstract void remove(boolean[] gone);

    /** Closes so many topmost frames, which are pending and have been gone for a while, as aborted. */
    abstract void closeGone(int frames);

    /** Closes so many topmost frames, which are pending, as aborted, in a way that {@link #revive} can undo before the next event. False: there is no room. */
    abstract boolean abort(int frames);

    /** Puts these of the frames back, the outermost is the first. */
    abstract void revive(boolean[] alive);

    /** Whether the next entry, and what belongs to the topmost frame, is not for the fast paths. */
    abstract void hold(boolean on);

    /** Whether it matters which calls a call is in. */
    boolean hasContexts() {
        return true;
    }

    /** Whether a context is not known yet, and that of its caller depends on what is on the stack. */
    boolean isNew(int id) {
        return false;
    }

    /** Records an allocation. */
    abstract boolean allocate(Object object);

    /** The fast path of {@link HeapProxy}: true if the object was recorded, or is not to be. */
    abstract boolean allocateAgain(Object object);

    /** The lowest so many frames are not for the fast paths to close. */
    abstract void cover(int frames);

    /** So many ns of pauses came after the last event, or as many as there are since: takes them out of the times of open calls. */
    abstract void takeOut(long ns);

    /** What figures of a frame belong to: id + 1, or the number of its node. */
    abstract int consumerOf(long frame);

    /** Pushes the frame of a link. */
    abstract boolean pushLink(int link);

    /** True if this is the frame of the link. */
    abstract boolean isLink(long frame, int link);

    /** The number of the node on top, 0 if there is none. */
    abstract int contextNode();

    /** Where a task that is handed over in the context of a node comes from; null: nobody knows. */
    Origin origin(int node) {
        return null;
    }

    /** The number of a node's context has been found. */
    void contextIs(int node, int context) {}

    // ---- calibration ----

    /** For a state on trial: ns charged so far to calls of other methods than {@link #TRIAL_CALLER}; -1: this is not known. */
    abstract long charged();

    /** The same of CPU time, if that is recorded. */
    long chargedCpu() {
        return 0;
    }

    /** For a state on trial: so many of these calls {@link #charged} stands for, if not every call was timed. */
    long coveredCalls() {
        return 0;
    }

    /** For a state on trial: times every call, or as few as can be. */
    abstract void timeAll(boolean all);

    // ---- life ----

    /** Takes the thread's regions; false: there is no room. */
    abstract boolean allocateRegions(int kind);

    /** Gives the regions back, all but the header. */
    abstract void releaseRegions();

    /** False: what an ended thread has recorded stays where it is. */
    boolean folds() {
        return true;
    }
}
