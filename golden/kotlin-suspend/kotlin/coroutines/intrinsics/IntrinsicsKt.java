package kotlin.coroutines.intrinsics;

public final class IntrinsicsKt {
    private static final Object SUSPENDED = new Object();

    public static Object getCOROUTINE_SUSPENDED() {
        return SUSPENDED;
    }
}
