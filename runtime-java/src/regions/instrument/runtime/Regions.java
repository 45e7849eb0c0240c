package instrument.runtime;

/**
 * How long code regions take: two readings of the clock for each passage, a sum and the last passages in the file. Events of
 * a thread find its timer of the region. A region with a negative number is {@link MachineWork}. Like entry probes, {@link #begin}
 * lets StackOverflowError through, having recorded nothing.
 */
public final class Regions {
    private Regions() {}

    /** Control enters a region. */
    public static void begin(int number) {
        ThreadState state = null;
        try {
            if (MachineWork.is(number)) {
                MachineWork.begin(number);
                return;
            }
            state = CurrentThread.fresh();
            if (state == null) {
                state = CurrentThread.newState();
            }
            RegionTimer timer = state == null ? null : find(state, number);
            if (timer == null && state != null) {
                timer = RegionTimer.add(state, number);
            }
            if (timer != null) {
                timer.begin();
            }
        } catch (StackOverflowError e) {
            // What the virtual machine does goes on: it is only not recorded.
            if (!MachineWork.is(number)) {
                throw e;
            }
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** Control leaves a region by itself. */
    public static void end(int number) {
        ThreadState state = null;
        try {
            if (MachineWork.is(number)) {
                MachineWork.end(number);
                return;
            }
            long now = Clock.now();
            state = CurrentThread.fresh();
            RegionTimer timer = state == null ? null : find(state, number);
            if (timer != null) {
                timer.end(now);
            }
        } catch (StackOverflowError e) {
            // The passage stays open until there are too many such.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    /** An exception leaves a region. */
    public static void left(int number) {
        ThreadState state = null;
        try {
            if (MachineWork.is(number)) {
                MachineWork.end(number);
                return;
            }
            state = CurrentThread.fresh();
            RegionTimer timer = state == null ? null : find(state, number);
            if (timer != null) {
                timer.left();
            }
        } catch (StackOverflowError e) {
            // The passage stays open until there are too many such.
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
    }

    private static RegionTimer find(ThreadState state, int number) {
        RegionTimer timer = (RegionTimer) state.timers;
        while (timer != null && timer.number != number) {
            timer = timer.next;
        }
        return timer;
    }

    /** Adds the timings of an ended thread to those of all ended ones. */
    static void folded(ThreadState state, ThreadState sum) {
        for (RegionTimer from = (RegionTimer) state.timers; from != null; from = from.next) {
            RegionTimer to = find(sum, from.number);
            if (to == null) {
                to = RegionTimer.create(sum, from.number);
            }
            if (to == null) {
                return;
            }
            from.foldInto(to, sum);
            state.timers = from.next;
        }
    }
}
