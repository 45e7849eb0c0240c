package instrument.runtime;

import java.nio.charset.Charset;

/** Small numbers for classes, and their names in the file, each once. Keeps no class or class loader alive. */
final class ClassNames extends ClassValue<Integer> {
    private static final ClassNames INSTANCE = new ClassNames();
    private static final int REGION = 4096;

    private int next;
    private Region region;
    private int used;

    private ClassNames() {}

    /** The number of a class, from 1. */
    static int number(Class<?> type) {
        return INSTANCE.get(type).intValue();
    }

    @Override
    protected synchronized Integer computeValue(Class<?> type) {
        byte[] name = type.getName().getBytes(Charset.forName("UTF-8"));
        int length = 8 + (name.length + 7 & -8);
        if (region == null || used + length > region.length) {
            Region fresh = Threads.file.allocate(Math.max(REGION, Format.HEADER + length));
            if (fresh == null) {
                // The class stays without a name; the file has said that it is incomplete.
                return Integer.valueOf(++next);
            }
            fresh.publish(Format.CLASS_NAMES, 0);
            region = fresh;
            used = Format.HEADER;
        }
        int number = ++next;
        region.put(used + 8, name, name.length);
        region.put(used >> 3, (long) name.length << 32 | number);
        used += length;
        return Integer.valueOf(number);
    }
}
