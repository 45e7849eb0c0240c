//! The file: records one after another, those of the heap in segments, and places kept free for what is known only at the end.
//!
//! Records of the heap have to follow one another, and texts and classes to come before them. So there is a place for late ones, too:
//! a text that nobody refers to, of which as much is used as is needed. What does not fit comes after the heap, where some readers do
//! not find it.
//!
//! It is written beside its target and renamed when it is whole. Whatever goes wrong is kept until [`Output::finish`], so that those
//! who write need not look; they may ask whether there is still a point in it.

use super::record;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A segment ends when it is longer, unless a single record is.
const SEGMENT: u64 = 64 << 20;
const BUFFER: usize = 1 << 20;
/// Bytes that are kept free for late records.
const LATE: usize = 256 << 10;
/// The text that fills what is left of them.
const FILLER: u64 = u64::MAX;

/// A file in the making. It is removed if it is not finished.
#[derive(Debug)]
pub(super) struct Output {
    file: File,
    part: PathBuf,
    target: PathBuf,
    buffer: Vec<u8>,
    /// Bytes before the buffer.
    written: u64,
    /// Where the body of the open segment begins.
    segment: Option<u64>,
    /// Lengths of segments, to be written at the end: place and length.
    lengths: Vec<(u64, u32)>,
    /// Where late records go, and those that there are.
    late: Option<(u64, Vec<u8>)>,
    error: Option<io::Error>,
}

impl Output {
    pub(super) fn create(target: &Path) -> io::Result<Output> {
        let name = target.file_name().ok_or_else(|| io::Error::other("not the name of a file"))?;
        if target.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let mut part = name.to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = target.with_file_name(part);
        // Of another process with this id, which is dead.
        let _ = fs::remove_file(&part);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        Ok(Output {
            file,
            part,
            target: target.to_owned(),
            buffer: Vec::with_capacity(BUFFER),
            written: 0,
            segment: None,
            lengths: Vec::new(),
            late: None,
            error: None,
        })
    }

    /// Whether something went wrong.
    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Bytes so far.
    pub(super) fn length(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush();
        }
        if bytes.len() > BUFFER {
            self.write(bytes, self.written);
            self.written += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// So many zeros.
    pub(super) fn put_zeros(&mut self, mut count: u64) {
        while count > 0 {
            let some = count.min(BUFFER as u64) as usize;
            if self.buffer.len() + some > BUFFER {
                self.flush();
            }
            self.buffer.resize(self.buffer.len() + some, 0);
            count -= some as u64;
        }
    }

    /// A record outside of the heap's.
    pub(super) fn record(&mut self, tag: u8, body: &[u8]) {
        let head = record::head(tag, body.len() as u32);
        match &mut self.late {
            Some((_, late)) => {
                late.extend_from_slice(&head);
                late.extend_from_slice(body);
            }
            None => {
                self.put(&head);
                self.put(body);
            }
        }
    }

    /// From here on, records are late ones: the heap's begin.
    pub(super) fn begin_heap(&mut self) {
        self.flush();
        self.late = Some((self.written, Vec::new()));
        self.written += LATE as u64;
    }

    /// A record of the heap, of so many bytes, is about to be put. It has to fit into a segment: be shorter than 4 GB.
    pub(super) fn begin_object(&mut self, length: u64) {
        if self.segment.is_some_and(|start| self.length() - start + length > SEGMENT) {
            self.end_segment();
        }
        if self.segment.is_none() {
            self.put(&record::head(record::HEAP_DUMP_SEGMENT, 0));
            self.segment = Some(self.length());
        }
    }

    /// Ends a segment, if one is open.
    pub(super) fn end_segment(&mut self) {
        if let Some(start) = self.segment.take() {
            self.lengths.push((start - 4, (self.length() - start) as u32));
        }
    }

    /// Keeps a place free for a segment with a body of so many bytes; where it is.
    pub(super) fn reserve_segment(&mut self, length: u32) -> u64 {
        self.end_segment();
        self.put(&record::head(record::HEAP_DUMP_SEGMENT, length));
        self.flush();
        let place = self.written;
        self.written += u64::from(length);
        place
    }

    /// Fills a place that was kept free, ends the file, and gives it its name. Its length.
    pub(super) fn finish(mut self, place: u64, body: &[u8]) -> io::Result<u64> {
        self.end_segment();
        let (late_place, late) = self.late.take().unwrap_or_default();
        let filler = |length: usize| {
            let mut filler = record::head(record::UTF8, (length - 9) as u32).to_vec();
            filler.extend_from_slice(&FILLER.to_be_bytes());
            filler.resize(length, b' ');
            filler
        };
        if late.len() + 9 + 8 <= LATE {
            let filler = filler(LATE - late.len());
            self.write(&[late, filler].concat(), late_place);
        } else {
            self.write(&filler(LATE), late_place);
            self.put(&late);
        }
        self.put(&record::head(record::HEAP_DUMP_END, 0));
        self.flush();
        self.write(body, place);
        for (place, length) in std::mem::take(&mut self.lengths) {
            self.write(&length.to_be_bytes(), place);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => fs::rename(&self.part, &self.target).map(|()| self.written),
        }
    }

    fn flush(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer, self.written);
        self.written += buffer.len() as u64;
        self.buffer = buffer;
        self.buffer.clear();
    }

