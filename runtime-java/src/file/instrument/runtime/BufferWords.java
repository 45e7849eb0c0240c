package instrument.runtime;

import java.nio.ByteBuffer;
import java.nio.LongBuffer;

/** Words of a mapping, with all checks. */
final class BufferWords extends Words {
    private final LongBuffer buffer;

    private BufferWords(ByteBuffer bytes) {
        buffer = bytes.asLongBuffer();
    }

    /** Not a constructor: whoever calls this is verified without loading the class. */
    static Words create(ByteBuffer bytes) {
        return new BufferWords(bytes);
    }

    @Override
    long get(int index) {
        return buffer.get(index);
    }

    @Override
    void put(int index, long value) {
        buffer.put(index, value);
    }

    @Override
    long place(int index) {
        return (long) index << 3;
    }
}
