package instrument.runtime;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * How often lines and branches are executed. A method asks for the array that it counts in when it is called, and increases the elements itself:
 * one array for each thread, so that nothing is lost between threads. They are in memory until the recording ends; then their sums go into the
 * file. A call counts if it is recorded when it begins.
 */
public final class Lines {
    /** What calls count in that are not recorded. Nobody reads it. Grows to what the methods that were called need, which few programs do. */
    private static long[] nowhere = {};
    /** Bytes of a region; more where one method alone has more. */
    private static final int PART = 1 << 20;

    /** The sums of threads that have ended. Under the lock of {@link Threads}. */
    private static LineTable ended = new LineTable();

    private Lines() {}

    /** A method with so many counters is called. {@code check}: which code it is. Lets StackOverflowError through. */
    public static long[] counters(int id, int count, int check) {
        if (!Gate.isOpen(id)) {
            return nowhere(count);
        }
        StackReserve.frame();
        ThreadState state = null;
        try {
            state = CurrentThread.current();
            if (state == null) {
                state = CurrentThread.newState();
            }
            if (state != null) {
                long[] known = state.mode == Gate.recording() ? state.lines.find(LineTable.key(id, check)) : null;
                return known != null ? known : slowly(state, id, count, check, null);
            }
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            CurrentThread.failed(state, e);
        }
        return nowhere(count);
    }

    private static long[] nowhere(int count) {
        long[] known = nowhere;
        if (known.length < count) {
            known = new long[Math.max(count, 2 * known.length)];
            nowhere = known;
        }
        return known;
    }

    private static long[] slowly(ThreadState known, int id, int count, int check, NotInlined none) {
        ThreadState state = known.isOld() ? CurrentThread.renewed(known) : known;
        if (state.isPaused()) {
            return nowhere(count);
        }
        if (state.mode == ThreadState.NEW) {
            state.arrive();
        }
        if (Running.isDue(state)) {
            Running.look(state);
        }
        if (state.mode == ThreadState.OUTSIDE && Recording.isRoot(id)) {
            state.goInside();
        }
        if (!state.begin(id)) {
            return nowhere(count);
        }
        try {
            // A table that grows must not be left half done.
            StackLevels.need(StackLevels.OF_FILE);
            return state.lines.get(LineTable.key(id, check), count);
        } finally {
            if (state.mode == ThreadState.BUSY) {
                state.mode = state.live;
            }
        }
    }

    /** Another recording begins. */
    static void renew() {
        ended = new LineTable();
    }

    /** A thread has ended. Under the lock of {@link Threads}. */
    static void ended(ThreadState state) {
        state.lines.addTo(ended);
    }

    /** What the threads that have ended have counted. Under the lock of {@link Threads}. */
    static LineTable sumOfEnded() {
        LineTable sum = new LineTable();
        ended.addTo(sum);
        return sum;
    }

    /** Writes the sums of all threads, once, when the recording ends: those of {@link Threads#lines}. */
    static void write(ProfileFile file, LineTable sum) {
        byte[] part = {};
        int used = 0;
        for (long[] counters : sum.all()) {
            if (counters == null) {
                continue;
            }
            int count = counters.length - 1;
            int more = 16 + 8 * count;
            if (used > 0 && used + more > PART) {
                if (!write(file, part, used)) {
                    return;
                }
                used = 0;
            }
            if (used + more > part.length) {
                part = Arrays.copyOf(part, Math.max(used + more, Math.min(PART, 2 * part.length)));
            }
            ByteBuffer record = ByteBuffer.wrap(part, used, more).order(ByteOrder.LITTLE_ENDIAN);
            record.putLong(LineTable.keyOf(counters)).putInt(count).putInt(0);
            for (int i = 0; i < count; i++) {
                record.putLong(counters[i]);
            }
            used += more;
        }
        if (used > 0) {
            write(file, part, used);
        }
    }

    private static boolean write(ProfileFile file, byte[] part, int used) {
        boolean room = file.write(Format.LINES, part, used);
        if (!room) {
            Log.say("there is no room in the profile for the counts of lines: raise instrument.limit");
        }
        return room;
    }
}
