//! What can be wrong with a class file as a whole.
//!
//! A fault inside one method is not an error: that method is left as it is and reported with a
//! [`Reason`](crate::rewrite::Reason).

use std::fmt;

/// A class file that cannot be read: what is wrong, where, and in which structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at offset {offset:#x} ({structure})")]
pub struct ClassError {
    /// The broken rule.
    pub kind: ClassErrorKind,
    /// Offset in bytes from the start of the class file.
    pub offset: usize,
    /// The structure of JVMS chapter 4 that was being read.
    pub structure: &'static str,
}

/// The rule that a class file breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClassErrorKind {
    /// The bytes end inside a structure.
    Truncated,
    /// The first four bytes are not `0xCAFEBABE` (JVMS 4.1).
    BadMagic,
    /// A constant-pool tag that JVMS table 4.4-A does not list.
    BadConstantTag(u8),
    /// An index that is zero, out of range, or names an entry of another kind.
    BadConstantIndex(u16),
    /// Bytes after the last class attribute: HotSpot rejects such a file.
    TrailingBytes,
    /// A structure whose content contradicts itself.
    Malformed,
}

impl fmt::Display for ClassErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("class file is truncated"),
            Self::BadMagic => f.write_str("not a class file: magic is not 0xCAFEBABE"),
            Self::BadConstantTag(tag) => write!(f, "unknown constant-pool tag {tag}"),
            Self::BadConstantIndex(index) => write!(f, "bad constant-pool index #{index}"),
            Self::TrailingBytes => f.write_str("extra bytes after the class file"),
            Self::Malformed => f.write_str("malformed structure"),
        }
    }
}

impl ClassError {
    #[cold]
    pub(crate) fn new(kind: ClassErrorKind, offset: usize, structure: &'static str) -> Self {
        Self { kind, offset, structure }
    }
}
