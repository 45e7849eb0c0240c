//! Pauses: when the user had recording stand still.

/// A pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// The clock at its beginning.
    pub start: u64,
    /// The clock at its end; 0: it did not come.
    pub end: u64,
}
