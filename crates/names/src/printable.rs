//! Text of programs and files, made safe for a terminal: the one home of that rule.
//!
//! A name may hold anything: ESC and C1 characters control a terminal, and bidirectional marks reorder a line
//! (CVE-2021-42574). Each such character is written as `\u001b`, as in Java, so two names that differ stay different. A
//! name that was made safe stays as it is.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character controls a terminal, reorders or breaks a line, or has no width.
pub(crate) fn is_unsafe(c: char) -> bool {
    let is_format = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || is_format
}

/// A name as a line of text shows it. Line ends and tabs are escaped as well.
///
/// ```
/// # use instrument_names::printable::printable;
/// assert_eq!(printable("pool-1\x1b[2J"), "pool-1\\u001b[2J");
/// ```
pub fn printable(name: &str) -> Cow<'_, str> {
    escaped(name, &[])
}

/// Whole lines of text: line ends and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, &['\n', '\t'])
}

/// A name of unknown encoding: bytes that are no UTF-8 become `\\xff`.
pub fn printable_bytes(name: &[u8]) -> String {
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        out.push_str(&printable(chunk.valid()));
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}

fn escaped<'a>(text: &'a str, keep: &[char]) -> Cow<'a, str> {
    // Nearly all names are plain ASCII.
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
    let escapes = |c: char| is_unsafe(c) && !keep.contains(&c);
    if text.bytes().all(is_plain) || !text.chars().any(escapes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match escapes(c) {
            true => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_and_marks_are_escaped_and_letters_are_not() {
        assert_eq!(printable("a\x1b]0;x\x07\u{9b}\u{7f}"), "a\\u001b]0;x\\u0007\\u009b\\u007f");
        assert_eq!(printable("\u{202e}\u{2066}\u{61c}\n"), "\\u202e\\u2066\\u061c\\u000a");
        let letters = "Größe.計算(\\u0041) שלום \u{1f600}";
        assert!(matches!(printable(letters), Cow::Borrowed(same) if same == letters));
        assert_eq!(printable_lines("a\n\tb\x1b"), "a\n\tb\\u001b");
        let once = printable("\x1b[\u{2028}").into_owned();
        assert_eq!(printable(&once), once);
    }

    #[test]
    fn what_is_no_text_is_escaped() {
        assert_eq!(printable_bytes(b"a\x1b[\xff\xe2\x80\xae"), "a\\u001b[\\xff\\u202e");
    }
}
