package instrument.runtime;

/** Allocation hooks that do nothing. */
public class HeapProxy {
    public static void ObjectAlloc(Object object) {}

    public static void EarlyObjectAlloc(Object object) {}

    public static void CloneAlloc(Object object) {}

    public static void MultiArrayAlloc(Object array) {}

    public static void ArrayAlloc(Object array) {}

    public static void EarlyArrayAlloc(Object array) {}
}
