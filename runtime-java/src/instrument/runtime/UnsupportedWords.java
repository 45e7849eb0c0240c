package instrument.runtime;

import java.nio.ByteBuffer;
import sun.misc.Unsafe;

/** Words of a mapping, by the class that the module jdk.unsupported has. */
final class UnsupportedWords extends Words {
    private static final Unsafe UNSAFE = unsafe();

    private final long address;
    /** Keeps the mapping. */
    private final ByteBuffer bytes;

    private UnsupportedWords(ByteBuffer bytes, long address) {
        this.bytes = bytes;
        this.address = address;
    }

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static Words create(ByteBuffer bytes) {
        return new UnsupportedWords(bytes, address(bytes));
    }

    /** Whether this virtual machine lets us. */
    static boolean works() {
        try {
            return UNSAFE != null && address(ByteBuffer.allocateDirect(8)) != 0;
        } catch (RuntimeException e) {
            return false;
        } catch (LinkageError e) {
            return false;
        }
    }

    private static long address(ByteBuffer bytes) {
        try {
            return UNSAFE.getLong(bytes, UNSAFE.objectFieldOffset(addressField()));
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Unsafe unsafe() {
        try {
            java.lang.reflect.Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            return null;
        } catch (RuntimeException e) {
            return null;
        } catch (LinkageError e) {
            return null;
        }
    }

    @Override
    long get(int index) {
        return UNSAFE.getLong(address + ((long) index << 3));
    }

    @Override
    void put(int index, long value) {
        UNSAFE.putLong(address + ((long) index << 3), value);
    }
}
