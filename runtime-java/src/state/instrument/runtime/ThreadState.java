package instrument.runtime;

import java.lang.ref.WeakReference;

/**
 * One thread's recording: its shadow stack and the rules that match events to frames. {@link CountsState}, {@link TreeState} and {@link TraceState} are the ways to
 * record. A process loads only one of them, so the calls to it are bound when they are compiled.
 *
 * <p>A frame is one word: pending bit, id + 1 (31 bits), and 32 bits of the subclass.
 * An event belongs to the topmost frame of its id that it fits: exit and unwind a ready one, superReturned a pending one,
 * exceptionCaught any. Pending frames above it are aborted, anything else above it is unclosed; both close there. So are pending frames right
 * under one that ends by an exception, see {@link #thrown}, and those that are found to be gone, see {@link Constructors}. An event
 * that fits no frame is unmatched. The frame of a link fits its own event only. {@link LibraryCalls} that are above the frame of an event
 * have ended by an exception: nothing else tells of that.
 *
 * <p>Order of writes: an entry is its frame, then its count; a close is its count, then its frame. A process that is
 * killed in between leaves the topmost frame one ahead of the counts, which is the one difference readers accept.
 *
 * <p>While recording is paused (see {@link Pauses} for the contract) every event goes the {@link SlowPath}: entries become {@link MutedFrames},
 * and an event that belongs to one of those ends it. {@link #cover} keeps the fast paths from frames with muted ones on top.
 *
 * <p>Every call that may fail comes before the first write of an event; what follows needs less stack than
 * {@link ProfilerRuntime} has made sure of.
 */
abstract class ThreadState extends ShadowStack {
    // Modes. Other ones mean that the thread records: see live.
    static final int NEW = 0;
    /** Inside the runtime: probes of code that the runtime itself calls do nothing. */
    static final int BUSY = 2;
    static final int STOPPED = 3;
    static final int OFF = 4;
    /** Not inside a root method: only the entry of one is recorded. */
    static final int OUTSIDE = 5;
    /** Nothing is open but calls that began before the recording: see {@link Running}. */
    static final int BENEATH = 6;

    /** No thread's {@link #owner}. */
    static final long NOBODY = -1;

    /** How many rooms {@link Values} has. */
    static final int VALUE_ROOMS = 4;

    /** Pending constructors before the thread's real frames are looked at. */
    private static final int PENDING_LIMIT = 64;

    int mode = NEW;
    /** The mode while the thread records: what {@link Recording#mode} was when it looked. */
    int live = Recording.FIRST_RECORDING;
    /** ns of the pauses that the thread knows of. */
    private long known;
    /** Calls that began during a pause. */
    final MutedFrames muted = new MutedFrames(this);
    /** {@link Running} calls, which began before the recording; null: none. */
    Object running;
    /** {@link Running} has looked for those that were found by then. */
    int news;
    /** The lowest so many frames of the shadow stack are theirs. */
    private int beneath;
    int pending;
    int pendingLimit = PENDING_LIMIT;
    /** Pending constructors that were on top and are closed as aborted until the next event tells: see {@link #thrown}. */
    int doubted;
    /** The upper halves of their frames, the outermost first. */
    int[] doubtedFrames = new int[4];
    /** A suspect constructor is on top: see {@link #watch}. */
    private boolean watched;
    /** The bits that an id may have. */
    int idMask = 0x7fffffff;

    /** The THREAD or ENDED region; null until the thread is attached. */
    Region header;
    private long dropped;
    private long paused;
    /** What is being recorded was made by the virtual machine itself. */
    boolean byMachine;
    /** Allocations not counted because the stack overflowed, not yet in the file. */
    int missed;
    /** Number of the link that started the thread; 0: none. Written into the file when the thread is attached. */
    int link;
    /** The {@link Links} that this thread has made; null: none. */
    Object links;
    /** What its calls have executed, where that is counted. */
    final BytecodeTable bytecodes = new BytecodeTable();
    /** What its calls count, where lines are counted. */
    final LineTable lines = new LineTable();
    /** The first {@link RegionTimer}; null: none. */
    Object timers;
    /** {@link RemoteCalls} that it makes and serves; null: none so far. */
    Object remote;
    /** For each room of {@link Values}, the outermost call that was split by a value: its id + 1, and where its frame was. It may have ended. */
    final int[] openValues = new int[2 * VALUE_ROOMS];
    /** It is known to serve no other process: what can be called remotely is called from here. */
    boolean local;
    /** Number of the thread in {@link JavaThreads}; 0: not known. */
    int javaThread;
    /** The {@link Wait} that goes on; null: none. */
    Object wait;
    private Chain lastChain;

