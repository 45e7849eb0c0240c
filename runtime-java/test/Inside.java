package instrument.runtime;

import java.lang.reflect.Field;

/** Lets test programs use what other parts of the runtime use. */
public final class Inside {
    private Inside() {}

    /** Only these methods and what they call are recorded. To be called before the first probe. */
    public static void roots(int... ids) {
        long[] roots = new long[4];
        for (int id : ids) {
            roots[id >> 6] |= 1L << id;
        }
        Recording.roots = roots;
    }

    /** Durations of the calls of this method are kept. To be called before its first one. */
    public static void keep(int id) {
        Kept.add(id, Kept.NO_THRESHOLD);
    }

    public static boolean enterLink(int link) {
        return LinkFrames.enter(state(), link);
    }

    public static void leaveLink(int link) {
        LinkFrames.leave(state(), link);
    }

    public static void linkMade(int link) {
        LinkFrames.made(state(), link);
    }

    /** Pauses or resumes recording. */
    public static void pause(boolean on) {
        Pauses.set(on);
    }

    public static int contextNode() {
        return state().contextNode();
    }

    /** Thread.stop cuts the entry of a method off: it was counted, and its frame is not on the stack. */
    public static void cutEntry(int id) throws Exception {
        ThreadState state = state();
        Field sp = place(state);
        Object before = sp.get(state);
        ProfilerRuntime.methodEntry(id);
        sp.set(state, before);
        die(state);
    }

    /** Thread.stop cuts the end of a method off: it was counted, and its frame is still on the stack. */
    public static void cutExit(int id) throws Exception {
        ThreadState state = state();
        Field sp = place(state);
        ProfilerRuntime.methodEntry(id);
        Object top = sp.get(state);
        if (state instanceof TraceState) {
            Field depth = field(state, "depth");
            Field last = field(state, "last");
            int frames = depth.getInt(state);
            long clock = last.getLong(state);
            ProfilerRuntime.methodExit(id);
            depth.setInt(state, frames);
            last.setLong(state, clock);
        } else if (state instanceof CountsState) {
            Words words = (Words) field(state, "words").get(state);
            long at = (Long) top - 8;
            long frame = Memory.get(words, at);
            ProfilerRuntime.methodExit(id);
            Memory.put(words, at, frame);
        } else {
            Words words = (Words) field(state, "words").get(state);
            int at = (Integer) top - 2;
            long frame = words.get(at);
            ProfilerRuntime.methodExit(id);
            words.put(at, frame);
        }
        sp.set(state, top);
        die(state);
    }

    private static void die(ThreadState state) {
        try {
            CurrentThread.failed(state, new ThreadDeath());
        } catch (ThreadDeath e) {
            return;
        }
        throw new AssertionError("ThreadDeath does not go on");
    }

    /** What is written last: the top of the stack, or the place of the next event. */
    private static Field place(ThreadState state) throws Exception {
        return field(state, state instanceof TraceState ? "next" : "sp");
    }

    private static Field field(ThreadState state, String name) throws Exception {
        Class<?> type = state.getClass();
        while (true) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field;
            } catch (NoSuchFieldException e) {
                type = type.getSuperclass();
            }
        }
    }

    private static ThreadState state() {
        ThreadState state = CurrentThread.current();
        return state != null ? state : CurrentThread.newState();
    }
}
