//! What can go wrong with an archive as a whole, and why single entries were left as they are.

use crate::reason::Reason;
use std::fmt;
use std::io;

/// A failure that ends the rewriting of an archive. Nothing that was written so far is of any use.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {kind}")]
pub struct ArchiveError {
    /// The archive or entry, outermost first: `app.jar!BOOT-INF/lib/x.jar!com/A.class`.
    pub at: String,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

impl ArchiveError {
    pub(super) fn new(at: impl fmt::Display, kind: ErrorKind) -> Self {
        ArchiveError { at: at.to_string(), kind }
    }
}

/// What is wrong with an archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No end of central directory record (APPNOTE 4.3.16): not a zip, or its tail is missing.
    #[error("not a zip archive, or truncated: no end of central directory record")]
    NotAnArchive,
    /// A structure lies outside the archive or contradicts itself.
    #[error("malformed zip at offset {offset}: {detail}")]
    Malformed {
        /// Byte offset in the archive.
        offset: u64,
        /// The structure and the rule it breaks.
        detail: &'static str,
    },
    /// Two readers may see two different things.
    #[error("ambiguous zip: {0}")]
    Ambiguous(Ambiguity),
    /// The entry's data does not inflate.
    #[error("corrupt compressed data")]
    Inflate,
    /// The entry holds more or fewer bytes than its header says.
    #[error("the header claims {claimed} bytes, the data does not hold exactly that many")]
    Size {
        /// Uncompressed size in the central directory.
        claimed: u64,
    },
    /// CRC-32 of the inflated bytes differs from the central directory's.
    #[error("CRC-32 is {actual:08x}, the header says {expected:08x}")]
    Crc {
        /// From the central directory.
        expected: u32,
        /// Of the data.
        actual: u32,
    },
    /// A limit against hostile input was reached.
    #[error("{what} is {value}, the limit is {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// What the archive asks for.
        value: u64,
        /// What is allowed, see [`Limits`](super::Limits).
        limit: u64,
    },
    /// The archive is signed and its content would change.
    #[error(
        "signed ({signature}): its classes would no longer match the signature; --strip-signatures removes it"
    )]
    Signed {
        /// Name of the first signature entry.
        signature: String,
    },
    /// The archive went through `instrument` before.
    #[error("already instrumented: it contains {entry}")]
    AlreadyInstrumented {
        /// The entry that says so.
        entry: String,
    },
    /// A new entry would hide one that the archive has already.
    #[error("the archive already has an entry of this name, which instrumentation would add")]
    NameTaken,
    /// The manifest says something else than what would be added to it.
    #[error("its manifest has {name}: {value}, which instrumentation would have to replace")]
    ManifestAttribute {
        /// Name of the attribute.
        name: &'static str,
        /// Its value in the manifest.
        value: String,
    },
    /// There is no manifest to add an attribute to, or it cannot be read.
    #[error("it has no manifest that can be read")]
    NoManifest,
    /// A new name or a new directory does not fit the format.
    #[error("{0}")]
    TooLarge(&'static str),
    /// The output could not be written.
    #[error("writing the archive: {0}")]
    Write(#[from] io::Error),
}

impl ErrorKind {
    /// A stable word for reports and tests.
    pub fn code(&self) -> &'static str {
        match self {
            ErrorKind::NotAnArchive => "not-an-archive",
            ErrorKind::Malformed { .. } => "malformed-zip",
            ErrorKind::Ambiguous(_) => "ambiguous-zip",
            ErrorKind::Inflate => "bad-deflate",
            ErrorKind::Size { .. } => "bad-size",
            ErrorKind::Crc { .. } => "bad-crc",
            ErrorKind::Limit { .. } => "limit",
            ErrorKind::Signed { .. } => "signed",
            ErrorKind::AlreadyInstrumented { .. } => "already-instrumented",
            ErrorKind::NameTaken => "name-taken",
            ErrorKind::ManifestAttribute { .. } => "manifest-attribute",
            ErrorKind::NoManifest => "no-manifest",
            ErrorKind::TooLarge(_) => "too-large",
            ErrorKind::Write(_) => "write",
        }
    }
}

/// The ways in which one zip can mean two things to two readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ambiguity {
    /// More than one end of central directory record could be meant.
    EndRecord,
    /// The declared offset of the central directory and its size lead to two places.
    DirectoryOffset,
    /// The number of entries differs from the end record's.
    EntryCount,
    /// The local header has another name than the central directory.
    Name,
    /// The local header has another compression method than the central directory.
    Method,
    /// A name contains a NUL byte, where C programs stop reading.
    NulInName,
    /// Two entries share bytes, or an entry reaches into the central directory.
    Overlap,
}

impl fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ambiguity::EndRecord => "more than one end of central directory record could be meant",
            Ambiguity::DirectoryOffset => "offset and size of the central directory lead to two places",
            Ambiguity::EntryCount => "the end record counts other entries than the central directory has",
            Ambiguity::Name => "the local header has another name than the central directory",
            Ambiguity::Method => "the local header has another compression method than the central directory",
            Ambiguity::NulInName => "NUL in the name",
            Ambiguity::Overlap => "entries overlap",
        })
    }
}

/// Why an entry that is a class or an archive was copied without a look inside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unread {
    /// Nested deeper than [`Limits::depth`](super::Limits::depth).
    Depth,
    /// Encrypted (general purpose flag bits 0, 6 or 13).
    Encrypted,
    /// A compression method other than STORED and DEFLATED.
    Method(u16),
    /// Named like an archive, but its bytes are none; the text is the error.
    NotAnArchive(String),
    /// An ambiguous entry or archive under [`Options::copy_ambiguous`](super::Options::copy_ambiguous).
    Ambiguous(Ambiguity),
    /// Part of a war or ear that its class loaders never look at, where the runtime could not be found.
    OutsideClassPath,
}

impl Unread {
    /// The same without what was found.
    pub fn reason(&self) -> Reason {
        match self {
            Unread::Depth => Reason::Depth,
            Unread::Encrypted => Reason::Encrypted,
            Unread::Method(_) => Reason::CompressionMethod,
            Unread::NotAnArchive(_) => Reason::NotAnArchive,
            Unread::Ambiguous(_) => Reason::AmbiguousZip,
            Unread::OutsideClassPath => Reason::OutsideClassPath,
        }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Method(method) => write!(f, "{}: method {method}", self.reason()),
            Unread::NotAnArchive(why) => write!(f, "{}: {why}", self.reason()),
            Unread::Ambiguous(what) => write!(f, "{}: {what}", self.reason()),
            _ => self.reason().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_what_was_found() {
        for (reason, text) in [
            (Unread::Depth, "depth"),
            (Unread::Encrypted, "encrypted"),
            (Unread::Method(93), "compression-method: method 93"),
            (Unread::NotAnArchive("cut off".to_owned()), "not-an-archive: cut off"),
            (Unread::Ambiguous(Ambiguity::NulInName), "ambiguous-zip: NUL in the name"),
            (Unread::OutsideClassPath, "outside-class-path"),
        ] {
            assert_eq!(reason.to_string(), text);
        }
    }
}
