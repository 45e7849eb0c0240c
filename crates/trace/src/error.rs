//! What can be wrong with a profile: errors that leave nothing to read, and damage that the reader steps over.

use std::fmt;
use std::io;

use crate::format::{OLDEST_VERSION, VERSION};

/// A file that cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The first eight bytes are not the magic.
    #[error("not a profile: it does not begin with the bytes 89 'IPROF' 0D 0A")]
    NotAProfile,
    /// The file ends inside the file header.
    #[error("the profile ends at offset {length}, inside its file header")]
    NoHeader {
        /// Bytes of the file.
        length: u64,
    },
    /// A version that this reader does not know.
    #[error("the profile has version {version}; this reader knows versions {OLDEST_VERSION} to {VERSION}")]
    Version {
        /// Version of the file.
        version: u32,
    },
    /// The medium fails.
    #[error("the profile cannot be read: {reason}")]
    Io {
        /// What kind of failure it is.
        kind: io::ErrorKind,
        /// What the system says.
        reason: String,
    },
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io { kind: error.kind(), reason: error.to_string() }
    }
}

/// A part of the file that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// File offset; 0: it is in no one place.
    pub offset: u64,
    /// The structure there.
    pub structure: &'static str,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => write!(f, "{}: {}", self.structure, self.reason),
            offset => write!(f, "{} at offset {offset:#x}: {}", self.structure, self.reason),
        }
    }
}
