package instrument.runtime;

import java.util.HashMap;
import java.util.Map;

/**
 * Calls of one thread that began before the recording and are open still: that of a root, and those above it whose methods have probes
 * now. Their own code has none, so nothing tells of their ends. The agent finds them on the stacks, and the thread takes them over at the
 * next call that is entered while nothing else is open: each becomes a link frame at the bottom of the shadow stack, of a link that
 * nobody made, whose method is a property of the file.
 *
 * <p>While nothing is open above them the thread is {@link ThreadState#BENEATH}. Then each call that is entered is one that they make, or
 * they are over: the thread looks at its real stack first. Mostly a place and a method tell, for the virtual machine takes the code that runs out
 * for a method of its own, and no call begins with it any more. Where it gives old and new code one name, a call that is just being entered
 * is none of them: the recorder stands right above it. Where the innermost is, those under it are.
 */
final class Running {
    private static final Object LOCK = new Object();
    /** Those that their threads have not taken over. Guarded, as what follows. */
    private static Running[] waiting = new Running[4];
    private static int count;
    /** What the agent tells of next. */
    private static Running next;
    /** Links by id. */
    private static final Map<Integer, Integer> LINKS = new HashMap<Integer, Integer>();
    /** How often something was found: a thread looks once for each time. */
    private static volatile int news;

    /** Null: it has taken them over. */
    private Thread thread;
    /** Place on the real stack, from the bottom; the virtual machine's name of the method; and the link. Outermost first. */
    private int[] places = new int[4];
    private long[] methods = new long[4];
    /** No call that begins now can have this name. */
    private boolean[] apart = new boolean[4];
    /** None of those under it has the same method. */
    private boolean[] alone = new boolean[4];
    private int[] links = new int[4];
    /** How many there are. */
    private int open;

    private Running(Thread thread) {
        this.thread = thread;
    }

    // ---- the agent ----

    /** One of them, the outermost of a thread first; {@link #publish} follows. {@code apart}: no call that begins now has this name of a method. */
    static void found(Thread thread, int place, int id, long method, boolean apart) {
        synchronized (LOCK) {
            if (next == null || next.thread != thread) {
                next = new Running(thread);
            }
            boolean isNamed = Recording.settings.record != Settings.COUNTS;
            int link = isNamed ? link(id) : 0;
            if (link != 0 || !isNamed) {
                next.add(place, method, apart, link);
            }
        }
    }

    /** Those that were found last are all of a thread: it takes them over, in the place of what it had. */
    static void publish() {
        synchronized (LOCK) {
            Running found = next;
            next = null;
            if (found == null) {
                return;
            }
            for (int i = 0; i < count; i++) {
                if (waiting[i].thread == found.thread) {
                    waiting[i] = found;
                    news++;
                    return;
                }
            }
            if (count == waiting.length) {
                waiting = java.util.Arrays.copyOf(waiting, 2 * count);
            }
            waiting[count++] = found;
            Gate.count(1);
            news++;
        }
    }

    private void add(int place, long method, boolean isApart, int link) {
        if (open == places.length) {
            places = java.util.Arrays.copyOf(places, 2 * open);
            methods = java.util.Arrays.copyOf(methods, 2 * open);
            apart = java.util.Arrays.copyOf(apart, 2 * open);
            alone = java.util.Arrays.copyOf(alone, 2 * open);
            links = java.util.Arrays.copyOf(links, 2 * open);
        }
        alone[open] = true;
        for (int i = 0; i < open; i++) {
            alone[open] &= methods[i] != method;
        }
        apart[open] = isApart;
        places[open] = place;
        methods[open] = method;
        links[open++] = link;
    }

    /** The number of the link with a method; 0: there is no room. */
    private static int link(int id) {
        Integer known = LINKS.get(id);
        if (known == null) {
            known = Links.unmade(Links.RUNNING);
            if (known != 0) {
                LINKS.put(id, known);
                Recording.file.write(Format.PROPERTIES, "running." + known + "=" + id + "\n");
            }
        }
        return known;
    }

