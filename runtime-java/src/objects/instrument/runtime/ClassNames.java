package instrument.runtime;

import java.lang.ref.WeakReference;
import java.nio.charset.Charset;
import java.util.HashMap;
import java.util.Map;

/** Small numbers for classes and remote methods, and their names in the file, each once. Keeps no class or class loader alive. */
final class ClassNames extends ClassValue<Object> {
    private static volatile ClassNames instance = new ClassNames();
    private static final int REGION = 4096;

    private int next;
    private Region region;
    private int used;
    private final Map<String, Integer> texts = new HashMap<String, Integer>();

    private ClassNames() {}

    /** What is known of a class, which it refers to. */
    static final class Entry extends WeakReference<Class<?>> {
        /** Its number, from 1; 0: its objects are not recorded. */
        final int number;
        /** The size of its objects; arrays and unknown sizes: see {@link ObjectSizes}. */
        long size;
        /** The virtual machine has made such objects by itself: a probe may find one that is known. */
        boolean byMachine;

        Entry(Class<?> type, int number, long size) {
            super(type);
            this.number = number;
            this.size = size;
        }
    }

    /** Another recording begins: it has other numbers. */
    static void renew() {
        instance = new ClassNames();
    }

    private static Entry of(Class<?> type) {
        return (Entry) Copy.of(instance.get(type));
    }

    /** The entry of an object's class. */
    static Entry of(Object object) {
        Entry entry = of(object.getClass());
        if (entry.size == ObjectSizes.TO_BE_ASKED) {
            entry.size = HeapAgent.size(object);
        }
        return entry;
    }

    /** The number of an object's class, whether or not objects of it are recorded. */
    static int numberOf(Object object) {
        Entry entry = of(object.getClass());
        return entry.number != 0 ? entry.number : text(object.getClass().getName());
    }

    /** The number of a text that is not the name of a class, from the same numbers. */
    static int text(String text) {
        ClassNames names = instance;
        synchronized (names) {
            Integer known = names.texts.get(text);
            if (known == null) {
                known = names.number(text);
                names.texts.put(text, known);
            }
            return known;
        }
    }

    @Override
    protected Object computeValue(Class<?> type) {
        return Copy.held(entry(type), null);
    }

    private Entry entry(Class<?> type) {
        if (HeapAgent.here && !HeapAgent.follows(type.getTypeName())) {
            return new Entry(type, 0, 0);
        }
        // Without a lock: the program's class loaders may be called.
        long size = ObjectSizes.of(type);
        return new Entry(type, number(type.getName()), size);
    }

    /** A new number for a name, which goes into the file. */
    private synchronized int number(String text) {
        byte[] name = text.getBytes(Charset.forName("UTF-8"));
        int length = 8 + (name.length + 7 & -8);
        if (region == null || used + length > region.length) {
            Region fresh = Recording.file.allocate(Math.max(REGION, Format.HEADER + length));
            if (fresh == null) {
                // The class stays without a name; the file has said that it is incomplete.
                return ++next;
            }
            fresh.publish(Format.CLASS_NAMES, 0);
            region = fresh;
            used = Format.HEADER;
        }
        int number = ++next;
        region.put(used + 8, name, name.length);
        region.put(used >> 3, (long) name.length << 32 | number);
        used += length;
        return number;
    }
}
