package instrument.runtime;

import java.lang.reflect.Field;
import java.nio.LongBuffer;

/** Lets test programs use what other parts of the runtime use. */
public final class Inside {
    private Inside() {}

    /** Only these methods and what they call are recorded. To be called before the first probe. */
    public static void roots(int... ids) {
        long[] roots = new long[4];
        for (int id : ids) {
            roots[id >> 6] |= 1L << id;
        }
        ThreadState.roots = roots;
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
        Field sp = field("sp");
        int before = sp.getInt(state);
        ProfilerRuntime.methodEntry(id);
        sp.setInt(state, before);
        die(state);
    }

    /** Thread.stop cuts the end of a method off: it was counted, and its frame is still on the stack. */
    public static void cutExit(int id) throws Exception {
        ThreadState state = state();
        Field sp = field("sp");
        LongBuffer words = (LongBuffer) field("words").get(state);
        ProfilerRuntime.methodEntry(id);
        int top = sp.getInt(state);
        long frame = words.get(top - 2);
        ProfilerRuntime.methodExit(id);
        sp.setInt(state, top);
        words.put(top - 2, frame);
        die(state);
    }

    private static void die(ThreadState state) {
        try {
            ProfilerRuntime.failed(state, new ThreadDeath());
        } catch (ThreadDeath e) {
            return;
        }
        throw new AssertionError("ThreadDeath does not go on");
    }

    private static Field field(String name) throws Exception {
        Class<?> type = TreeState.class;
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
        ThreadState state = ProfilerRuntime.current();
        return state != null ? state : ProfilerRuntime.newState();
    }
}
