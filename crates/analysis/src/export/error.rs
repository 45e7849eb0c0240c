//! What exports of moments share: why they fail, and how a moment is counted.

use std::io;

/// Why a trace cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] instrument_trace::Error),
    /// The timeline cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A moment, counted from an origin on the same clock.
pub(super) fn since(at: u64, origin: i128) -> u64 {
    u64::try_from((i128::from(at) - origin).max(0)).unwrap_or(u64::MAX)
}
