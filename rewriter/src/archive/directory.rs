//! The structure of one archive: where its records lie and which bytes belong to which entry.
//!
//! Steps:
//! 1. find the end record by the rule of the JDK (last signature whose comment ends the file, or else one
//!    whose central directory is where it says), and let rawzip find it too: they must agree;
//! 2. the central directory must end where the end records begin, because the JDK computes its place from
//!    its size while others take the declared offset;
//! 3. read the central headers with rawzip, duplicates included, and each entry's local header;
//! 4. order the entries by offset: no two may share a byte. The bytes up to the next local header (data
//!    descriptor, gaps) belong to the entry before.
//!
//! Memory is proportional to the bytes of the central directory; no count is trusted.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::error::{Ambiguity, ErrorKind};
use super::header::{self, DirectoryExtent, Sizes, u16_at, u32_at, u64_at};

/// One entry: a central directory header and what it leads to.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// Name in the central directory, the one that counts.
    pub(super) name: &'a [u8],
    /// The central directory header.
    pub(super) record: &'a [u8],
    /// Offset of the local header in the archive's bytes.
    pub(super) start: usize,
    /// Offset of the data.
    pub(super) data: usize,
    /// Offset of the next local header, or of the central directory.
    pub(super) end: usize,
    /// Sizes and CRC in the central directory.
    pub(super) sizes: Sizes,
    pub(super) method: u16,
    /// General purpose flags in the central directory.
    pub(super) flags: u16,
    /// The data of a STORED entry begins at a multiple of this many bytes.
    pub(super) align: u16,
    /// A later entry has the same name.
    pub(super) shadowed: bool,
    /// Readers may disagree about this entry.
    pub(super) ambiguity: Option<Ambiguity>,
}

/// The structure of one archive.
pub(super) struct Directory<'a> {
    /// All bytes.
    pub(super) bytes: &'a [u8],
    /// Entries in the order of the central directory.
    pub(super) entries: Vec<Entry<'a>>,
    /// Indices into `entries`, in the order of the local headers.
    pub(super) order: Vec<u32>,
    /// What to subtract from an offset in the file: 0, or the length of the prefix if the archive's own
    /// offsets do not count it.
    pub(super) base: u64,
    /// Where the central directory begins.
    pub(super) start: usize,
    /// Where the central headers end (a digital signature, APPNOTE 4.3.13, may follow).
    pub(super) headers_end: usize,
    /// Where the end records begin: the zip64 end record if there is one.
    pub(super) end: usize,
    /// The zip64 end record.
    pub(super) end64: Option<&'a [u8]>,
    /// The end record with its comment.
    pub(super) end_record: &'a [u8],
    /// Offset behind the end record's comment; what follows is no part of the archive.
    pub(super) tail: usize,
}

fn malformed(offset: usize, detail: &'static str) -> ErrorKind {
    ErrorKind::Malformed { offset: offset as u64, detail }
}

/// The end records as the JDK finds them.
struct EndRecords {
    at: usize,
    comment_end: usize,
    /// Range of the zip64 end record.
    end64: Option<(usize, usize)>,
    extent: DirectoryExtent,
}

/// The end record: the last one whose comment ends with the file; failing that, the last one with a central
/// directory before it (bytes were appended to the archive).
fn find_end_record(bytes: &[u8]) -> Option<usize> {
    let reach = header::END_LEN + usize::from(u16::MAX);
    let floor = bytes.len().saturating_sub(reach);
    for at in (floor..=bytes.len().checked_sub(header::END_LEN)?).rev() {
        if bytes[at..at + 4] != header::END_SIGNATURE {
            continue;
        }
        let comment_end = at + header::END_LEN + usize::from(u16_at(bytes, at + 20));
        let directory = at.checked_sub(u32_at(bytes, at + 12) as usize);
        let leads_to_directory =
            directory.is_some_and(|d| bytes[d..].starts_with(&header::CENTRAL_SIGNATURE));
        let is_end = match comment_end.cmp(&bytes.len()) {
            Ordering::Equal => true,
            Ordering::Less => leads_to_directory,
            Ordering::Greater => false,
        };
        if is_end {
            return Some(at);
        }
    }
    None
}

