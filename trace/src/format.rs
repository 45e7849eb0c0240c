//! The numbers of the format; their meaning is in the crate's documentation.

pub(crate) const MAGIC: [u8; 8] = *b"\x89IPROF\r\n";
pub(crate) const VERSION: u32 = 1;
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
pub(crate) const PAUSES: u32 = 20;

pub(crate) const STOPPED: u64 = 1;
pub(crate) const REPAIRING: u64 = 2;
pub(crate) const FOLDING: u64 = 4;

pub(crate) const THREAD_NAME: u64 = 64;
pub(crate) const THREAD_NAME_ROOM: u64 = 128;
/// Recorders without a clock have more room for the name, and nothing behind it.
pub(crate) const THREAD_NAME_ROOM_WITHOUT_CLOCK: u64 = 192;
pub(crate) const THREAD_REGION: u64 = 256;
pub(crate) const RECORD: u64 = 64;

pub(crate) const SAMPLED: u64 = 1;
pub(crate) const CPU: u64 = 2;
pub(crate) const NODE: u64 = 128;
pub(crate) const DEEPER: u32 = 0x7fff_ffff;
pub(crate) const LINK: u32 = 1 << 31;
