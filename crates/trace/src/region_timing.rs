//! Timings of code regions.

/// What a thread spent in a code region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegionTiming {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Ordinal of the thread.
    pub thread: u32,
    /// Number of the code region; property `region.N` is its name, see [`crate::Copy::region_name`].
    pub number: u32,
    /// Passages.
    pub passages: u64,
    /// Their ns.
    pub ns: u64,
    /// The shortest, ns; [`crate::NO_MIN`] if there is none.
    pub min: u64,
    /// The longest, ns.
    pub max: u64,
    /// Passages that were left otherwise than over the region's end.
    pub left_otherwise: u64,
    /// The last passages, oldest first.
    pub last: Vec<Passage>,
}

/// One passage of a code region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Clock at its beginning.
    pub clock: u64,
    /// Its ns.
    pub ns: u64,
}
