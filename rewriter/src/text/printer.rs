//! The text under construction: indentation, escaping, offsets, the limit on its size.

use super::{CUT, PrintOptions};
use crate::class_file::{ClassFile, Reader, mutf8};
use std::fmt::{Display, Write};

/// How deep annotations and dynamic constants may nest before they are printed as bytes or indices.
pub(super) const MAX_DEPTH: usize = 16;

/// How positions in the code array are printed.
#[derive(Debug, Default)]
pub(super) enum Positions {
    /// As the offset itself.
    #[default]
    Offsets,
    /// Not at all: they are collected, to become labels.
    Collected(Vec<usize>),
    /// As labels: sorted, so that the rank is the label's number.
    Labels(Vec<usize>),
}

pub(super) struct Printer<'p, 'a> {
    pub(super) class: &'p ClassFile<'a>,
    pub(super) options: &'p PrintOptions,
    pub(super) positions: Positions,
    /// Where an instruction starts, and the end of the code; empty outside of a Code attribute.
    pub(super) boundaries: Vec<bool>,
    /// Offset in the class file of each row of BootstrapMethods.
    pub(super) bootstrap_methods: Vec<usize>,
    out: String,
    limit: usize,
    indent: usize,
    cut: bool,
}

impl<'p, 'a> Printer<'p, 'a> {
    pub(super) fn new(class: &'p ClassFile<'a>, options: &'p PrintOptions) -> Self {
        let mut printer = Self {
            class,
            options,
            positions: Positions::Offsets,
            boundaries: Vec::new(),
            bootstrap_methods: Vec::new(),
            out: String::new(),
            limit: options.limit.saturating_add(class.bytes.len().saturating_mul(16)),
            indent: 0,
            cut: false,
        };
        printer.bootstrap_methods = printer.find_bootstrap_methods();
        printer
    }

    pub(super) fn finish(mut self) -> String {
        if self.cut {
            let _ = write!(self.out, "\n{CUT}\n");
        }
        self.out
    }

    /// Whether the limit is reached. Whoever prints more than a line per item of input asks, so that
    /// printing ends soon.
    pub(super) fn is_full(&self) -> bool {
        self.cut
    }

    pub(super) fn mark(&self) -> usize {
        self.out.len()
    }

    /// Takes back what was printed since `mark`.
    pub(super) fn take_back(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.out.len() + text.len() > self.limit {
            self.cut = true;
        }
        if !self.cut {
            self.out.push_str(text);
        }
    }

    pub(super) fn put(&mut self, item: impl Display) {
        if self.out.len() >= self.limit {
            self.cut = true;
        }
        if !self.cut {
            let _ = write!(self.out, "{item}");
        }
    }

    /// Opens a line.
    pub(super) fn start(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.text("  ");
        }
        self.text(text);
    }

    pub(super) fn end(&mut self) {
        self.text("\n");
    }

    /// The empty line between two sections of a listing.
    pub(super) fn gap(&mut self) {
        self.text(if self.options.canonical { "" } else { "\n" });
    }

    /// Ends a line about the structure at `offset` of the class file.
    pub(super) fn end_at(&mut self, offset: usize) {
        if self.options.raw {
            self.put(format_args!("  // {offset:#x}"));
        }
        self.end();
    }

    pub(super) fn line(&mut self, item: impl Display) {
        self.start("");
        self.put(item);
        self.end();
    }

    /// Prints one level further in.
    pub(super) fn nested<T>(&mut self, print: impl FnOnce(&mut Self) -> T) -> T {
        self.indent += 1;
        let result = print(self);
        self.indent -= 1;
        result
    }

    /// A name or descriptor: no blanks, nothing that could be taken for a label.
    pub(super) fn name(&mut self, bytes: &[u8]) {
        if self.cut {
            return;
        }
        let mut text = escape(bytes);
        if text.contains(' ') {
            text = text.replace(' ', "\\u0020");
        }
        self.text(if text.is_empty() { "\"\"" } else { &text });
    }

    /// Free text in double quotes.
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        if self.cut {
            return;
        }
        self.text("\"");
        self.text(&escape(bytes).replace('"', "\\\""));
        self.text("\"");
    }

    /// A Utf8 entry as a name.
    pub(super) fn utf8(&mut self, index: u16) {
        match self.class.pool.utf8(index) {
            Ok(bytes) => self.name(bytes),
            Err(_) => self.bad(index, "Utf8"),
        }
    }

    /// A Utf8 entry as text in quotes.
    pub(super) fn quoted_utf8(&mut self, index: u16) {
        match self.class.pool.utf8(index) {
            Ok(bytes) => self.literal(bytes),
            Err(_) => self.bad(index, "Utf8"),
        }
    }

    /// An index that names no entry of the kind that is wanted there.
    pub(super) fn bad(&mut self, index: u16, wanted: &str) {
        match self.class.pool.tag(index) {
            Some(tag) => self.put(format_args!("<#{index} is {}, not {wanted}>", tag.name())),
            None => self.put(format_args!("<#{index} is no constant, {wanted} expected>")),
        }
    }

    /// ` #12`, if indices are printed.
    pub(super) fn index(&mut self, index: u16) {
        if self.options.raw {
            self.put(format_args!(" #{index}"));
        }
    }

    /// A position in the code array.
    pub(super) fn position(&mut self, pc: usize) {
        if !self.boundaries.get(pc).copied().unwrap_or(false) {
            self.put(format_args!("{pc}(no-instruction)"));
            return;
        }
        match &mut self.positions {
            Positions::Offsets => self.put(pc),
            Positions::Collected(pcs) => pcs.push(pc),
            Positions::Labels(pcs) => {
                let rank = pcs.partition_point(|&p| p < pc);
                self.put(format_args!("L{rank}"));
            }
        }
    }

    /// `from .. to`, both positions in the code array.
    pub(super) fn range(&mut self, from: usize, to: usize) {
        self.position(from);
        self.text(" .. ");
        self.position(to);
    }

    /// Bytes as lines of 32.
    pub(super) fn hex(&mut self, bytes: &[u8]) {
        for row in bytes.chunks(32) {
            if self.is_full() {
                return;
            }
            self.start("");
            self.hex_words(row);
            self.end();
        }
    }

    /// Bytes in groups of four.
    pub(super) fn hex_words(&mut self, bytes: &[u8]) {
        for (at, byte) in bytes.iter().enumerate() {
            let gap = if at > 0 && at % 4 == 0 { " " } else { "" };
            self.put(format_args!("{gap}{byte:02x}"));
        }
    }

    /// A reader of `start..end` of the class file whose positions are offsets in the class file.
    pub(super) fn reader(&self, start: usize, end: usize, structure: &'static str) -> Reader<'a> {
        Reader::new(&self.class.bytes[..end], start, structure)
    }
}

