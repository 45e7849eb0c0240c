package instrument.runtime;

/** Probes that do nothing, for java.base, where the runtime proper cannot live yet. */
public class ProfilerRuntime {
    public static void methodEntry(int id) {}

    public static void constructorEntry(int id) {}

    public static void superReturned(int id) {}

    public static void exceptionCaught(int id) {}

    public static void methodExit(int id) {}

    public static void methodUnwind(int id) {}
}
