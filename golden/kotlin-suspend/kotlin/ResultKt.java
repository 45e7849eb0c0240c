package kotlin;

public final class ResultKt {
    public static void throwOnFailure(Object result) throws Throwable {
        if (result instanceof Throwable) {
            throw (Throwable) result;
        }
    }
}
