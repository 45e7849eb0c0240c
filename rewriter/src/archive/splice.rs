//! The writer: the input's own bytes around what changed.
//!
//! It walks the entries in the order of their local headers and lets everything through untouched, as few
//! large slices; a change is a new header and new data for one entry, or an entry left out. Nothing is
//! written before the first change, so an archive that does not change costs nothing. At the end it writes
//! new entries, the central directory with moved offsets, the end records, and what followed them.

use std::io::{self, Write};

use super::codec::Packed;
use super::directory::{Directory, Entry};
use super::error::ErrorKind;
use super::header::{self, DirectoryExtent, DosTime, FLAG_DESCRIPTOR, LOCAL_LEN, STORED, Sizes, u16_at};

/// What happens to one entry.
#[derive(Debug)]
pub(super) enum Edit {
    /// New data, packed with the entry's own method.
    Replace(Packed),
    /// The entry goes, with its header.
    Drop,
}

/// An entry to append, its data packed.
pub(super) struct Addition {
    pub(super) method: u16,
    pub(super) packed: Packed,
}

/// What the central directory must say about an entry.
#[derive(Clone, Copy)]
enum Fate {
    Kept { start: u64 },
    Replaced { start: u64, sizes: Sizes },
    Dropped,
}

pub(super) struct Splice<'d, 'a, 'o> {
    directory: &'d Directory<'a>,
    out: Output<'o>,
    /// Input bytes before this are written or left out.
    copied: usize,
    /// Place in `directory.order` of the next entry.
    next: usize,
    /// By index in the central directory; filled up to `next`.
    fates: Vec<Fate>,
    changed: bool,
}

/// Gathers small writes and counts bytes.
struct Output<'o> {
    sink: &'o mut dyn Write,
    buffer: Vec<u8>,
    position: u64,
}

