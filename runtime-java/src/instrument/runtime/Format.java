package instrument.runtime;

/**
 * The numbers of the profile file format, version 1. The specification, with byte tables, is the documentation of the
 * {@code instrument-trace} crate; nothing here may change without it. Words are 8 bytes, little endian.
 */
final class Format {
    /** The bytes 89 'I' 'P' 'R' 'O' 'F' 0D 0A, read as a word. */
    static final long MAGIC = 0x0A0D464F52504989L;
    static final int VERSION = 1;

    /** Bytes of the file header; the first block follows it. */
    static final int FILE_HEADER = 4096;
    // Words of the file header.
    static final int NONCE = 2;
    static final int PID = 3;
    static final int START = 4;
    static final int END = 5;
    static final int DROPPED = 6;
    static final int COPIES = 7;

    /** "BLOK": the first four bytes of a block. */
    static final int BLOCK = 0x4B4F4C42;
    /** Bytes of a block header and of a region header. */
    static final int HEADER = 64;
    /** Words of a block header and of a region header. */
    static final int HEADER_WORDS = HEADER / 8;

    // Region kinds.
    static final int THREAD = 1;
    static final int ENDED = 2;
    static final int COUNTS = 3;
    static final int ALLOCATIONS = 4;
    static final int CLASS_NAMES = 5;
    static final int ID_MAP = 6;
    static final int PROPERTIES = 7;

    // Words of a THREAD or ENDED region.
    static final int COUNTS_AT = 2;
    static final int ALLOCATIONS_AT = 3;
    static final int THREAD_DROPPED = 4;
    static final int THREAD_FLAGS = 5;
    /** THREAD: bytes of the name. ENDED: number of threads folded into it. */
    static final int THREAD_EXTRA = 6;
    static final int THREAD_LENGTH = 256;
    // Words of an ENDED region's journal.
    static final int JOURNAL_VALID = 8;
    static final int JOURNAL_TARGET = 9;
    static final int JOURNAL_VALUE = 10;
    static final int JOURNAL_SOURCE = 11;

    // Bits of THREAD_FLAGS.
    static final long STOPPED = 1;
    static final long REPAIRING = 2;
    static final long FOLDING = 4;

    /** COUNTS: words of the shadow stack, which comes first; the records follow it. */
    static final int STACK_WORDS = 2;

    // Words of a COUNTS record.
    static final int RECORD_WORDS = 8;
    static final int ENTRIES = 1;
    static final int EXITS = 2;
    static final int UNWINDS = 3;
    static final int ORPHANS = 4;
    static final int LOST = 5;
    static final int STRAY = 6;
    static final int OPEN = 7;

    /** Set in a frame that {@code constructorEntry} opened, until {@code superReturned}. */
    static final long PENDING = 1L << 63;

    private Format() {}

    /** The id of a frame, plus one; 0 where there is no frame. */
    static int idPlusOne(long frame) {
        return (int) (frame >>> 32) & 0x7fffffff;
    }
}
