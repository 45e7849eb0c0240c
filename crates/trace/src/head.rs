//! The first words of a profile: enough to tell profiles, processes and snapshots apart without reading the rest.

use crate::format::MAGIC;
use crate::source::Source;

/// The first words of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// A random number, the same in every copy of one profile.
    pub nonce: u64,
    /// Id of the process, as the process saw it.
    pub pid: u64,
    /// Start of recording, in ms since 1970-01-01 UTC.
    pub start_ms: u64,
    /// Grows from one copy of a profile to a later one: whether it is no snapshot, the clock at which the virtual machine shut down, the
    /// length of the file.
    pub progress: (bool, u64, u64),
}

impl Head {
    /// Whether the recording has ended in order: nothing more is written.
    pub fn has_ended(&self) -> bool {
        self.progress.1 != 0
    }

    /// Reads it; none: what begins otherwise, or is shorter.
    pub fn read(source: &impl Source) -> Option<Head> {
        let mut words = [0u8; 96];
        let is_whole = source.fill_at(0, &mut words).is_ok_and(|length| length == words.len());
        let word = |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().unwrap_or_default());
        let progress = (word(88) == 0, word(80), word(40));
        let head = Head { nonce: word(16), pid: word(24), start_ms: word(32), progress };
        (is_whole && is_profile(&words)).then_some(head)
    }
}

/// Whether a file with these first bytes is a profile.
pub fn is_profile(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}
