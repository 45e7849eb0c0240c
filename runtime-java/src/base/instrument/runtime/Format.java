package instrument.runtime;

/**
 * The numbers of the profile file format, version 8. The specification, with byte tables, is the documentation of the
 * {@code instrument-trace} crate; nothing here may change without it. Words are 8 bytes, little endian.
 */
final class Format {
    /** The bytes 89 'I' 'P' 'R' 'O' 'F' 0D 0A, read as a word. */
    static final long MAGIC = 0x0A0D464F52504989L;
    static final int VERSION = 8;

    /** Bytes of the file header; the first block follows it. */
    static final int FILE_HEADER = 4096;
    // Words of the file header.
    static final int NONCE = 2;
    static final int PID = 3;
    static final int START = 4;
    static final int END = 5;
    static final int DROPPED = 6;
    static final int COPIES = 7;
    static final int START_CLOCK = 8;
    static final int BEAT = 9;
    static final int SHUTDOWN = 10;

    /** "BLOK": the first four bytes of a block. */
    static final int BLOCK = 0x4B4F4C42;
    /** Bytes of a block header and of a region header. */
    static final int HEADER = 64;
    /** Words of a block header and of a region header. */
    static final int HEADER_WORDS = HEADER / 8;

    // Region kinds.
    static final int FREE = 0;
    static final int THREAD = 1;
    static final int ENDED = 2;
    static final int COUNTS = 3;
    static final int ALLOCATIONS = 4;
    static final int CLASS_NAMES = 5;
    static final int ID_MAP = 6;
    static final int PROPERTIES = 7;
    static final int TREE = 8;
    static final int TREE_ALLOCATIONS = 9;
    static final int TRACE = 10;
    static final int LINKS = 11;
    static final int REGION_TIMINGS = 12;
    static final int COLLECTIONS = 13;
    static final int OBJECTS = 14;
    static final int CONTEXTS = 15;
    static final int WAITS = 16;
    static final int JAVA_THREADS = 17;
    static final int CONNECTIONS = 18;
    static final int REMOTE_CALLS = 19;
    static final int PAUSES = 20;
    static final int TREE_NODES = 21;
    static final int HOLDERS = 22;
    static final int BYTECODES = 23;
    static final int SELECTION_CHANGES = 24;
    static final int LINES = 25;
    static final int THREAD_SAMPLES = 26;
    static final int DURATIONS = 27;
    static final int WORST_CALL = 28;

    // Words of a THREAD or ENDED region.
    /** File offset of the counts or tree region. */
    static final int DATA_AT = 2;
    static final int ALLOCATIONS_AT = 3;
    static final int THREAD_DROPPED = 4;
    static final int THREAD_FLAGS = 5;
    /** THREAD: bytes of the name. ENDED: number of threads folded into it. */
    static final int THREAD_EXTRA = 6;
    /** File offset of the counts of executed instructions. */
    static final int BYTECODES_AT = 7;
    static final int THREAD_LENGTH = 256;
    /** Bytes of a thread's name. */
    static final int THREAD_NAME = 128;
    static final int THREAD_START = 24;
    static final int THREAD_END = 25;
    static final int THREAD_LINK = 26;
    /** ns that the recorder took for itself; also of an ENDED region. */
    static final int THREAD_PAUSE = 27;
    /** Of a thread that is being folded: ordinal of the sum that it is added to. */
    static final int THREAD_FOLDED_INTO = 28;
    /** Where the name of an ENDED region begins, in bytes; what it is for, see {@link EndedThreads}. */
    static final int ENDED_NAME = 96;
    static final int ENDED_NAME_ROOM = 96;
    static final int ENDED_NAME_LENGTH = 24;
    // Words of an ENDED region's journal.
    static final int JOURNAL_VALID = 8;
    static final int JOURNAL_TARGET = 9;
    static final int JOURNAL_VALUE = 10;
    static final int JOURNAL_SOURCE = 11;

    // Bits of THREAD_FLAGS.
    static final long STOPPED = 1;
    static final long REPAIRING = 2;
    static final long FOLDING = 4;

    /** COUNTS and TREE: words of the shadow stack, which comes first; the records or nodes follow it. */
    static final int STACK_WORDS = 2;

    /** COUNTS: flags. */
    static final int COUNTS_FLAGS = 3;
    /** A bit of COUNTS_FLAGS: the records have no exits. */
    static final long EXITS_OF_THREAD = 1;
    /** A bit of COUNTS_FLAGS: the records have samples in the place of exits. */
    static final long SAMPLES_OF_METHODS = 2;
    /** COUNTS: exits of all methods. */
    static final int COUNTS_EXITS = 4;

