//! The numbers of the format; their meaning is in the crate's documentation.

pub const MAGIC: [u8; 8] = *b"\x89IPROF\r\n";
/// The version that is written.
pub const VERSION: u32 = 8;
/// The first one whose nodes lie in pieces.
pub const PIECES_VERSION: u32 = 2;
/// The first version whose trees with few timed calls can be read.
pub const SAMPLED_VERSION: u32 = 3;
/// The oldest one that is read.
pub const OLDEST_VERSION: u32 = 1;
pub const FILE_HEADER: u64 = 4096;
/// Where the checksum is, and what says that there is one.
pub const SEAL: u64 = 96;
pub const SEALED: u64 = 1 << 32;
pub const BLOCK: u32 = u32::from_le_bytes(*b"BLOK");
pub const HEADER: u64 = 64;
pub const PAGE: u64 = 4096;

pub const THREAD: u32 = 1;
pub const ENDED: u32 = 2;
pub const COUNTS: u32 = 3;
pub const ALLOCATIONS: u32 = 4;
pub const CLASS_NAMES: u32 = 5;
pub const ID_MAP: u32 = 6;
pub const PROPERTIES: u32 = 7;
pub const TREE: u32 = 8;
pub const TREE_ALLOCATIONS: u32 = 9;
pub const TRACE: u32 = 10;
pub const LINKS: u32 = 11;
pub const REGION_TIMINGS: u32 = 12;
pub const COLLECTIONS: u32 = 13;
pub const OBJECTS: u32 = 14;
pub const CONTEXTS: u32 = 15;
pub const CONNECTIONS: u32 = 18;
pub const REMOTE_CALLS: u32 = 19;
pub const WAITS: u32 = 16;
pub const JAVA_THREADS: u32 = 17;
pub const PAUSES: u32 = 20;
pub const TREE_NODES: u32 = 21;
pub const HOLDERS: u32 = 22;
pub const BYTECODES: u32 = 23;
pub const SELECTION_CHANGES: u32 = 24;
pub const LINES: u32 = 25;
pub const THREAD_SAMPLES: u32 = 26;
pub const DURATIONS: u32 = 27;
pub const WORST_CALL: u32 = 28;

/// Flags of a holder.
pub const HOLDER_NOT_MET: u32 = 1;
pub const HOLDER_OTHERS: u32 = 2;

pub const STOPPED: u64 = 1;
pub const REPAIRING: u64 = 2;
pub const FOLDING: u64 = 4;

pub const THREAD_NAME: u64 = 64;
pub const THREAD_NAME_ROOM: u64 = 128;
/// Of a sum of ended threads.
pub const ENDED_NAME: u64 = 96;
pub const ENDED_NAME_ROOM: u64 = 96;
/// Ordinal of the sum that a thread is folded into.
pub const FOLDED_INTO: u64 = 224;
/// Recorders without a clock have more room for the name, and nothing behind it.
pub const THREAD_NAME_ROOM_WITHOUT_CLOCK: u64 = 192;
pub const THREAD_REGION: u64 = 256;
pub const RECORD: u64 = 64;
/// A flag of counts: the records have no exits.
pub const EXITS_OF_THREAD: u64 = 1;
/// A flag of counts: the records have samples in the place of exits.
pub const SAMPLES_OF_METHODS: u64 = 2;
pub const CONNECTION: u64 = 64;
pub const REMOTE_CALL: u64 = 128;
/// Flags of a remote call.
pub const THREW: u16 = 1;
pub const RETURN_KNOWN: u16 = 2;
pub const NO_SUCH_OBJECT: u16 = 4;
pub const FAILED: u16 = 8;
pub const KEY_KNOWN: u16 = 16;
pub const BAD_KEY: u16 = 32;
pub const FORWARDED: u16 = 64;
pub const SHARED: u16 = 128;
pub const UNSENT: u16 = 256;
/// The key is of a message's id.
pub const KEY_IS_ID: u16 = 512;

/// Bytes of a collection.
pub const COLLECTION: u64 = 16;
/// Bytes of a biography.
pub const OBJECT: u64 = 32;
/// Bytes of a wait.
pub const WAIT: u64 = 64;
pub const TIMED_OUT: u32 = 1;
/// Bytes of a Java thread.
pub const JAVA_THREAD: u64 = 256;
/// Where its texts begin.
pub const JAVA_THREAD_TEXT: u64 = 40;
pub const DAEMON: u32 = 1;
pub const VIRTUAL: u32 = 2;
/// Records of millions that are read at once.
pub const RECORDS_AT_ONCE: u64 = 1 << 13;

pub const SAMPLED: u64 = 1;
pub const CPU: u64 = 2;
pub const IN_PIECES: u64 = 4;
/// Times are estimates, in the tree of ended threads.
pub const ESTIMATED: u64 = 8;
/// Of a tree: each node has what follows its calls, and words that are elsewhere for that.
pub const FOLLOWERS: u64 = 16;
/// Of a tree: its times are samples, and only calls of methods that block are timed.
pub const SAMPLES: u64 = 32;
/// Calls of a context that are all timed, if not all calls are.
pub const HEAD: u64 = 16;
pub const NODE: u64 = 128;
/// Where a tree has its first piece of durations, and where these have the next one.
pub const TREE_DURATIONS: u64 = 40;
pub const TREE_RECURSIVE: u64 = 56;
pub const DURATIONS_NEXT: u64 = 16;
/// Bytes of an octave.
pub const OCTAVE: u64 = 320;
/// Bytes of a node of a worst call.
pub const WORST_NODE: u64 = 40;
/// Flags of a worst call, in the word that has its method.
pub const WORST_FAILED: u64 = 1 << 32;
pub const WORST_PART: u64 = 1 << 33;
pub const WORST_DRAWN: u64 = 1 << 34;
/// A flag of what follows a node: durations of its calls are kept.
pub const KEPT: u64 = 1;
/// Where a node has its samples.
pub const NODE_SAMPLES: u64 = 112;
/// From the number of a node in a piece to that of the next one.
pub const NODE_UNITS: u32 = 2;
pub const DEEPER: u32 = 0x7fff_ffff;
pub const LINK: u32 = 1 << 31;
/// Bytes of a thread's samples, header included.
pub const THREAD_SAMPLES_REGION: u64 = 128;
/// Of a thread's samples: they meet it only in user code.
pub const USER_ONLY: u32 = 1;
/// Flag of thread samples: another handler had the signal at the end.
pub const SIGNAL_TAKEN: u32 = 2;