    fn write(&mut self, bytes: &[u8], place: u64) {
        if self.error.is_none() {
            self.error = self.file.write_all_at(bytes, place).err();
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Gone already, if it was renamed.
        let _ = fs::remove_file(&self.part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_as_long_as_they_say_and_the_name_comes_last() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.hprof");
        let mut output = Output::create(&target).unwrap();
        output.record(record::STACK_TRACE, &[9; 12]);
        output.begin_heap();
        let place = output.reserve_segment(3);
        let object = vec![7u8; 40 << 20];
        for _ in 0..2 {
            output.begin_object(object.len() as u64);
            output.put(&object);
        }
        output.begin_object(10);
        output.put_zeros(10);
        output.record(record::UTF8, &[9; 8]);
        assert!(!target.exists());
        let length = output.finish(place, b"abc").unwrap();
        let bytes = fs::read(&target).unwrap();
        assert_eq!(bytes.len() as u64, length);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let (mut at, mut seen) = (0, Vec::new());
        while at < bytes.len() {
            let body = u32::from_be_bytes(bytes[at + 5..at + 9].try_into().unwrap()) as usize;
            seen.push((bytes[at], body));
            at += 9 + body;
        }
        let heap = [(0x1C, 3), (0x1C, 40 << 20), (0x1C, (40 << 20) + 10), (0x2C, 0)];
        assert_eq!(seen, [&[(5, 12), (1, 8), (1, LATE - 9 - 8 - 9)], &heap[..]].concat());
        let at = 9 + 12 + LATE + 9;
        assert_eq!(&bytes[at..at + 3], b"abc");
    }

    #[test]
    fn late_records_that_do_not_fit_come_after_the_heap() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.hprof");
        let mut output = Output::create(&target).unwrap();
        output.begin_heap();
        let place = output.reserve_segment(3);
        output.record(record::UTF8, &vec![b'x'; LATE]);
        output.finish(place, b"abc").unwrap();
        let bytes = fs::read(&target).unwrap();
        assert_eq!(bytes.len(), LATE + (9 + 3) + (9 + LATE) + 9);
        assert_eq!((bytes[0], bytes[LATE], bytes[LATE + 12], bytes[bytes.len() - 9]), (1, 0x1C, 1, 0x2C));
    }

    #[test]
    fn what_is_not_finished_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        drop(Output::create(&folder.path().join("x")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Output::create(&folder.path().join("no/x")).is_err());
        assert!(Output::create(folder.path()).is_err());
    }
}
