package instrument.runtime;

import java.lang.invoke.MethodHandle;

/** The hook of the reflection transform, recording for the judge. */
public final class ReflectedCalls {
    private ReflectedCalls() {}

    public static void calling(Object target) {
        // The class of a method handle is the JDK's own.
        Recorder.other("reflected " + (target instanceof MethodHandle ? "MethodHandle" : target.getClass().getSimpleName()));
    }
}