    // Words of a COUNTS record; those from EXITS to UNCLOSED also name the way in which a frame is closed.
    static final int RECORD_WORDS = 8;
    static final int ENTRIES = 1;
    static final int EXITS = 2;
    static final int UNWINDS = 3;
    static final int ABORTED = 4;
    static final int UNCLOSED = 5;
    static final int UNMATCHED = 6;
    static final int OPEN = 7;

    /** TREE: flags. */
    static final int TREE_FLAGS = 3;
    /** TREE: file offset of the first piece of nodes. */
    static final int TREE_NODES_AT = 4;
    /** TREE: file offset of the first piece of durations. */
    static final int DURATIONS_AT = 5;
    /** TREE: calls whose durations found no room. */
    static final int DURATIONS_LEFT_OUT = 6;
    /** TREE: calls that were counted as if recursion had no contexts; what they call has some and is not among them. */
    static final int TREE_RECURSIVE = 7;
    // Bits of TREE_FLAGS.
    static final long SAMPLED = 1;
    static final long CPU = 2;
    static final long IN_PIECES = 4;
    static final long ESTIMATED = 8;
    /** Times come from samples; only calls that block are timed. */
    static final long SAMPLES = 32;
    /** A node has the words NODE_FOLLOWERS and NODE_NEXT, and others where they are here. */
    static final long FOLLOWERS = 16;

    // Words of a TREE_NODES region.
    /** Number of its first node. */
    static final int NODES_FIRST = 2;
    /** File offset of the piece that follows. */
    static final int NODES_NEXT = 3;

    // Words of a DURATIONS region.
    /** File offset of the piece that follows. */
    static final int DURATIONS_NEXT = 2;
    // Words of an octave, of which it has as many as there is room for. The first one is its key: number of the node, and from bit 32 on which octave, and whether the calls failed.
    static final int OCTAVE_WORDS = 40;
    static final int OCTAVE_NS = 1;
    static final int OCTAVE_MIN = 2;
    static final int OCTAVE_MAX = 3;
    /** Calls that took longer than the threshold, which the next word has; 0: there is none. */
    static final int OCTAVE_OVER = 4;
    static final int OCTAVE_THRESHOLD = 5;
    /** The first word of the 64 counts, 4 bytes each. */
    static final int OCTAVE_COUNTS = 8;
    static final int OCTAVE_SHIFT = 32;
    static final int FAILED_SHIFT = 40;

    // Words of a WORST_CALL region, whose nodes follow its header.
    /** Id + 1 of the method, and flags. */
    static final int WORST_FLAGS = 2;
    static final int WORST_NS = 3;
    static final int WORST_END = 4;
    /** Number of its nodes. */
    static final int WORST_NODES = 5;
    /** Of a node: number of its caller, from 1, and consumer; entries, exits, ns, samples. */
    static final int WORST_NODE_WORDS = 5;
    static final long WORST_FAILED = 1L << 32;
    /** Not all that it did is known. */
    static final long WORST_PART = 1L << 33;
    /** It was drawn at random. */
    static final long WORST_DRAWN = 1L << 34;

    /** What numbers of nodes count in. */
    static final int UNIT_WORDS = 8;
    static final int LOG_UNIT_WORDS = 3;
    // Words of a node. Its first word is its key: number of its caller (32 bits), consumer (32 bits).
    static final int NODE_WORDS = 16;
    static final int NODE_NS = 3;
    static final int NODE_MIN = 4;
    static final int NODE_MAX = 5;
    /** Which nodes were entered next after a call of this one had ended, in the same context: from bit LATEST the one of the last time, from bit EARLIER another one, or 0. */
    static final int NODE_FOLLOWERS = 6;
    /** From bit 0, in a SAMPLED tree: number of the call, from 0, from which on the next one is timed, its lower bits. Above, as in NODE_FOLLOWERS, what a call of this one entered first. */
    static final int NODE_NEXT = 7;
    /** Bit of NODE_FOLLOWERS, and where it is free of NODE_NEXT: the calls of this node are all timed, and have their durations kept. */
    static final long KEPT = 1;
    static final int NODE_SQUARES = 11;
    static final int CALL_BITS = 14;
    static final long CALL_MASK = (1 << CALL_BITS) - 1;
    static final int LATEST = CALL_BITS;
    static final int EARLIER = CALL_BITS + 25;
    /** The largest number that a node can have: a mapping has no more than 2 GiB. */
    static final int NODE_MASK = (1 << 25) - 1;
    static final int NODE_OPEN = 12;
    static final int NODE_CPU = 13;
    static final int NODE_OPEN_NS = 15;
    // Of a SAMPLED tree, which has no NODE_OPEN, NODE_CPU and NODE_OPEN_NS.
    static final int NODE_TIMED = 12;
    /** Calls that the times stand for. */
    static final int NODE_COVERED = 13;
    /** ns of the first calls, which are all timed; negative where they are not: -1, or the complement of the ns of the first call that was timed. */
    static final int NODE_HEAD = 14;
    static final int NODE_VARIANCE = 15;
    /** Calls of a context that are all timed. */
    static final int HEAD = 16;
    // Of a SAMPLES tree.
    /** Calls that were timed and have ended. */
    static final int SAMPLES_TIMED = 13;
    /** Samples of the context itself. Whoever samples writes them. */
    static final int NODE_SAMPLES = 14;
    // Of an ESTIMATED tree.
    static final int ESTIMATE_TIMED = 7;
    static final int ESTIMATE_VARIANCE = 13;
    /** The columns EXITS to UNCLOSED of a record; all but EXITS lie on a node's second cache line. */
    static final int NODE_COLUMNS = 5;
    /** Consumer of the node whose callees are counted per method only. */
    static final int DEEPER = 0x7fffffff;
    /** Set in the consumer of a link frame. */
    static final int LINK = 0x80000000;
    /** In the place of id + 1 in the frame of a link. */
    static final int LINK_FRAME = 0x7fffffff;

