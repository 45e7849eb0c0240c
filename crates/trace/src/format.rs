//! The numbers of the format; their meaning is in the crate's documentation.

pub(crate) const MAGIC: [u8; 8] = *b"\x89IPROF\r\n";
/// The version that is written.
pub(crate) const VERSION: u32 = 7;
/// The first one whose nodes lie in pieces.
#[cfg(feature = "testing")]
pub(crate) const PIECES_VERSION: u32 = 2;
/// The first version whose trees with few timed calls can be read.
pub(crate) const SAMPLED_VERSION: u32 = 3;
/// The oldest one that is read.
pub(crate) const OLDEST_VERSION: u32 = 1;
pub(crate) const FILE_HEADER: u64 = 4096;
pub(crate) const BLOCK: u32 = u32::from_le_bytes(*b"BLOK");
pub(crate) const HEADER: u64 = 64;
pub(crate) const PAGE: u64 = 4096;

pub(crate) const THREAD: u32 = 1;
pub(crate) const ENDED: u32 = 2;
pub(crate) const COUNTS: u32 = 3;
pub(crate) const ALLOCATIONS: u32 = 4;
pub(crate) const CLASS_NAMES: u32 = 5;
pub(crate) const ID_MAP: u32 = 6;
pub(crate) const PROPERTIES: u32 = 7;
pub(crate) const TREE: u32 = 8;
pub(crate) const TREE_ALLOCATIONS: u32 = 9;
pub(crate) const TRACE: u32 = 10;
pub(crate) const LINKS: u32 = 11;
pub(crate) const REGION_TIMINGS: u32 = 12;
pub(crate) const COLLECTIONS: u32 = 13;
pub(crate) const OBJECTS: u32 = 14;
pub(crate) const CONTEXTS: u32 = 15;
pub(crate) const CONNECTIONS: u32 = 18;
pub(crate) const REMOTE_CALLS: u32 = 19;
pub(crate) const WAITS: u32 = 16;
pub(crate) const JAVA_THREADS: u32 = 17;
pub(crate) const PAUSES: u32 = 20;
pub(crate) const TREE_NODES: u32 = 21;
pub(crate) const HOLDERS: u32 = 22;
pub(crate) const BYTECODES: u32 = 23;
pub(crate) const SELECTION_CHANGES: u32 = 24;
pub(crate) const LINES: u32 = 25;
pub(crate) const THREAD_SAMPLES: u32 = 26;

/// Flags of a holder.
pub(crate) const HOLDER_NOT_MET: u32 = 1;
pub(crate) const HOLDER_OTHERS: u32 = 2;

pub(crate) const STOPPED: u64 = 1;
pub(crate) const REPAIRING: u64 = 2;
pub(crate) const FOLDING: u64 = 4;

pub(crate) const THREAD_NAME: u64 = 64;
pub(crate) const THREAD_NAME_ROOM: u64 = 128;
/// Of a sum of ended threads.
pub(crate) const ENDED_NAME: u64 = 96;
pub(crate) const ENDED_NAME_ROOM: u64 = 96;
/// Ordinal of the sum that a thread is folded into.
pub(crate) const FOLDED_INTO: u64 = 224;
/// Recorders without a clock have more room for the name, and nothing behind it.
pub(crate) const THREAD_NAME_ROOM_WITHOUT_CLOCK: u64 = 192;
pub(crate) const THREAD_REGION: u64 = 256;
pub(crate) const RECORD: u64 = 64;
/// A flag of counts: the records have no exits.
pub(crate) const EXITS_OF_THREAD: u64 = 1;
pub(crate) const CONNECTION: u64 = 64;
pub(crate) const REMOTE_CALL: u64 = 128;

/// Bytes of a collection.
pub(crate) const COLLECTION: u64 = 16;
/// Bytes of a biography.
pub(crate) const OBJECT: u64 = 32;
/// Bytes of a wait.
pub(crate) const WAIT: u64 = 64;
pub(crate) const TIMED_OUT: u32 = 1;
/// Bytes of a Java thread.
pub(crate) const JAVA_THREAD: u64 = 256;
/// Where its texts begin.
pub(crate) const JAVA_THREAD_TEXT: u64 = 40;
pub(crate) const DAEMON: u32 = 1;
pub(crate) const VIRTUAL: u32 = 2;
/// Records of millions that are read at once.
pub(crate) const RECORDS_AT_ONCE: u64 = 1 << 13;

pub(crate) const SAMPLED: u64 = 1;
pub(crate) const CPU: u64 = 2;
pub(crate) const IN_PIECES: u64 = 4;
/// Times are estimates, in the tree of ended threads.
pub(crate) const ESTIMATED: u64 = 8;
/// Of a tree: each node has what follows its calls, and words that are elsewhere for that.
pub(crate) const FOLLOWERS: u64 = 16;
/// Of a tree: its times are samples, and only calls of methods that block are timed.
pub(crate) const SAMPLES: u64 = 32;
/// Calls of a context that are all timed, if not all calls are.
pub(crate) const HEAD: u64 = 16;
pub(crate) const NODE: u64 = 128;
/// From the number of a node in a piece to that of the next one.
pub(crate) const NODE_UNITS: u32 = 2;
pub(crate) const DEEPER: u32 = 0x7fff_ffff;
pub(crate) const LINK: u32 = 1 << 31;
/// Bytes of a thread's samples, header included.
pub(crate) const THREAD_SAMPLES_REGION: u64 = 128;
/// Of a thread's samples: they meet it only in user code.
pub(crate) const USER_ONLY: u32 = 1;