fn end_records(bytes: &[u8]) -> Result<EndRecords, ErrorKind> {
    let at = find_end_record(bytes).ok_or(ErrorKind::NotAnArchive)?;
    let extent = DirectoryExtent {
        count: u64::from(u16_at(bytes, at + 10)),
        len: u64::from(u32_at(bytes, at + 12)),
        offset: u64::from(u32_at(bytes, at + 16)),
    };
    let comment_end = at + header::END_LEN + usize::from(u16_at(bytes, at + 20));
    let classic = EndRecords { at, comment_end, end64: None, extent };

    let Some(locator) = at.checked_sub(header::LOCATOR_LEN) else { return Ok(classic) };
    if bytes[locator..locator + 4] != header::LOCATOR_SIGNATURE {
        return Ok(classic);
    }
    let end64 = usize::try_from(u64_at(bytes, locator + 8)).unwrap_or(usize::MAX);
    let Some(record) = bytes.get(end64..locator).filter(|record| {
        record.len() >= header::END64_LEN
            && record[..4] == header::END64_SIGNATURE
            && u64_at(record, 4) == record.len() as u64 - 12
    }) else {
        return Err(malformed(locator, "the zip64 locator does not lead to the zip64 end record before it"));
    };
    let extent64 =
        DirectoryExtent { count: u64_at(record, 32), len: u64_at(record, 40), offset: u64_at(record, 48) };
    let agree = |small: u64, mark: u64, wide: u64| small == wide || small == mark;
    if !agree(extent.count, 0xFFFF, extent64.count)
        || !agree(extent.len, 0xFFFF_FFFF, extent64.len)
        || !agree(extent.offset, 0xFFFF_FFFF, extent64.offset)
    {
        return Err(ErrorKind::Ambiguous(Ambiguity::EndRecord));
    }
    Ok(EndRecords { end64: Some((end64, locator)), extent: extent64, ..classic })
}

impl<'a> Directory<'a> {
    /// Reads the structure of an archive of at most `max_entries` entries. Ambiguous entries are marked, not
    /// refused; an ambiguous structure is an error.
    pub(super) fn parse(bytes: &'a [u8], max_entries: u64) -> Result<Self, ErrorKind> {
        let found = end_records(bytes)?;
        let end = found.end64.map_or(found.at, |(start, _)| start);
        let start = usize::try_from(found.extent.len)
            .ok()
            .and_then(|len| end.checked_sub(len))
            .ok_or_else(|| malformed(found.at, "the central directory is longer than the archive"))?;
        let base = (start as u64)
            .checked_sub(found.extent.offset)
            .ok_or(ErrorKind::Ambiguous(Ambiguity::DirectoryOffset))?;
        let mut directory = Directory {
            bytes,
            entries: Vec::new(),
            order: Vec::new(),
            base,
            start,
            headers_end: start,
            end,
            end64: found.end64.map(|(start, end)| &bytes[start..end]),
            end_record: &bytes[found.at..found.comment_end],
            tail: found.comment_end,
        };
        if found.extent.len == 0 && found.extent.count == 0 {
            return Ok(directory);
        }

        let zip = rawzip::ZipArchive::from_slice(&bytes[..found.comment_end]).map_err(|error| match error
            .eocd_offset()
        {
            Some(at) if at != found.at as u64 => ErrorKind::Ambiguous(Ambiguity::EndRecord),
            _ => malformed(found.at, "the end of central directory record is not valid"),
        })?;
        if zip.eocd_offset() != found.at as u64 {
            return Err(ErrorKind::Ambiguous(Ambiguity::EndRecord));
        }
        if zip.directory_offset() != start as u64 {
            return Err(ErrorKind::Ambiguous(Ambiguity::DirectoryOffset));
        }
        for record in zip.entries() {
            let at = directory.headers_end;
            let record = record.map_err(|_| malformed(at, "broken central directory header"))?;
            if directory.entries.len() as u64 == max_entries {
                let value = found.extent.count.max(max_entries + 1);
                return Err(ErrorKind::Limit { what: "number of entries", value, limit: max_entries });
            }
            let sizes = Sizes {
                crc: record.crc32(),
                packed: record.compressed_size_hint(),
                size: record.uncompressed_size_hint(),
            };
            let entry = directory.entry(at, record.local_header_offset(), sizes)?;
            directory.headers_end += entry.record.len();
            directory.entries.push(entry);
        }
        // Without zip64, writers let the count wrap around; the JDK counts again.
        let count = directory.entries.len() as u64;
        if count != found.extent.count && (found.end64.is_some() || count & 0xFFFF != found.extent.count) {
            return Err(ErrorKind::Ambiguous(Ambiguity::EntryCount));
        }
        directory.lay_out()?;
        directory.mark_shadowed();
        Ok(directory)
    }

