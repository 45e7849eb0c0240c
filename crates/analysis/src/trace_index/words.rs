//! Numbers of any size as bytes, seven bits in each, the lowest first; with a checksum of all of them.

use std::io::{self, Write};

use flate2::Crc;

/// Bytes that are handed on at once.
const PART: usize = 1 << 16;

/// Writes numbers.
pub(super) struct Out<W> {
    to: W,
    part: Vec<u8>,
    sum: Crc,
    /// Bytes before those of `part`.
    written: u64,
    error: Option<io::Error>,
}

impl<W: Write> Out<W> {
    pub(super) fn new(to: W) -> Out<W> {
        Out { to, part: Vec::with_capacity(2 * PART), sum: Crc::new(), written: 0, error: None }
    }

    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.part.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.part.push(number as u8);
        if self.part.len() >= PART {
            self.hand_on();
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.part.extend_from_slice(bytes);
    }

    /// Bytes so far.
    pub(super) fn position(&self) -> u64 {
        self.written + self.part.len() as u64
    }

    fn hand_on(&mut self) {
        self.sum.update(&self.part);
        self.written += self.part.len() as u64;
        if self.error.is_none() {
            self.error = self.to.write_all(&self.part).err();
        }
        self.part.clear();
    }

    /// There is no more: how many bytes there are, and their checksum.
    pub(super) fn finish(mut self) -> io::Result<(u64, u32)> {
        self.hand_on();
        self.error.map_or(Ok((self.written, self.sum.sum())), Err)
    }
}

/// Reads numbers; none where the bytes are not what was written.
pub(super) struct In<'a>(pub(super) &'a [u8]);

impl In<'_> {
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        if first < 0x80 { Some(u64::from(first)) } else { self.long(u64::from(first & 0x7f)) }
    }

    fn long(&mut self, mut number: u64) -> Option<u64> {
        for shift in (7..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    #[inline]
    pub(super) fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// How many of something follow, each of at least one byte.
    pub(super) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|&count| count <= self.0.len())
    }

    /// Some of something.
    pub(super) fn all<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            all.push(read(self)?);
        }
        Some(all)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_are_read_again() {
        let numbers = [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut bytes = Vec::new();
        let mut out = Out::new(&mut bytes);
        numbers.iter().for_each(|&number| out.number(number));
        out.text("main");
        let position = out.position();
        let (length, sum) = out.finish().unwrap();
        assert_eq!((length, position), (bytes.len() as u64, length));
        let mut whole = Crc::new();
        whole.update(&bytes);
        assert_eq!(sum, whole.sum());
        let mut read = In(&bytes);
        assert_eq!(numbers.map(|_| read.number()), numbers.map(Some));
        assert_eq!(read.text().as_deref(), Some("main"));
        assert_eq!(read.number(), None);
        assert_eq!(In(&[0xff; 11]).number(), None, "too long");
        assert_eq!(In(&[200, 1]).text(), None, "cut off");
    }
}
