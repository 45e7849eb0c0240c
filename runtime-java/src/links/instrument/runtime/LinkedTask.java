package instrument.runtime;

/** A wrapped task: what it does is recorded under the frame of its link. */
abstract class LinkedTask {
    private final int link;
    final Object task;

    LinkedTask(int link, Object task) {
        this.link = link;
        this.task = task;
    }

    /** Opens the frame; null: it could not be opened. */
    final ThreadState enter() {
        return enter(link);
    }

    final void leave(ThreadState state) {
        leave(state, link);
    }

    @Override
    public final String toString() {
        return task.toString();
    }

    /** Opens the frame of a link; null: it could not be opened. */
    static ThreadState enter(int link) {
        ThreadState state = null;
        try {
            state = CurrentThread.fresh();
            if (state == null) {
                state = CurrentThread.newState();
            }
            return state != null && LinkFrames.enter(state, link) ? state : null;
        } catch (StackOverflowError e) {
            return null;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
            return null;
        }
    }

    /** Closes the frame that was opened; null: none was. */
    static void leave(ThreadState state, int link) {
        if (state == null) {
            return;
        }
        try {
            LinkFrames.leave(state, link);
        } catch (StackOverflowError e) {
            // The frame stays open until one beneath it closes.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }
}