    /** Its thread, as {@link Owner} knows it: only once it has a place among those that are looked at first. */
    long owner = NOBODY;
    /**
     * Empty in the accumulator of ended threads. Final: other threads read it without a lock. They never find a state without its other fields' first values either: HotSpot
     * makes an object with a final field known after all of its constructor.
     */
    final WeakReference<Thread> thread;
    /** Number of the {@link Recording} that it belongs to. */
    final int session = Recording.number;
    /** It has a virtual thread. */
    boolean isVirtual;
    /** Its regions are read by nobody. */
    boolean onTrial;
    /** It keeps the {@link Gate} open. */
    private boolean counted;
    /** Of {@link ThreadTable}. */
    int hash;
    volatile ThreadState next;
    /** Look-ups that had to go through ThreadLocal. */
    int misses;
    /** Number of the thread in this copy's part of the file, from 1; 0 in the accumulator. */
    int ordinal;

    ThreadState(Thread owner) {
        thread = new WeakReference<Thread>(owner);
    }

    /** The number in {@link Contexts} of what is on the stack; 0: nothing. The thread is BUSY. */
    int context() {
        int context = 0;
        for (int i = 0, depth = depth(); i < depth; i++) {
            int idPlusOne = Format.idPlusOne(frame(i));
            if (idPlusOne != Format.LINK_FRAME) {
                context = Contexts.of(context, idPlusOne);
            }
        }
        return context;
    }

    /** What is on the stack; null: nothing. As {@link #context} without a lock: somebody else finds the number. The thread is BUSY. */
    final Chain chain() {
        int node = contextNode();
        if (lastChain != null && lastChain.node == node && node != 0) {
            return lastChain;
        }
        if (lastChain != null && lastChain.isKnown()) {
            contextIs(lastChain.node, lastChain.context());
        }
        lastChain = depth() == 0 ? null : newChain(node);
        return lastChain;
    }

    /** A chain of what is on the stack. */
    Chain newChain(int node) {
        int most = Math.min(depth(), Recording.settings.depth);
        int[] consumers = new int[most + 1];
        int count = 0;
        for (int i = 0; i < most; i++) {
            int idPlusOne = Format.idPlusOne(frame(i));
            if (idPlusOne != Format.LINK_FRAME) {
                consumers[count++] = idPlusOne;
            }
        }
        if (most < depth()) {
            consumers[count++] = Format.DEEPER;
        }
        return new Chain(node, java.util.Arrays.copyOf(consumers, count));
    }

    // ---- slow paths ----

    /**
     * False: the event is not to be recorded. True: the thread is BUSY; the caller makes it {@link #live} again. During a pause this is
     * about calls that began before.
     */
    final boolean begin(int id) {
        if (isOld()) {
            return false;
        }
        if (doubted != 0 && mode == live) {
            settle(alive(0));
        }
        boolean paused = isPaused();
        if (mode == NEW && !paused) {
            arrive();
        }
        if (mode == live) {
            if (live != (Recording.mode & ~1)) {
                catchUp();
            }
            if ((id & ~idMask) != 0) {
                if (!paused) {
                    drop();
                }
                return false;
            }
            mode = BUSY;
            return true;
        }
        if (mode == STOPPED && !paused) {
            drop();
        }
        return false;
    }

    /** It belongs to a recording that is over. */
    final boolean isOld() {
        return session != Recording.number;
    }

    // ---- pauses ----

    /** True: what begins now is not recorded. Never so for a state on trial. */
    final boolean isPaused() {
        int now = Recording.mode;
        return (now & 1) != 0 && live != now;
    }

    /** For a thread that knows of all pauses that ended: ns of the one that goes on. */
    final long paused(long now) {
        return live == Recording.mode ? 0 : Pauses.ns(now) - known;
    }

    /** The thread begins to record, if there is no pause. */
    final void goLive() {
        live = Recording.mode & ~1;
        known = Pauses.ended();
        followKept();
    }

    /** Takes out the time of the pauses that ended since the last event. */
    private void catchUp() {
        int now = Recording.mode & ~1;
        mode = BUSY;
        try {
            // Times must not be shifted by half.
            StackLevels.need(StackLevels.OF_FILE);
            long ended = Pauses.ended();
            takeOut(ended - known);
            known = ended;
            live = now;
            followKept();
            covered();
        } finally {
            mode = live;
        }
    }

