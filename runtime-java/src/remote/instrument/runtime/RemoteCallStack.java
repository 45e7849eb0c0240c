package instrument.runtime;

import java.util.Arrays;

/** The remote calls of a thread that are open, made and served ones, the innermost on top. */
abstract class RemoteCallStack {
    /** Open calls of a thread at most: more are calls whose end nobody tells. */
    static final int MOST = 64;

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

    /** The key of the request by HTTP that the thread serves; null: it serves none, or none with a key. */
    final TraceParent within() {
        int at = last(RemoteCall.HTTP_SERVED);
        return at >= 0 && open[at].http.hasKey ? open[at].http.parent : null;
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
}
