package instrument.runtime;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

/**
 * Shallow sizes of objects as HotSpot lays them out, 64 bits, 8-byte alignment: headers of 12 bytes, or 16 without
 * compressed class pointers; references of 4 bytes, or 8. Arrays are exact; where objects are recorded the virtual machine has been asked how
 * it lays them out (compact headers, another alignment). Of other objects the fields are asked for by
 * reflection, once per class, and for classes of the boot loader only unless {@code instrument.sizes=all}: to ask a class
 * for its fields loads their classes.
 */
final class ObjectSizes {
    private static final boolean SHORT_REFERENCES = property("java.vm.compressedOopsMode") != null;
    private static final int VERSION = version();
    private static final int REFERENCE = SHORT_REFERENCES ? 4 : 8;
    /** Since 15 class pointers are compressed whatever references are. */
    private static final int HEADER = SHORT_REFERENCES || VERSION >= 15 ? 12 : 16;

    /** Where the first element of an array is, by the logarithm of an element's size. */
    private static final int[] FIRST = {first(0), first(1), first(2), first(3)};
    /** Objects begin, and so end, at multiples of this. */
    private static int alignment = 8;

    /** The virtual machine says it when the first object is there. */
    static final long TO_BE_ASKED = Long.MIN_VALUE;

    /** More bytes than any alignment leaves behind the header. */
    private static final int MOST_IN_GAP = 512;

    private ObjectSizes() {}

    private static int first(int log) {
        int first = HEADER + 4;
        return VERSION < 23 || log == 3 ? first + 7 & -8 : first;
    }

    /** Asks the virtual machine how it lays out arrays. */
    static void ask() {
        Class<?>[] elements = {byte.class, short.class, int.class, long.class};
        for (int log = 0; log < elements.length; log++) {
            long empty = HeapAgent.size(Array.newInstance(elements[log], 0));
            int fit = 0;
            long next;
            do {
                next = HeapAgent.size(Array.newInstance(elements[log], ++fit));
            } while (next == empty && fit < MOST_IN_GAP);
            if (empty <= 0 || next <= empty) {
                // It does not say.
                return;
            }
            FIRST[log] = (int) empty - (fit - 1 << log);
            if (log == 0) {
                alignment = (int) (next - empty);
            }
        }
    }

    /** Of an array class: minus the logarithm of an element's size, minus 1. Of others their size; 0: unknown. */
    static long of(Class<?> type) {
        if (!Recording.settings.sizes) {
            return 0;
        }
        if (type.isArray()) {
            return -1 - Settings.log2(bytes(type.getComponentType()));
        }
        if (HeapAgent.here) {
            return TO_BE_ASKED;
        }
        if (type.getClassLoader() != null && !Recording.settings.allSizes) {
            return 0;
        }
        try {
            return end(type) + 7 & -8;
        } catch (LinkageError e) {
            // A class of a field is missing.
            return 0;
        } catch (RuntimeException e) {
            return 0;
        }
    }

    /** Bytes of an object whose class has this {@link #of}. */
    static long of(Object object, long size) {
        if (size >= 0) {
            return size;
        }
        int log = (int) -(size + 1);
        return FIRST[log] + ((long) Array.getLength(object) << log) + alignment - 1 & -alignment;
    }

    /** Where the fields of a class end: the largest come first, smaller ones fill the gap in front of 8-byte ones. */
    private static long end(Class<?> type) {
        if (type == null) {
            return HEADER;
        }
        long end = end(type.getSuperclass());
        long[] fields = new long[9];
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                fields[bytes(field.getType())]++;
            }
        }
        if (type == Throwable.class) {
            // Its backtrace is hidden from reflection.
            fields[REFERENCE]++;
        }
        if (VERSION < 15) {
            end = end + 3 & -4;
        }
        if (fields[8] > 0) {
            for (int size = 4; size >= 1; size /= 2) {
                while (fields[size] > 0 && end % size == 0 && (-end & 7) >= size) {
                    end += size;
                    fields[size]--;
                }
            }
            end = end + 7 & -8;
        }
        for (int size = 8; size >= 1; size /= 2) {
            if (fields[size] > 0) {
                end = (end + size - 1 & -size) + size * fields[size];
            }
        }
        return end;
    }

    private static int bytes(Class<?> type) {
        if (!type.isPrimitive()) {
            return REFERENCE;
        }
        if (type == long.class || type == double.class) {
            return 8;
        }
        if (type == int.class || type == float.class) {
            return 4;
        }
        return type == byte.class || type == boolean.class ? 1 : 2;
    }

    private static int version() {
        String version = property("java.specification.version");
        try {
            return version == null || version.startsWith("1.") ? 8 : Integer.parseInt(version);
        } catch (NumberFormatException e) {
            return 8;
        }
    }

    private static String property(String key) {
        try {
            return System.getProperty(key);
        } catch (SecurityException e) {
            return null;
        }
    }
}