    /** Methods may have been added whose calls have their durations kept. The thread is BUSY. */
    void followKept() {}

    /** Closes all frames but so many. */
    void uncover(int frames) {
        arrived(Format.EVENT_CAUGHT, 0);
        closeAbove(frames - 1);
    }

    /** Muted frames may have come or gone. */
    final void covered() {
        if (doubted != 0) {
            return;
        }
        cover(Math.max(beneath + (Recording.roots == null ? 0 : 1), muted.covered()));
        outside();
    }

    /** The lowest so many frames are those of {@link #running}. */
    final void beneath(int frames) {
        beneath = frames;
        covered();
    }

    /** How many those are. */
    final int beneath() {
        return beneath;
    }

    /** What is recorded here begins with its next call, if with any. */
    final boolean isBetween() {
        return mode == OUTSIDE || mode == BENEATH;
    }

    // ---- modes ----

    /** The thread's first event. */
    final void arrive() {
        Recorder.get().arrive(this);
    }

    /** A root method is entered, or a link that was made inside one. */
    final void goInside() {
        mode = BUSY;
        try {
            if (header != null || Recorder.get().attach(this)) {
                goLive();
                isInside(true);
                mode = live;
            }
        } finally {
            if (mode == BUSY) {
                mode = OUTSIDE;
            }
        }
    }

    /** Frames may have been closed: that of the root method was the last one. */
    final void outside() {
        if (doubted == 0 && Recording.roots != null && mode == live && depth() == beneath && muted.isEmpty()) {
            mode = running == null ? OUTSIDE : BENEATH;
            isInside(running != null);
        }
    }

    /** Keeps the {@link Gate} open while the thread is inside a root method. */
    final void isInside(boolean inside) {
        if (inside != counted) {
            counted = inside;
            Gate.count(session, inside ? 1 : -1);
        }
    }

    /** Closes all frames but those of {@link #running}. */
    void abandon() {
        arrived(Format.EVENT_CAUGHT, 0);
        closeAbove(beneath - 1);
    }

    /** Closes what is above a frame. */
    final void closeAbove(int at) {
        while (depth() - 1 > at) {
            long frame = frame(depth() - 1);
            failed(frame);
            closeTop(frame < 0 ? Format.ABORTED : LibraryCalls.isFrame(frame) ? Format.UNWINDS : Format.UNCLOSED);
        }
    }

    // ---- constructors whose super() throws ----

    /**
     * A call has ended by an exception. No handler of a constructor can cover its super(), so pending constructors right beneath end with it, at once: where the
     * exception is caught in code that is not recorded, nothing else tells of it. But code that is not recorded may also have caught it
     * above such a constructor. The next event tells, or if it is an entry, the frames that are really on the stack.
     */
    final void thrown() {
        int depth = depth();
        if (mode != live || doubted != 0 || depth <= beneath || frame(depth - 1) >= 0 || !muted.isEmpty() || isPaused()) {
            return;
        }
        mode = BUSY;
        try {
            int frames = 0;
            while (depth - frames > beneath && isKnownPending(frame(depth - frames - 1))) {
                frames++;
            }
            if (frames == 0) {
                return;
            }
            if (frames > doubtedFrames.length) {
                doubtedFrames = new int[2 * frames];
            }
            for (int i = 0; i < frames; i++) {
                doubtedFrames[i] = (int) (frame(depth - frames + i) >>> 32);
            }
            if (abort(frames)) {
                doubted = frames;
                watched = false;
                hold(true);
            }
        } finally {
            if (mode == BUSY) {
                mode = live;
            }
        }
    }

    /** Of a constructor that can be looked for on the stack. */
    private static boolean isKnownPending(long frame) {
        return frame < 0 && Constructors.hasName((int) (frame >>> 32));
    }

    /** Which of the doubted constructors are really on the stack. See {@link Constructors#isOnTop} for the parameter. */
    final boolean[] alive(int entering) {
        mode = BUSY;
        try {
            return Constructors.alive(this, entering);
        } finally {
            mode = live;
        }
    }

    /** Whether a doubted constructor has this id. */
    final boolean isDoubted(int id) {
        int at = doubted;
        while (at > 0 && (doubtedFrames[at - 1] & 0x7fffffff) != id + 1) {
            at--;
        }
        return at > 0;
    }