    /// The entry of the central header at `at`, which rawzip has checked to be complete.
    fn entry(&self, at: usize, start: u64, sizes: Sizes) -> Result<Entry<'a>, ErrorKind> {
        let bytes = self.bytes;
        let fixed = &bytes[at..];
        let name_end = header::CENTRAL_LEN + usize::from(u16_at(fixed, 28));
        let len = name_end + usize::from(u16_at(fixed, 30)) + usize::from(u16_at(fixed, 32));
        let record = &fixed[..len];
        let name = &record[header::CENTRAL_LEN..name_end];

        let outside = || malformed(at, "the entry's local header or data lie outside the archive");
        let start = usize::try_from(start).map_err(|_| outside())?;
        let local = bytes.get(start..self.start).ok_or_else(outside)?;
        if local.len() < header::LOCAL_LEN || local[..4] != header::LOCAL_SIGNATURE {
            return Err(malformed(start, "no local header where the central directory says"));
        }
        let local_name_end = header::LOCAL_LEN + usize::from(u16_at(local, 26));
        let local_extra_end = local_name_end + usize::from(u16_at(local, 28));
        let extra = local.get(local_name_end..local_extra_end).ok_or_else(outside)?;
        let local_name = &local[header::LOCAL_LEN..local_name_end];

        let method = u16_at(record, 10);
        let ambiguity = if name.contains(&0) {
            Some(Ambiguity::NulInName)
        } else if local_name != name {
            Some(Ambiguity::Name)
        } else if u16_at(local, 8) != method {
            Some(Ambiguity::Method)
        } else {
            None
        };
        Ok(Entry {
            name,
            record,
            start,
            data: start + local_extra_end,
            end: start,
            sizes,
            method,
            flags: u16_at(record, 8),
            align: if method == header::STORED { header::alignment(extra) } else { 1 },
            shadowed: false,
            ambiguity,
        })
    }

    /// Orders the entries by offset and gives each the bytes up to the next.
    fn lay_out(&mut self) -> Result<(), ErrorKind> {
        let entries = &mut self.entries;
        self.order = (0..entries.len() as u32).collect();
        self.order.sort_by_key(|&index| entries[index as usize].start);
        for (place, &index) in self.order.iter().enumerate() {
            let next = self.order.get(place + 1).map_or(self.start, |&next| entries[next as usize].start);
            let entry = &mut entries[index as usize];
            let room = next.checked_sub(entry.data).map(|room| room as u64);
            if room.is_none_or(|room| room < entry.sizes.packed) {
                return Err(ErrorKind::Ambiguous(Ambiguity::Overlap));
            }
            entry.end = next;
        }
        Ok(())
    }

    fn mark_shadowed(&mut self) {
        let mut last = HashMap::with_capacity(self.entries.len());
        for index in 0..self.entries.len() {
            if let Some(earlier) = last.insert(self.entries[index].name, index) {
                self.entries[earlier].shadowed = true;
            }
        }
    }

    /// The entry's data as it lies in the archive.
    pub(super) fn packed(&self, entry: &Entry<'a>) -> &'a [u8] {
        // lay_out has checked that the data ends before the next entry.
        &self.bytes[entry.data..entry.data + entry.sizes.packed as usize]
    }

    /// The last entry of this name, the one the JVM reads.
    pub(super) fn find(&self, name: &[u8]) -> Option<&Entry<'a>> {
        self.entries.iter().rev().find(|entry| entry.name == name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a [u8]> {
        self.entries.iter().map(|entry| entry.name)
    }
}
