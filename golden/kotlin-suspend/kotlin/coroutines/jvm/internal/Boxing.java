package kotlin.coroutines.jvm.internal;

public final class Boxing {
    public static Integer boxInt(int n) {
        return n;
    }

    public static Long boxLong(long n) {
        return n;
    }
}