    /** If a pending constructor is on top that is suspect, see {@link Constructors}, the next event is not for the fast paths. */
    final void watch() {
        int depth = depth();
        if (doubted == 0 && depth > beneath && frame(depth - 1) < 0 && !onTrial && hasContexts()) {
            watched = Constructors.isSuspect(Format.idPlusOne(frame(depth - 1)) - 1);
            if (watched) {
                hold(true);
            }
        }
    }

    /** An event has come that was not for the fast paths. */
    final void unwatch() {
        if (watched && doubted == 0 && mode == live) {
            watched = false;
            hold(false);
            covered();
        }
    }

    /** The fast paths take nothing that belongs to the topmost frame, and no entry. */
    final boolean isHeld() {
        return doubted != 0 || watched;
    }

    /** The frame of a pending constructor that is found to be gone; no event has told of its end. */
    private void failed(long frame) {
        if (frame < 0 && !onTrial && !isPaused()) {
            Constructors.failed((int) (frame >>> 32));
        }
    }

    /** These of the doubted constructors are there; null: none is. */
    final void settle(boolean[] alive) {
        boolean any = false;
        for (int i = 0; alive != null && i < doubted; i++) {
            any |= alive[i];
        }
        if (any) {
            revive(alive);
        }
        doubted = 0;
        hold(false);
        covered();
    }

    /** Closes the pending constructors whose frames are gone. The thread is BUSY. */
    final void sweep(int entering) {
        boolean[] gone = muted.gone(entering);
        if (gone != null) {
            int depth = depth();
            for (int i = 0; i < depth; i++) {
                if (gone[i]) {
                    failed(frame(i));
                }
            }
            int top = 0;
            while (muted.isEmpty() && top < depth && gone[depth - 1 - top]) {
                top++;
            }
            if (top > 0) {
                closeGone(top);
                depth -= top;
            }
            boolean more = false;
            for (int i = 0; i < depth; i++) {
                more |= gone[i];
            }
            if (more) {
                flag(Format.REPAIRING, true);
                remove(gone);
                flag(Format.REPAIRING, false);
            }
        }
        pendingLimit = Math.max(PENDING_LIMIT, 2 * (pending + muted.pending()));
    }

    // ---- life ----

    /** Moves the figures of an ended thread into the accumulator; false: there was no room, the rest stays. {@link #folded} follows. */
    abstract boolean foldInto(ThreadState sum);

    /** Records on trial, whether there is a pause or not. */
    final void tryOut() {
        onTrial = true;
        live = Recording.mode;
        mode = live;
    }

    /** Uses once what keeps durations. */
    void warmUpDurations() {}

    /** Gives everything back. */
    final void release() {
        mode = STOPPED;
        isInside(false);
        Recording.file.release(header);
        bytecodes.release();
        releaseRegions();
    }

    final void flag(long bit, boolean on) {
        long flags = header.get(Format.THREAD_FLAGS);
        header.put(Format.THREAD_FLAGS, on ? flags | bit : flags & ~bit);
    }

    /** From now on it is no thread's, in whichever place others find it. */
    final void disown() {
        thread.clear();
        owner = 0;
    }

    /** The recorder took time for itself. */
    final void pause(long ns) {
        paused += ns;
        header.put(Format.THREAD_PAUSE, paused);
    }

    /** Ends the recording of this thread; what comes is counted as dropped. */
    final void stop() {
        mode = STOPPED;
        endOfProbe();
        if (header != null) {
            flag(Format.STOPPED, true);
        }
    }

    /** The allocations that were missed are dropped events. */
    final void dropMissed() {
        dropped += missed;
        missed = 0;
        header.put(Format.THREAD_DROPPED, dropped);
    }

    void drop() {
        if (header != null) {
            header.put(Format.THREAD_DROPPED, ++dropped);
        } else if (Recording.file != null) {
            Recording.file.drop();
        }
    }

    // ---- folding ----

    /** What all ways to record have in common; the regions are given back. */
    final void folded(ThreadState sum) {
        Journal.move(sum.header, sum.header, Format.THREAD_DROPPED, dropped, header, Format.THREAD_DROPPED);
        Journal.move(sum.header, sum.header, Format.THREAD_PAUSE, paused, header, Format.THREAD_PAUSE);
        sum.header.put(Format.THREAD_EXTRA, sum.header.get(Format.THREAD_EXTRA) + 1);
        release();
    }
}
