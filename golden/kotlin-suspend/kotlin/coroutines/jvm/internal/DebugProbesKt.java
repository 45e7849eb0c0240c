package kotlin.coroutines.jvm.internal;

import kotlin.coroutines.Continuation;

public final class DebugProbesKt {
    public static void probeCoroutineSuspended(Continuation<?> continuation) {}
}
