package instrument.runtime;

/** The ends of calls that count their instructions, as any other; the judge of the counts is a JVM, see tests/tests/bytecodes.rs. */
public final class Bytecodes {
    private Bytecodes() {}

    public static void methodExit(int id, int count) {
        ProfilerRuntime.methodExit(id);
    }

    public static void methodExit(int id, long count) {
        ProfilerRuntime.methodExit(id);
    }

    public static void methodUnwind(int id, int count) {
        ProfilerRuntime.methodUnwind(id);
    }

    public static void methodUnwind(int id, long count) {
        ProfilerRuntime.methodUnwind(id);
    }

    public static void pending(int id, int count) {}
}
