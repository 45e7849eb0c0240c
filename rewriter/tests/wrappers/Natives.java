// javac --release 8 -g:none -parameters Natives.java
abstract class Natives {
    public native int sum(int a, long b, float c, double d, String e, int[] f, byte g);

    static native void none();

    synchronized native <T extends Exception> double rate(long a) throws T;

    static final native String text(boolean z, char c, short s, float f);

    private native long[] many(double a, double b);

    static native float half(long a);

    native long twice();

    abstract void left();

    void own() {
        none();
    }
}