    /** Threads that have ended take nothing over. */
    static void forgetEnded() {
        synchronized (LOCK) {
            for (int i = count - 1; i >= 0; i--) {
                if (!waiting[i].thread.isAlive()) {
                    remove(i);
                    Gate.count(-1);
                }
            }
        }
    }

    private static void remove(int at) {
        waiting[at] = waiting[--count];
        waiting[count] = null;
    }

    /** Another recording begins. */
    static void renew() {
        synchronized (LOCK) {
            waiting = new Running[4];
            count = 0;
            next = null;
            LINKS.clear();
        }
    }

    // ---- a thread ----

    /** A call is about to be entered by a thread on whose shadow stack nothing is: whether it has to {@link #look}. */
    static boolean isDue(ThreadState state) {
        return state.mode == ThreadState.BENEATH || state.mode == ThreadState.OUTSIDE && state.news != news && state.muted.isEmpty();
    }

    /** The thread records afterwards, or is OUTSIDE. */
    static void look(ThreadState state) {
        int now = news;
        Running fresh = state.news == now ? null : find(Thread.currentThread());
        int there = fresh == null ? 0 : fresh.there();
        if (state.mode == ThreadState.BENEATH) {
            Running open = (Running) state.running;
            open.leave(state, fresh == null ? open.there() : 0);
        }
        state.news = now;
        if (fresh != null && fresh.take()) {
            try {
                fresh.open = there;
                fresh.begin(state);
            } finally {
                // Not before: the gate is open for this thread all the time.
                Gate.count(state.session, -1);
            }
        }
    }

    private static Running find(Thread thread) {
        synchronized (LOCK) {
            for (int i = 0; i < count; i++) {
                if (waiting[i].thread == thread) {
                    return waiting[i];
                }
            }
        }
        return null;
    }

    /** False: others have come in its place, and will be looked for. */
    private boolean take() {
        synchronized (LOCK) {
            for (int i = 0; i < count; i++) {
                if (waiting[i] == this) {
                    remove(i);
                    thread = null;
                    return true;
                }
            }
        }
        return false;
    }

    /** How many of them are there still. */
    private int there() {
        int there = open;
        while (there > 0 && !isThere(there - 1)) {
            there--;
        }
        return there;
    }

    private boolean isThere(int i) {
        return isThere(places[i], methods[i], apart[i], apart[i] && alone[i]);
    }

    /**
     * Whether this method is at this place of the current thread's stack; {@code alone}: it is at no other place; not {@code apart}: a call that enters the
     * recorder from there is another one.
     */
    private static native boolean isThere(int place, long method, boolean apart, boolean alone);

    /** The thread is OUTSIDE. */
    private void begin(ThreadState state) {
        if (open == 0) {
            return;
        }
        state.goInside();
        if (!state.begin(0)) {
            return;
        }
        boolean room = true;
        try {
            for (int i = 0; i < open && room; i++) {
                room = state.pushLink(links[i]);
            }
            state.running = this;
            state.beneath(state.depth());
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
        if (!room) {
            state.stop();
            state.drop();
        }
    }

    /** All but the outermost so many are over. The thread is BENEATH. */
    private void leave(ThreadState state, int left) {
        state.mode = state.live;
        if (left < open && state.begin(0)) {
            try {
                while (open > left && (state.depth() == 0 || state.arrived(Format.EVENT_LINK_LEFT, links[open - 1]))) {
                    open--;
                    if (state.depth() != 0) {
                        state.closeTop(Format.EXITS);
                    }
                }
                state.beneath(state.depth());
            } finally {
                if (state.mode == ThreadState.BUSY) {
                    state.mode = state.live;
                }
            }
        }
        if (open == 0 && state.mode == state.live) {
            state.running = null;
            state.mode = ThreadState.OUTSIDE;
            state.isInside(false);
        }
    }
}
