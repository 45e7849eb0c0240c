package sun.misc;

/** What the recorder needs of the JDK's class, which no compiler shows for Java 8. Compiled against, and not shipped. */
public final class Unsafe {
    public native int getInt(long address);

    public native long getLong(long address);

    public native void putLong(long address, long value);

    public native long getLong(Object object, long offset);

    public native long objectFieldOffset(java.lang.reflect.Field field);
}
