package instrument.runtime;

import java.nio.Buffer;

/** The memory of a mapping, as words. The subclasses are the ways to it; {@link Memory} chooses one. */
abstract class Words {
    Words() {}

    abstract long get(int index);

    abstract void put(int index, long value);

    /** Place of a word; good for as long as somebody has these words. */
    abstract long place(int index);

    /** The field that holds the address of a buffer. */
    static java.lang.reflect.Field addressField() throws NoSuchFieldException {
        return Buffer.class.getDeclaredField("address");
    }

    /** The field that holds the number of a thread, which never changes once it is there. */
    static java.lang.reflect.Field numberField() throws NoSuchFieldException {
        return Thread.class.getDeclaredField("tid");
    }
}