/// [`mutf8::escape`], made unambiguous: bytes that are not the modified UTF-8 of any string are added in
/// hex, and an `L1` that stands where a label could stand has its L escaped.
fn escape(bytes: &[u8]) -> String {
    let mut text = mutf8::escape(bytes);
    if !is_canonical(bytes) {
        text.push_str("\\x{");
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('}');
    }
    let mut safe = String::new();
    let mut from = 0;
    while let Some(label) = find_label(&text, from) {
        safe.push_str(&text[from..label.start]);
        safe.push_str("\\u004c");
        safe.push_str(&text[label.start + 1..label.end]);
        from = label.end;
    }
    if from == 0 {
        return text;
    }
    safe.push_str(&text[from..]);
    safe
}

/// Whether the bytes are what a compiler writes for the string that they decode to.
fn is_canonical(bytes: &[u8]) -> bool {
    if bytes.iter().all(|b| (1..=0x7f).contains(b)) {
        return true;
    }
    let mut rest = bytes;
    for unit in mutf8::code_units(bytes) {
        let encoded = match unit {
            1..=0x7f => vec![unit as u8],
            0 | 0x80..=0x7ff => vec![0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8],
            _ => vec![0xe0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8],
        };
        match rest.strip_prefix(&encoded[..]) {
            Some(tail) => rest = tail,
            None => return false,
        }
    }
    true
}

/// The next label (`L` and digits) at or behind `from`: nothing, a blank or `(` in front of it, and
/// nothing, a blank, `)`, `:` or `,` behind it.
pub(super) fn find_label(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(found) = bytes.get(at..)?.iter().position(|&b| b == b'L') {
        let start = at + found;
        let digits = bytes[start + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        let end = start + 1 + digits;
        let opens = start == 0 || matches!(bytes[start - 1], b' ' | b'(');
        let closes = matches!(bytes.get(end), None | Some(b' ' | b')' | b':' | b',' | b'\n'));
        if digits > 0 && opens && closes {
            return Some(start..end);
        }
        at = start + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_bytes_never_print_alike() {
        let pairs: [(&[u8], &[u8]); 5] = [
            (&[0xff], &[0xc3, 0xbf]),
            (&[0], &[0xc0, 0x80]),
            (&[0xc1, 0x81], b"A"),
            (b"\\u004c1", b"L1"),
            (&[0xf0, 0x9f, 0x98, 0x80], &[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]),
        ];
        for (left, right) in pairs {
            assert_ne!(escape(left), escape(right), "{left:x?} {right:x?}");
        }
        assert_eq!(escape(&[0xc0, 0x80]), "\\u0000");
        assert_eq!(escape(&[0]), "\\u0000\\x{00}");
    }

    #[test]
    fn a_name_is_never_taken_for_a_label() {
        assert_eq!(escape(b"L12"), "\\u004c12");
        assert_eq!(escape(b"see L1, (L2) and L3"), "see \\u004c1, (\\u004c2) and \\u004c3");
        assert_eq!(escape(b"(L1;)V"), "(L1;)V");
        assert_eq!(escape(b"aL1"), "aL1");
        assert_eq!(find_label("goto L7\n", 0), Some(5..7));
        assert_eq!(find_label("La L L1x xL1", 0), None);
    }
}
