package p_q;

import java.util.function.IntSupplier;

/** The native code has the names that JNI gives to exported functions. */
class Exported {
    static {
        System.loadLibrary("exported");
    }

    static native int add(int a, int b);

    static native long add(long a, long b);

    @Deprecated
    public native String greet(String name) throws java.io.IOException;

    private native int secret();

    int callSecret() {
        return secret();
    }

    synchronized native void locked(Runnable inside);

    static synchronized native void lockedClass(Runnable inside);

    static native int under_score();

    static native int größe();

    static native int back(IntSupplier asked);

    /** Calls {@link #add(int, int)} through JNI. */
    static native int again();

    native void fail(String message);

    static native void spin(long ms);

    /** There is no such function. */
    static native void missing();

    double mixed(long a, double b, String c, float d, int e) {
        return mixed(a, b, new Object[] {c}, d, (byte) e);
    }

    private native double mixed(long a, double b, Object[] c, float d, byte e);
}

class Base {
    native int value();
}

class Sub extends Base {
    @Override
    native int value();

    int both() {
        return super.value() + value();
    }
}

abstract class Shape {
    abstract int area();
}

final class Square extends Shape {
    @Override
    native int area();
}

interface Source {
    int next();
}

final class Counter implements Source {
    @Override
    public native int next();
}
