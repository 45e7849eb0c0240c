//! Why a pattern is refused.

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad pattern `{pattern}`: {reason}")]
pub struct BadPattern {
    /// The pattern as it was given.
    pub pattern: String,
    /// Fault of it.
    pub reason: String,
}
