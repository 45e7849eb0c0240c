package instrument.runtime;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/** The remote calls of a thread that are open, made and served ones, the innermost on top. */
abstract class RemoteCallStack {
    /** Open calls of a thread at most: more are calls whose end nobody tells. */
    static final int MOST = 64;

    private static final AtomicInteger NUMBER = new AtomicInteger();

    final ThreadState state;
    /** What the thread is when it is not BUSY. */
    int mode;

    RemoteCall[] open = new RemoteCall[4];
    int depth;
    private int tokens;
    final RemoteIds ids = new RemoteIds();

    RemoteCallStack(ThreadState state) {
        this.state = state;
    }

    final int thread() {
        return state.header == null ? 0 : state.ordinal;
    }

    final void busy() {
        mode = state.mode;
        state.mode = ThreadState.BUSY;
    }

    final RemoteCall push() {
        if (depth == MOST) {
            open[0].flag(RemoteCall.FAILED);
            remove(0);
        }
        if (depth == open.length) {
            open = Arrays.copyOf(open, 2 * depth);
        }
        RemoteCall call = open[depth];
        if (call == null) {
            call = new RemoteCall();
            open[depth] = call;
        }
        call.clear();
        depth++;
        return call;
    }

    /** As {@link #push}, with a place in the file. */
    final RemoteCall record() {
        RemoteCall call = push();
        RemoteLog.place(call);
        return call;
    }

    final void remove(int at) {
        RemoteCall call = open[at];
        if (call.isShared()) {
            give(at);
            return;
        }
        call.clear();
        System.arraycopy(open, at + 1, open, at, depth - at - 1);
        open[--depth] = call;
    }

    final int lastServed() {
        return last(RemoteCall.SERVED);
    }

    final int last(int kind) {
        int at = depth - 1;
        while (at >= 0 && open[at].kind != kind) {
            at--;
        }
        return at;
    }

    /** A number for a request by HTTP; not 0. */
    final int token() {
        tokens++;
        return tokens == 0 ? ++tokens : tokens;
    }

    /** The place of the request with a number; negative: it is not open in this thread. */
    final int find(int token) {
        int at = depth - 1;
        while (at >= 0 && (open[at].http == null || open[at].http.token != token)) {
            at--;
        }
        return at;
    }

    /** The innermost request that the thread serves; null: it serves none. */
    private RemoteCall serving() {
        int at = depth - 1;
        while (at >= 0 && !open[at].isServedRequest()) {
            at--;
        }
        return at < 0 ? null : open[at];
    }

    /** The key of the innermost request with a key that the thread serves; null: it serves none. */
    final TraceParent within() {
        int at = depth - 1;
        while (at >= 0 && !(open[at].isServedRequest() && open[at].http.hasKey)) {
            at--;
        }
        return at < 0 ? null : open[at].http.parent;
    }

    /** The number of the request that the thread serves; 0: it serves none, or none with a number. */
    final int numberWithin() {
        RemoteCall serving = serving();
        return serving == null ? 0 : serving.number;
    }

    /** Whether the thread has a call. */
    final boolean has(RemoteCall call) {
        for (int at = 0; at < depth; at++) {
            if (open[at].isSame(call)) {
                return true;
            }
        }
        return false;
    }

    /** A call goes on without the thread. */
    final void give(int at) {
        System.arraycopy(open, at + 1, open, at, depth - at - 1);
        open[--depth] = null;
    }

    /** It goes on in this one. */
    final void take(RemoteCall call) {
        push();
        open[depth - 1] = call;
    }

    /** The call that is served, or null. */
    final RemoteCall served() {
        int at = lastServed();
        return at < 0 ? null : open[at];
    }

    /** Whether what the thread does now it does on behalf of a link. */
    final boolean enterLink(int link) {
        if (link == 0 || mode != state.live) {
            return false;
        }
        state.mode = mode;
        boolean isEntered = LinkFrames.enter(state, link);
        busy();
        return isEntered;
    }

    final void leave(RemoteCall call) {
        if (call.isServed() && call.isEntered) {
            state.mode = mode;
            LinkFrames.leave(state, call.link);
            busy();
        }
    }

    /** Ends all from a place on as failed. */
    final void fail(int from, long now) {
        while (depth > from) {
            RemoteCall call = open[depth - 1];
            if (call.begun) {
                call.flag(RemoteCall.FAILED);
                leave(call);
                call.end(now);
            }
            remove(depth - 1);
        }
    }

    // ---- what several threads may do for a call, one after the other ----

    /** Another number for a call that is served, by which what is made within it can say so in any thread. */
    static int nextNumber() {
        int number = NUMBER.incrementAndGet();
        return number == 0 ? NUMBER.incrementAndGet() : number;
    }

    /** What the thread does now it does for the call on top of its stack, until it {@link #letGo lets go} by this token. */
    final int enter(RemoteCall call) {
        call.isEntered = enterLink(call.link);
        return call.http.token = token();
    }

    /** The same of a call that another thread may have had before. */
    final int resume(RemoteCall call) {
        take(call);
        return enter(call);
    }

    /** The same of a call that other threads may have at the same time: what a thread has of it is its own. */
    final int share(RemoteCall call) {
        RemoteCall mine = push();
        mine.same(call);
        return enter(mine);
    }

    /** Null: the thread does not have it. */
    final RemoteCall letGo(int token, long now) {
        int at = find(token);
        if (at < 0) {
            return null;
        }
        fail(at + 1, now);
        RemoteCall call = open[at];
        leave(call);
        call.isEntered = false;
        give(at);
        return call;
    }
}
