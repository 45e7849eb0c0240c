package instrument.runtime;

import java.nio.ByteBuffer;
import jdk.internal.misc.Unsafe;

/** Words of a mapping, by the class that the JDK itself uses. As {@link UnsupportedWords}: the two classes of the JDK have no type in common. */
final class InternalWords extends Words {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    /** Where a thread has its number; -1: that is not known. */
    private static final long NUMBER = numbers();

    private final long address;
    /** Keeps the mapping. */
    private final ByteBuffer bytes;

    private InternalWords(ByteBuffer bytes, long address) {
        this.bytes = bytes;
        this.address = address;
    }

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static Words create(ByteBuffer bytes) {
        return new InternalWords(bytes, address(bytes));
    }

    /** Whether this virtual machine lets us. */
    static boolean works() {
        try {
            return address(ByteBuffer.allocateDirect(8)) != 0;
        } catch (RuntimeException e) {
            return false;
        } catch (LinkageError e) {
            return false;
        }
    }

    private static long numbers() {
        try {
            return UNSAFE.objectFieldOffset(numberField());
        } catch (NoSuchFieldException e) {
            return -1;
        } catch (RuntimeException e) {
            return -1;
        } catch (LinkageError e) {
            return -1;
        }
    }

    private static long address(ByteBuffer bytes) {
        try {
            return UNSAFE.getLong(bytes, UNSAFE.objectFieldOffset(addressField()));
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The number of a thread; 0 while it is being constructed. */
    static long number(Thread thread) {
        return UNSAFE.getLong(thread, NUMBER);
    }

    /** Whether {@link #number} works. */
    static boolean numbersThreads() {
        return NUMBER > 0 && number(Thread.currentThread()) > 0;
    }

    @Override
    long get(int index) {
        return UNSAFE.getLong(address + ((long) index << 3));
    }

    @Override
    void put(int index, long value) {
        UNSAFE.putLong(address + ((long) index << 3), value);
    }

    @Override
    long place(int index) {
        return address + ((long) index << 3);
    }

    static long get(long place) {
        return UNSAFE.getLong(place);
    }

    static void put(long place, long value) {
        UNSAFE.putLong(place, value);
    }

    static int upper(long place) {
        return UNSAFE.getInt(place + 4);
    }
}
