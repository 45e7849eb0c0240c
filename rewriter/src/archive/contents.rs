//! An archive in memory, of which entries are read one by one.

use super::codec;
use super::directory::{Directory, Entry};
use super::engine::unreadable;
use super::error::ErrorKind;
use super::header::Sizes;
use super::options::Limits;
use std::ops::Range;

/// An archive whose entries are read when they are requested. It is refused where [`rewrite`](super::rewrite) would
/// refuse it: who reads it and who runs it must not see two archives.
#[derive(Debug)]
pub struct Contents {
    bytes: Vec<u8>,
    entries: Vec<Listed>,
}

/// An entry of [`Contents`].
#[derive(Debug)]
pub struct Listed {
    /// As the central directory has it.
    pub name: Vec<u8>,
    start: usize,
    /// Where its data lies.
    packed: Range<usize>,
    method: u16,
    sizes: Sizes,
    /// Why it cannot be read: what [`Contents::read`] says.
    refusal: Option<Refusal>,
}

#[derive(Debug, Clone, Copy)]
enum Refusal {
    Ambiguous(super::Ambiguity),
    Unreadable,
}

impl Listed {
    fn new(entry: &Entry<'_>) -> Listed {
        let unreadable = || unreadable(entry).map(|_| Refusal::Unreadable);
        Listed {
            name: entry.name.to_vec(),
            start: entry.start,
            packed: entry.data..entry.data + entry.sizes.packed as usize,
            method: entry.method,
            sizes: entry.sizes,
            refusal: entry.ambiguity.map(Refusal::Ambiguous).or_else(unreadable),
        }
    }

    /// Bytes that it claims to hold, which is checked when it is read.
    pub fn size(&self) -> u64 {
        self.sizes.size
    }
}

impl Contents {
    /// Looks for the entries.
    ///
    /// # Errors
    /// It is no archive, or is refused.
    pub fn open(bytes: Vec<u8>, limits: &Limits) -> Result<Contents, ErrorKind> {
        let directory = Directory::parse(&bytes, limits.entries)?;
        let entries = directory.entries.iter().map(Listed::new).collect();
        Ok(Contents { bytes, entries })
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The entries in the order of the central directory.
    pub fn entries(&self) -> &[Listed] {
        &self.entries
    }

    /// The content of an entry, which is as long as it claims; the caller has to find that acceptable.
    ///
    /// # Errors
    /// It is not what its header says, or is refused.
    pub fn read(&self, entry: &Listed) -> Result<Vec<u8>, ErrorKind> {
        let unreadable = ErrorKind::Malformed {
            offset: entry.start as u64,
            detail: "the entry is encrypted or has an unknown compression method",
        };
        match entry.refusal {
            Some(Refusal::Ambiguous(what)) => return Err(ErrorKind::Ambiguous(what)),
            Some(Refusal::Unreadable) => return Err(unreadable),
            None => {}
        }
        let data = self.bytes.get(entry.packed.clone()).ok_or(unreadable)?;
        Ok(codec::unpacked(data, entry.method, entry.sizes)?.into_owned())
    }
}
