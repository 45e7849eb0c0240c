package instrument.runtime;

/** The biographies of objects: their records are written by the agent's heap profiler, into room that the recorder hands over. */
final class HeapEvents {
    /** Bytes of a region of objects or collections; the agent relies on it. */
    private static final int REGION = 1 << 20;

    /** Numbers of the next records. */
    private static long nextObject = 1;
    private static long nextCollection = 1;

    private HeapEvents() {}

    /** Another recording begins: it has other numbers. */
    static synchronized void renew() {
        nextObject = 1;
        nextCollection = 1;
    }

    /** Objects are recorded from here on; the thread is BUSY. Whether each of them gets a biography. */
    static boolean prepare() {
        ObjectSizes.ask();
        more(Format.COLLECTIONS, 1);
        if (Recording.settings.biographies) {
            more(Format.OBJECTS, 1);
            // Sets the class up while there is stack enough.
            Contexts.chain(0);
        }
        return Recording.settings.biographies;
    }

    /** Begins the biography of an object; the thread is BUSY. False: it has one. */
    static boolean begin(Object object, ClassNames.Entry type, ThreadState state) {
        long bytes = object instanceof Class ? HeapAgent.size(object) : ObjectSizes.of(object, type.size);
        int units = (int) Math.min(bytes >> 3, Integer.MAX_VALUE);
        int context = state.context();
        long before = nextObject;
        boolean ask = state.byMachine || type.byMachine;
        // The objects of a state on trial take as long, and are no records.
        int number = state.ordinal == 0 ? 0 : type.number;
        int result = HeapAgent.made(object, number, state.ordinal, context, units, ask);
        type.byMachine |= state.byMachine && (result & HeapAgent.KNOWN) == 0;
        if (result == 0) {
            return true;
        }
        if ((result & (HeapAgent.WANTS_OBJECTS | HeapAgent.NO_ROOM)) != 0) {
            more(Format.OBJECTS, before);
        }
        if ((result & HeapAgent.WANTS_COLLECTIONS) != 0) {
            more(Format.COLLECTIONS, nextCollection);
        }
        if ((result & HeapAgent.NO_ROOM) != 0) {
            result = HeapAgent.made(object, number, state.ordinal, context, units, ask);
            if ((result & HeapAgent.NO_ROOM) != 0) {
                state.drop();
            }
        }
        return (result & HeapAgent.KNOWN) == 0;
    }

    /** Room for more records from this one on, unless there is some by now. Where there is none the file has said so. */
    private static synchronized void more(int kind, long first) {
        Region region = first != (kind == Format.OBJECTS ? nextObject : nextCollection) ? null : Recording.file.allocate(REGION);
        if (region == null) {
            return;
        }
        int words = kind == Format.OBJECTS ? Format.OBJECT_WORDS : Format.COLLECTION_WORDS;
        int records = ((REGION >> 3) - Format.HEADER_WORDS) / words;
        region.put(2, first);
        region.publish(kind, 0);
        if (!HeapAgent.room(kind, region.body(), first)) {
            Log.say("the agent does not take room for objects");
        } else if (kind == Format.OBJECTS) {
            nextObject += records;
        } else {
            nextCollection += records;
        }
    }
}
