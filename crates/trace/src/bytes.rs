//! The bytes of a profile, read at file offsets that nobody has checked: what is not there reads as 0. Words that a journal
//! says were about to change read as changed.
//!
//! Reading goes through a window onto the source. It is small after a jump and grows while reading goes on from it, so
//! that headers that lie far apart cost little, and long regions few calls.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;

use crate::source::Source;

const SMALL: usize = 4096;
const LARGE: usize = 256 * 1024;

pub(crate) struct Bytes<'a> {
    source: &'a dyn Source,
    size: u64,
    window: RefCell<Window>,
    /// Values by file offset: two for each valid journal.
    changed: HashMap<u64, u64>,
    /// Where the first text is that is none.
    garbled: Cell<Option<u64>>,
}

#[derive(Default)]
struct Window {
    start: u64,
    data: Vec<u8>,
    /// The first error of the source. What could not be read then reads as 0.
    error: Option<io::Error>,
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(source: &'a dyn Source) -> io::Result<Self> {
        Ok(Bytes {
            source,
            size: source.size()?,
            window: RefCell::default(),
            changed: HashMap::new(),
            garbled: Cell::new(None),
        })
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The first error of the source, if there was one.
    pub(crate) fn error(&self) -> Option<io::Error> {
        self.window.borrow_mut().error.take()
    }

    pub(crate) fn change(&mut self, offset: u64, value: u64) {
        self.changed.insert(offset, value);
    }

    /// Fills `out`, at most [`SMALL`] bytes.
    fn get(&self, offset: u64, out: &mut [u8]) {
        let mut window = self.window.borrow_mut();
        if offset < window.start || offset.saturating_add(out.len() as u64) > window.end() {
            if offset >= self.size {
                return;
            }
            window.move_to(offset, self.source, self.size);
        }
        let data = &window.data[(offset - window.start) as usize..];
        let there = data.len().min(out.len());
        out[..there].copy_from_slice(&data[..there]);
    }

    pub(crate) fn u32(&self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        self.get(offset, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    pub(crate) fn u64(&self, offset: u64) -> u64 {
        let [word] = self.words(offset);
        word
    }

    /// Up to 16 words.
    pub(crate) fn words<const N: usize>(&self, offset: u64) -> [u64; N] {
        let mut bytes = [0; 128];
        let bytes = &mut bytes[..8 * N];
        self.get(offset, bytes);
        let mut words = [0; N];
        for (i, (word, bytes)) in words.iter_mut().zip(bytes.chunks_exact(8)).enumerate() {
            *word = bytes.try_into().map_or(0, u64::from_le_bytes);
            if !self.changed.is_empty()
                && let Some(&value) = self.changed.get(&offset.saturating_add(8 * i as u64))
            {
                *word = value;
            }
        }
        words
    }

    /// The bytes from `offset`, as far as they are there.
    pub(crate) fn data(&self, offset: u64, length: u64) -> Vec<u8> {
        let start = offset.min(self.size);
        let end = offset.saturating_add(length).min(self.size);
        let mut data = vec![0; (end - start) as usize];
        let mut window = self.window.borrow_mut();
        let filled = window.fill(start, &mut data, self.source);
        data.truncate(filled);
        data
    }

    pub(crate) fn text(&self, offset: u64, length: u64) -> String {
        String::from_utf8(self.data(offset, length)).unwrap_or_else(|error| {
            // Names were once cut within a character.
            if error.utf8_error().error_len().is_some() {
                self.garbled.set(self.garbled.get().or(Some(offset)));
            }
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        })
    }

    /// Where the first text is that is not UTF-8.
    pub(crate) fn garbled(&self) -> Option<u64> {
        self.garbled.get()
    }
}

impl Window {
    fn end(&self) -> u64 {
        self.start + self.data.len() as u64
    }

    fn move_to(&mut self, offset: u64, source: &dyn Source, size: u64) {
        let goes_on = offset >= self.start && offset <= self.end();
        let length = if goes_on { (2 * self.data.len()).clamp(SMALL, LARGE) } else { SMALL };
        let mut data = std::mem::take(&mut self.data);
        data.resize(length.min(usize::try_from(size - offset).unwrap_or(length)), 0);
        let filled = self.fill(offset, &mut data, source);
        data.truncate(filled);
        (self.start, self.data) = (offset, data);
    }

    fn fill(&mut self, offset: u64, data: &mut [u8], source: &dyn Source) -> usize {
        source.fill_at(offset, data).unwrap_or_else(|e| {
            self.error.get_or_insert(e);
            0
        })
    }
}
