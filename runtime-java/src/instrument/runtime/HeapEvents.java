package instrument.runtime;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** What the agent's heap profiler and the recorder tell each other. Its native methods are there if {@link #here} is set. */
final class HeapEvents {
    // Bits of what {@link #made} gives.
    private static final int KNOWN = 1;
    private static final int NO_ROOM = 2;
    private static final int WANTS_OBJECTS = 4;
    private static final int WANTS_COLLECTIONS = 8;
    /** Bytes of a region of objects or collections; the agent relies on it. */
    private static final int REGION = 1 << 20;

    /** Set by the agent before the recorder begins. */
    static boolean here;
    /** The agent writes to them for good. */
    private static Region[] regions = new Region[16];
    private static int count;
    /** Numbers of the next records. */
    private static long nextObject = 1;
    private static long nextCollection = 1;

    private HeapEvents() {}

    /** The native methods are registered. */
    static void registered(byte[] nothing) {
        here = true;
    }

    /** The virtual machine is initialised, the constructor of java.lang.Object rewritten: from here on objects are recorded. */
    static void begin(byte[] nothing) {
        ThreadState state = ProfilerRuntime.fresh();
        int mode = state.mode;
        state.mode = ThreadState.BUSY;
        try {
            if (Threads.file == null) {
                return;
            }
            ObjectSizes.ask();
            more(Format.COLLECTIONS, 1);
            if (Threads.settings.biographies) {
                more(Format.OBJECTS, 1);
                // Sets the class up while there is stack enough.
                Contexts.chain(0);
                HeapProxy.biographies = true;
            }
        } finally {
            state.mode = mode;
        }
        HeapProxy.JVMInit();
    }

    /** The objects of an array were made before, in this order; null stands behind the last one. */
    static void before(Object objects) {
        Object[] array = (Object[]) objects;
        if (array[array.length - 1] != null) {
            Log.say("start-up made more than " + array.length + " objects: the rest of them is not recorded");
        }
        for (int i = 0; i < array.length && array[i] != null; i++) {
            HeapProxy.ObjectAlloc(array[i]);
            array[i] = null;
        }
    }

    /** The virtual machine has made an object. */
    static void made(Object object) {
        ThreadState state = ProfilerRuntime.fresh();
        if (state == null || state == LocalState.nowhere) {
            return;
        }
        // To record one may make others, which are not recorded.
        boolean within = state.byMachine;
        state.byMachine = true;
        try {
            HeapProxy.ObjectAlloc(object);
        } finally {
            state.byMachine = within;
        }
    }

    /** Whether objects of a class are to be recorded; its name as {@code Class.getTypeName()} gives it. */
    static native boolean follows(String type);

    /** Bytes of an object, header and padding included. */
    static native long size(Object object);

    /** Begins the biography of an object. If it may have one already it is asked: that takes as long as to begin one. */
    private static native int made(Object object, int type, int thread, int context, int units, boolean ask);

    /** Hands over room for records. */
    private static native boolean room(int kind, ByteBuffer body, long first);

    /** Begins the biography of an object; the thread is BUSY. False: it has one. */
    static boolean begin(Object object, ClassNames.Entry type, ThreadState state) {
        long bytes = object instanceof Class ? size(object) : ObjectSizes.of(object, type.size);
        int units = (int) Math.min(bytes >> 3, Integer.MAX_VALUE);
        int context = state.context();
        long before = nextObject;
        boolean ask = state.byMachine || type.byMachine;
        // The objects of a state on trial take as long, and are no records.
        int number = state.ordinal == 0 ? 0 : type.number;
        int result = made(object, number, state.ordinal, context, units, ask);
        type.byMachine |= state.byMachine && (result & KNOWN) == 0;
        if (result == 0) {
            return true;
        }
        if ((result & (WANTS_OBJECTS | NO_ROOM)) != 0) {
            more(Format.OBJECTS, before);
        }
        if ((result & WANTS_COLLECTIONS) != 0) {
            more(Format.COLLECTIONS, nextCollection);
        }
        if ((result & NO_ROOM) != 0) {
            result = made(object, number, state.ordinal, context, units, ask);
            if ((result & NO_ROOM) != 0) {
                state.drop();
            }
        }
        return (result & KNOWN) == 0;
    }

    /** Room for more records from this one on, unless there is some by now. Where there is none the file has said so. */
    private static synchronized void more(int kind, long first) {
        Region region = first != (kind == Format.OBJECTS ? nextObject : nextCollection) ? null : Threads.file.allocate(REGION);
        if (region == null) {
            return;
        }
        int words = kind == Format.OBJECTS ? Format.OBJECT_WORDS : Format.COLLECTION_WORDS;
        int records = ((REGION >> 3) - Format.HEADER_WORDS) / words;
        region.put(2, first);
        region.publish(kind, 0);
        if (count == regions.length) {
            regions = Arrays.copyOf(regions, 2 * count);
        }
        regions[count++] = region;
        if (!room(kind, region.body(), first)) {
            Log.say("the agent does not take room for objects");
        } else if (kind == Format.OBJECTS) {
            nextObject += records;
        } else {
            nextCollection += records;
        }
    }
}