    /** Words of a link: number and kind, node and ordinal of the thread, clock, 0. */
    static final int LINK_WORDS = 4;

    // Words of a REGION_TIMINGS region.
    static final int REGION_NUMBER = 2;
    static final int REGION_PASSAGES = 3;
    static final int REGION_NS = 4;
    static final int REGION_MIN = 5;
    static final int REGION_MAX = 6;
    static final int REGION_LEFT = 7;

    // Words of a THREAD_SAMPLES region. All but the mark belong to whoever samples.
    static final int SAMPLES_LENGTH = 128;
    static final int SAMPLES_PERIOD = 2;
    static final int SAMPLES_SOURCE = 3;
    static final int MARK = 8;
    static final int SAMPLES_CPU = 9;
    static final int SAMPLES_IN_PROBES = 10;
    static final int SAMPLES_IN_NO_CALL = 11;
    static final int SAMPLES_UNKNOWN = 12;
    /** CPU time of the sampler itself. */
    static final int SAMPLES_HANDLER = 14;
    /** The first word that adds up, and the one behind the last. */
    static final int SAMPLES_SUMS = 9;
    static final int SAMPLES_END = 16;

    /** Words of an ALLOCATIONS and of a TREE_ALLOCATIONS record. */
    static final int ALLOCATION_WORDS = 2;
    static final int TREE_ALLOCATION_WORDS = 4;

    /** Words of a COLLECTIONS and of an OBJECTS record. */
    static final int COLLECTION_WORDS = 2;
    static final int OBJECT_WORDS = 4;

    // Words of a TRACE region.
    static final int PIECE = 2;
    static final int PIECE_CLOCK = 3;
    // Kinds of TRACE events.
    static final long EVENT_ENTRY = 1;
    static final long EVENT_CONSTRUCTOR = 2;
    static final long EVENT_SUPER_RETURNED = 3;
    static final long EVENT_EXIT = 4;
    static final long EVENT_CAUGHT = 6;
    static final long EVENT_ALLOCATION = 7;
    static final long EVENT_SURPLUS = 8;
    static final long EVENT_LINK_ENTERED = 9;
    static final long EVENT_LINK_LEFT = 10;
    static final long EVENT_LINK_MADE = 11;
    static final long EVENT_PAUSE = 12;
    static final long EVENT_DROPPED = 13;
    static final long EVENT_GONE = 14;
    static final long EVENT_CLOCK = 15;
    /** Bits of the number of an event, and of its ns. */
    static final int NUMBER_BITS = 26;
    static final int DELTA_BITS = 34;

    /** Set in a frame that {@code constructorEntry} opened, until {@code superReturned}. */
    static final long PENDING = 1L << 63;

    private Format() {}

    /** One event that fits no frame: the upper half of the word that has UNCLOSED in its lower one. */
    static final long NODE_UNMATCHED = 1L << 32;

    /** The word of a node that holds a column of a record, up to UNCLOSED. */
    static int nodeColumn(int column) {
        return column <= EXITS ? column : column + NODE_COLUMNS;
    }

    /** The id of a frame, plus one; 0 where there is no frame. */
    static int idPlusOne(long frame) {
        return (int) (frame >>> 32) & 0x7fffffff;
    }
}
