//! The bytes of a profile, read at file offsets that nobody has checked: what is not there reads as 0. Words that a journal
//! says were about to change read as changed.

use std::collections::HashMap;

pub(crate) struct Bytes<'a> {
    data: &'a [u8],
    /// Values by file offset: two for each valid journal.
    changed: HashMap<u64, u64>,
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Bytes { data, changed: HashMap::new() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.data.len() as u64
    }

    pub(crate) fn change(&mut self, offset: u64, value: u64) {
        self.changed.insert(offset, value);
    }

    /// The bytes from `offset`, as far as they are there.
    pub(crate) fn slice(&self, offset: u64, length: u64) -> &'a [u8] {
        let start = offset.min(self.len());
        let end = offset.saturating_add(length).min(self.len());
        &self.data[start as usize..end as usize]
    }

    pub(crate) fn u32(&self, offset: u64) -> u32 {
        self.slice(offset, 4).try_into().map_or(0, u32::from_le_bytes)
    }

    pub(crate) fn u64(&self, offset: u64) -> u64 {
        if !self.changed.is_empty()
            && let Some(&value) = self.changed.get(&offset)
        {
            return value;
        }
        self.slice(offset, 8).try_into().map_or(0, u64::from_le_bytes)
    }

    pub(crate) fn text(&self, offset: u64, length: u64) -> String {
        String::from_utf8_lossy(self.slice(offset, length)).into_owned()
    }
}