impl Output<'_> {
    const BUFFER: usize = 256 << 10;

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        if self.buffer.len() + bytes.len() > Self::BUFFER {
            self.flush()?;
            if bytes.len() >= Self::BUFFER / 2 {
                return self.sink.write_all(bytes);
            }
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

impl<'d, 'a, 'o> Splice<'d, 'a, 'o> {
    pub(super) fn new(directory: &'d Directory<'a>, sink: &'o mut dyn Write) -> Self {
        Splice {
            directory,
            out: Output { sink, buffer: Vec::new(), position: 0 },
            copied: 0,
            next: 0,
            fates: vec![Fate::Dropped; directory.entries.len()],
            changed: false,
        }
    }

    /// Writes the input up to `to`, with what was not written yet.
    fn copy_to(&mut self, to: usize) -> io::Result<()> {
        self.out.write(&self.directory.bytes[self.copied..to])?;
        self.copied = to;
        Ok(())
    }

    /// Where input offset `at` will be in the output.
    fn moved(&self, at: usize) -> u64 {
        self.out.position + (at - self.copied) as u64
    }

    fn header_of(&self, entry: &Entry<'a>) -> &'a [u8] {
        &self.directory.bytes[entry.start..entry.data]
    }

    /// Lets the entries before `place` in the order of local headers through.
    fn advance(&mut self, place: usize) -> io::Result<()> {
        let directory = self.directory;
        while self.next < place {
            let index = directory.order[self.next] as usize;
            let entry = &directory.entries[index];
            let start = self.moved(entry.start);
            self.fates[index] = Fate::Kept { start };
            let align = u64::from(entry.align);
            if (entry.data as u64).is_multiple_of(align) && !self.moved(entry.data).is_multiple_of(align) {
                self.copy_to(entry.start)?;
                let mut header = Vec::new();
                header::local_header(self.header_of(entry), None, start, true, &mut header);
                self.out.write(&header)?;
                self.copied = entry.data;
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Edits the entry at `place` in the order of local headers. Places must ascend.
    pub(super) fn edit(&mut self, place: usize, edit: Edit) -> io::Result<()> {
        debug_assert!(place >= self.next);
        let directory = self.directory;
        let index = directory.order[place] as usize;
        let entry = &directory.entries[index];
        self.advance(place)?;
        self.copy_to(entry.start)?;
        self.changed = true;
        self.next = place + 1;
        match edit {
            Edit::Drop => self.copied = entry.end,
            Edit::Replace(Packed { data, sizes }) => {
                let start = self.out.position;
                let aligned = entry.align > 1 && (entry.data as u64).is_multiple_of(u64::from(entry.align));
                let mut header = Vec::with_capacity(entry.data - entry.start + 32);
                header::local_header(self.header_of(entry), Some(&sizes), start, aligned, &mut header);
                self.out.write(&header)?;
                self.out.write(&data)?;
                self.fates[index] = Fate::Replaced { start, sizes };
                let data_end = entry.data + entry.sizes.packed as usize;
                let local_flags = u16_at(self.header_of(entry), 6);
                let descriptor = if local_flags & FLAG_DESCRIPTOR != 0 {
                    header::descriptor_len(&directory.bytes[data_end..entry.end], &entry.sizes)
                } else {
                    0
                };
                self.copied = data_end + descriptor;
            }
        }
        Ok(())
    }

    /// Writes the rest of the archive, with new entries dated `time` behind the last one. Returns the length
    /// of the output, or `None`, with nothing written, if nothing changed.
    pub(super) fn finish<'n>(
        mut self,
        additions: impl ExactSizeIterator<Item = (&'n [u8], &'n Addition)>,
        time: DosTime,
    ) -> Result<Option<u64>, ErrorKind> {
        let directory = self.directory;
        self.advance(directory.order.len())?;
        let mut count = additions.len() as u64;
        if !self.changed && count == 0 {
            return Ok(None);
        }
        self.copy_to(directory.start)?;

        let mut new_headers = Vec::new();
        for (name, Addition { method, packed }) in additions {
            if name.len() > usize::from(u16::MAX) {
                return Err(ErrorKind::TooLarge("the name of a new entry is longer than 65,535 bytes"));
            }
            let offset = self.out.position - directory.base;
            let mut header = Vec::with_capacity(LOCAL_LEN + name.len());
            header::new_local_header(name, *method, time, &packed.sizes, &mut header);
            self.out.write(&header)?;
            self.out.write(&packed.data)?;
            header::new_central_header(name, *method, time, &packed.sizes, offset, &mut new_headers);
        }

        let start = self.out.position;
        let mut record = Vec::new();
        for (entry, fate) in directory.entries.iter().zip(&self.fates) {
            let (start, sizes) = match fate {
                Fate::Kept { start } => (*start, None),
                Fate::Replaced { start, sizes } => (*start, Some(sizes)),
                Fate::Dropped => continue,
            };
            count += 1;
            record.clear();
            header::central_header(entry.record, sizes, start - directory.base, &mut record);
            self.out.write(&record)?;
        }
        self.out.write(&new_headers)?;
        self.out.write(&directory.bytes[directory.headers_end..directory.end])?;

        let at = self.out.position;
        let extent = DirectoryExtent { count, len: at - start, offset: start - directory.base };
        record.clear();
        header::end_records(directory.end_record, directory.end64, &extent, at, &mut record);
        self.out.write(&record)?;
        self.out.write(&directory.bytes[directory.tail..])?;
        self.out.flush()?;
        Ok(Some(self.out.position))
    }
}

/// The date for new entries: that of the manifest, or else the DOS epoch.
pub(super) fn time_for_additions(directory: &Directory<'_>) -> DosTime {
    let manifest = directory.entries.iter().find(|entry| super::manifest::is_manifest(entry.name));
    manifest.map_or(header::DOS_EPOCH, |entry| header::u32_at(entry.record, 12))
}

/// An archive without entries.
pub(super) const EMPTY: [u8; header::END_LEN] = {
    let mut record = [0; header::END_LEN];
    [record[0], record[1], record[2], record[3]] = header::END_SIGNATURE;
    record
};

/// Packs the data of a new entry: DEFLATED, unless there is none or that is not wanted.
pub(super) fn pack_addition(data: Vec<u8>, stored: bool, level: i32) -> Addition {
    let stored = stored || data.is_empty();
    let method = if stored { STORED } else { header::DEFLATED };
    Addition { method, packed: super::codec::pack(data, method, level) }
}
