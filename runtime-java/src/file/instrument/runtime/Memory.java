package instrument.runtime;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import jdk.internal.misc.Unsafe;

/**
 * The way to the {@link Words} of mappings: the best one that this virtual machine gives. A process loads only one of the subclasses, so the calls to it are bound when
 * they are compiled.
 *
 * <p>An access by {@link LongBuffer} is a dozen of nested calls with three checks: compiled, the probes are then too large to be made a part of
 * their callers, and keep these from having parts of their own. The others check nothing. An index must be below the end of the mapping; nothing but the recorder's own
 * regions is ever asked for.
 */
final class Memory {
    /** By {@link LongBuffer}: works everywhere. */
    static final int BUFFER = 0;
    /** By {@code sun.misc.Unsafe}: on class paths and where the module jdk.unsupported is, if Java does not warn of it. */
    static final int UNSUPPORTED = 1;
    /** By {@code jdk.internal.misc.Unsafe}: where its package is exported to the recorder, by the agent or by {@code --add-exports}. */
    static final int INTERNAL = 2;

    /** The version of Java that warns when a program uses {@code sun.misc.Unsafe}, unless this property allows it: {@code --sun-misc-unsafe-memory-access}. */
    private static final int WARNS = 24;
    private static final String ALLOWS = "sun.misc.unsafe.memory.access";

    private static final int WAY = way();

    private Memory() {}

    // Words by place: the compiled probes need not look for the mapping, nor compute anything.

    static long get(Words words, long place) {
        return WAY == UNSUPPORTED ? UnsupportedWords.get(place) : WAY == INTERNAL ? InternalWords.get(place) : words.get((int) (place >> 3));
    }

    static void put(Words words, long place, long value) {
        if (WAY == UNSUPPORTED) {
            UnsupportedWords.put(place, value);
        } else if (WAY == INTERNAL) {
            InternalWords.put(place, value);
        } else {
            words.put((int) (place >> 3), value);
        }
    }

    /** The upper half of a word. */
    static int upper(Words words, long place) {
        return WAY == UNSUPPORTED ? UnsupportedWords.upper(place) : WAY == INTERNAL ? InternalWords.upper(place) : (int) (words.get((int) (place >> 3)) >>> 32);
    }

    /** Of a mapping. */
    static Words of(ByteBuffer bytes) {
        return WAY == INTERNAL ? InternalWords.create(bytes) : WAY == UNSUPPORTED ? UnsupportedWords.create(bytes) : BufferWords.create(bytes);
    }

    /** By which class the numbers of threads can be read; otherwise {@link #BUFFER}. */
    static int threads() {
        final int[] way = {BUFFER};
        Privileged.run(new Runnable() {
            @Override
            public void run() {
                way[0] = WAY == INTERNAL && InternalWords.numbersThreads() || WAY == UNSUPPORTED && UnsupportedWords.numbersThreads() ? WAY : BUFFER;
            }
        });
        return way[0];
    }

    private static int way() {
        final int[] way = {BUFFER};
        if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
            Privileged.run(new Runnable() {
                @Override
                public void run() {
                    boolean warns = warns();
                    way[0] = (Settings.underAgent || warns) && internal() ? INTERNAL : !warns && UnsupportedWords.works() ? UNSUPPORTED : BUFFER;
                }
            });
        }
        return way[0];
    }

    private static boolean internal() {
        try {
            // Fails if nobody has exported the package. InternalWords must not be loaded then: no archive of classes takes one that cannot be initialized.
            return Unsafe.getUnsafe() != null && InternalWords.works();
        } catch (LinkageError | SecurityException e) {
            // The latter if a security manager refuses the package.
            return false;
        }
    }

    /** Whether Java warns when a program uses {@code sun.misc.Unsafe}. */
    private static boolean warns() {
        try {
            String version = System.getProperty("java.specification.version");
            return version.indexOf('.') < 0 && Integer.parseInt(version) >= WARNS && !"allow".equals(System.getProperty(ALLOWS));
        } catch (RuntimeException e) {
            return true;
        }
    }
}
