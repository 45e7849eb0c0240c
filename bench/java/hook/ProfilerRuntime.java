package instrument.runtime;

/** What the ASM agent's classes call: a count of the calls of each method, from one thread rightly; or nothing ({@code -Dasm.empty=true}). */
public final class ProfilerRuntime {
    private static final int[] COUNTS = Boolean.getBoolean("asm.empty") ? null : new int[1 << 20];

    private ProfilerRuntime() {}

    public static void methodEntry(int id) {
        if (COUNTS != null) {
            COUNTS[id & COUNTS.length - 1]++;
        }
    }

    public static void methodExit(int id) {
        if (COUNTS != null) {
            COUNTS[id & COUNTS.length - 1]++;
        }
    }
}
