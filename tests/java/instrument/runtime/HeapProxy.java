package instrument.runtime;

/** The hooks of the allocation transform, recording for the judge. */
public final class HeapProxy {
    private HeapProxy() {}

    public static void ObjectAlloc(Object object) {
        Recorder.allocation(object);
    }

    public static void CloneAlloc(Object object) {
        Recorder.allocation(object);
    }

    public static void ArrayAlloc(Object array) {
        Recorder.allocation(array);
    }

    public static void MultiArrayAlloc(Object array) {
        Recorder.allocation(array);
        if (array instanceof Object[] && array.getClass().getComponentType().isArray()) {
            for (Object element : (Object[]) array) {
                if (element != null) {
                    MultiArrayAlloc(element);
                }
            }
        }
    }
}
