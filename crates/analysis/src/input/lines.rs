//! Lines of text, with their numbers, in bounded memory.

use super::Error;
use std::io::{BufRead, Read};

/// More than a stack of 100,000 frames with long names.
const LONGEST: u64 = 64 << 20;

/// The lines of an input that are neither blank nor comments, without what surrounds their text.
///
/// A comment begins with `#` and a blank; `#17` is a name.
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    repeat: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Lines<R> {
        Lines { reader, line: Vec::new(), number: 0, repeat: false }
    }

    /// The next line; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        while !std::mem::take(&mut self.repeat) {
            self.line.clear();
            self.number += 1;
            if self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            if self.line.len() as u64 == LONGEST {
                return Err(self.error(format!("longer than {LONGEST} bytes")));
            }
            let text = self.line.trim_ascii();
            if !matches!(text, [] | [b'#'] | [b'#', b' ' | b'\t', ..]) {
                break;
            }
        }
        Ok(Some(self.line.trim_ascii()))
    }

    /// Makes `next` give the current line once more.
    pub(super) fn repeat(&mut self) {
        self.repeat = true;
    }

    /// What is wrong with the current line.
    pub(super) fn error(&self, reason: impl Into<String>) -> Error {
        Error::Line { line: self.number, reason: reason.into() }
    }
}

/// Skips a byte order mark, and tells the first byte that is not white space.
pub(super) fn first_byte(reader: &mut impl BufRead) -> Result<Option<u8>, Error> {
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(reader.fill_buf()?.iter().copied().find(|byte| !byte.is_ascii_whitespace()))
}

/// No figure is as large, and no sum of those that are smaller is infinite.
const LARGEST: f64 = 1e30;

/// A decimal number.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    text.parse().ok().filter(|number: &f64| number.abs() < LARGEST)
}

/// Text as it is shown in messages: not longer than a line.
pub(super) fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(200)]);
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}..") } else { short }
}
