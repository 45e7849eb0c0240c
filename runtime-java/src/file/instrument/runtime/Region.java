package instrument.runtime;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;

/** A piece of the mapped file that has one owner: one thread, or the runtime under its lock. */
final class Region {
    /** The mapping's memory, as words. */
    final Words words;
    /** The same memory, as bytes. */
    private final ByteBuffer bytes;
    /** Index of the region's first word in {@link #words}. */
    final int base;
    /** Length in bytes, header included. */
    final int length;
    /** Offset of the region in the file. */
    final long fileOffset;

    Region(Words words, ByteBuffer bytes, int offset, int length, long mappedAt) {
        this.words = words;
        this.bytes = bytes;
        this.base = offset >> 3;
        this.length = length;
        this.fileOffset = mappedAt + offset;
    }

    long get(int word) {
        return words.get(base + word);
    }

    void put(int word, long value) {
        words.put(base + word, value);
    }

    /** Copies bytes to the given offset in the region. */
    void put(int offset, byte[] data, int length) {
        ByteBuffer view = bytes.duplicate();
        view.position((base << 3) + offset);
        view.put(data, 0, length);
    }

    /** Copies so many words of another region, from there on, to here. */
    void put(int word, Region from, int there, int count) {
        ByteBuffer source = from.bytes.duplicate();
        source.limit(from.base + there + count << 3);
        source.position(from.base + there << 3);
        ByteBuffer view = bytes.duplicate();
        view.position(base + word << 3);
        view.put(source);
    }

    /** Its memory behind the header. */
    ByteBuffer body() {
        ByteBuffer view = bytes.duplicate();
        view.position((base << 3) + Format.HEADER);
        view.limit((base << 3) + length);
        return view.slice();
    }

    /** All of its memory. */
    ByteBuffer memory() {
        ByteBuffer view = bytes.duplicate();
        view.position(base << 3);
        view.limit((base << 3) + length);
        return view.slice();
    }

    /** Makes the region visible to readers: owner and kind are one word, written last. */
    void publish(int kind, int owner) {
        put(0, (long) owner << 32 | kind);
    }

    /** Two regions in the place of this one, of which readers see nothing. */
    Region[] halves() {
        int half = length / 2;
        Region upper = new Region(words, bytes, (base << 3) + half, half, fileOffset - (base << 3));
        upper.put(0, 0);
        upper.put(1, half);
        put(1, half);
        return new Region[] {new Region(words, bytes, base << 3, half, fileOffset - (base << 3)), upper};
    }

    /** Hides the region from readers; its length stays, so that they can step over it. */
    void hide() {
        put(0, 0);
    }

    /** Writes to every page that nobody has used yet, so that the page faults happen now. */
    void touch() {
        for (int i = base + (length >> 3) - 1; i > base + 1 && words.get(i) == 0; i -= 512) {
            words.put(i, 0);
        }
    }

    void clearBody() {
        for (int i = base + 2, end = base + (length >> 3); i < end; i++) {
            words.put(i, 0);
        }
    }

    /** As much of a text as there is room for, in bytes. */
    static byte[] utf8(String name, int room) {
        Charset utf8 = Charset.forName("UTF-8");
        byte[] bytes = name.getBytes(utf8);
        for (int end = Math.min(name.length(), room); bytes.length > room; end--) {
            bytes = name.substring(0, end).getBytes(utf8);
        }
        return bytes;
    }
}
