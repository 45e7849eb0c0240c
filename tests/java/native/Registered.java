package p_q;

/** JNI_OnLoad registers its native methods. */
final class Registered {
    static native int twice(int number);

    static native String twice(String text);

    synchronized native boolean locked();

    native void fail(String message);
}

/** Its static initialiser registers them. */
final class SelfRegistered {
    static {
        registerNatives();
    }

    private static native void registerNatives();

    static native int three(int number);

    private native long own(long number);

    long callOwn(long number) {
        return own(number);
    }
}
