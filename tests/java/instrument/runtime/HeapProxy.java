package instrument.runtime;

/** The hooks of the allocation transform, recording for the judge. */
public final class HeapProxy {
    private HeapProxy() {}

    public static void ObjectAlloc(Object object) {
        Recorder.allocation(object);
    }

    public static void ArrayAlloc(Object array) {
        Recorder.allocation(array);
    }
}
