//! Modified UTF-8 (JVMS 4.4.7). Names are compared and copied as bytes; this module prints them, and writes single
//! characters.

use crate::printable::is_unsafe;
use std::fmt::Write;

/// Decodes to UTF-16 code units; a byte that fits no rule becomes itself (U+0000..U+00FF), so that
/// printing never fails.
pub fn code_units(bytes: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (unit, length) = match *rest {
            [] => return None,
            [a @ 0x01..=0x7f, ..] => (u16::from(a), 1),
            [a @ 0xc0..=0xdf, b @ 0x80..=0xbf, ..] => (u16::from(a & 0x1f) << 6 | u16::from(b & 0x3f), 2),
            [a @ 0xe0..=0xef, b @ 0x80..=0xbf, c @ 0x80..=0xbf, ..] => {
                (u16::from(a & 0x0f) << 12 | u16::from(b & 0x3f) << 6 | u16::from(c & 0x3f), 3)
            }
            [a, ..] => (u16::from(a), 1),
        };
        rest = &rest[length..];
        Some(unit)
    })
}

/// Appends a UTF-16 code unit: NUL in two bytes, a surrogate in three.
pub fn push_unit(unit: u16, out: &mut Vec<u8>) {
    let low = |unit: u16| 0x80 | (unit & 0x3f) as u8;
    match unit {
        1..=0x7f => out.push(unit as u8),
        0 | 0x80..=0x7ff => out.extend([0xc0 | (unit >> 6) as u8, low(unit)]),
        _ => out.extend([0xe0 | (unit >> 12) as u8, low(unit >> 6), low(unit)]),
    }
}

/// For people: printable characters as they are, everything else (controls, lone surrogates, the
/// backslash, spaces if asked for) as `\uXXXX`.
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for decoded in char::decode_utf16(code_units(bytes)) {
        match decoded {
            Ok('\\') => out.push_str("\\\\"),
            Ok(c) if !is_unsafe(c) => out.push(c),
            Ok(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            Err(lone) => {
                let _ = write!(out, "\\u{:04x}", lone.unpaired_surrogate());
            }
        }
    }
    out
}

/// The bytes of a name that [`escape`] has printed so; what is no escape is the text itself.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let unit = rest.strip_prefix("\\u").and_then(|after| after.get(..4));
        let unit = unit.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let unit = unit.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        rest = match unit {
            Some(unit) => {
                push_unit(unit, &mut out);
                &rest["\\uXXXX".len()..]
            }
            None => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|&unit| push_unit(unit, &mut out));
                let is_pair = rest.starts_with("\\\\");
                &rest[if is_pair { 2 } else { c.len_utf8() }..]
            }
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_java_can_put_into_a_name() {
        assert_eq!(escape(b"plain"), "plain");
        assert_eq!(escape(b"a\\b"), "a\\\\b");
        assert_eq!(escape(&[b'x', 0xc0, 0x80]), "x\\u0000");
        assert_eq!(escape(&[0xed, 0xa0, 0x80, b'y']), "\\ud800y");
        assert_eq!(escape(&[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]), "\u{1f600}");
        assert_eq!(escape("\u{202e}".as_bytes()), "\\u202e");
        assert_eq!(escape(&[0xff]), "\u{ff}");
    }

    #[test]
    fn what_is_read_is_written_the_same() {
        let sound = ["a\u{7f}é計".as_bytes(), &[0xc0, 0x80], &[0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]].concat();
        let mut written = Vec::new();
        code_units(&sound).for_each(|unit| push_unit(unit, &mut written));
        assert_eq!(written, sound);
    }

    #[test]
    fn what_was_printed_is_printed_the_same_again() {
        let names: [&[u8]; 6] =
            [b"a\\b", b"a\\\\u0041", b"\\u00e9", &[b'x', 0xc0, 0x80], &[0xed, 0xa0, 0x80, b'y'], b"\\u00"];
        for name in names {
            assert_eq!(unescape(&escape(name)), name, "{name:?}");
        }
        for text in ["plain", "\u{1f600}", "\u{ff}", "lone \\", "\\uzzzz", "\\u+041"] {
            let printed = escape(&unescape(text));
            assert_eq!(escape(&unescape(&printed)), printed, "{text}");
        }
        assert_eq!(unescape("\\u0041\\\\é"), "A\\é".as_bytes());
    }
}
