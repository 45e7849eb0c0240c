//! Text and times as they stand in attributes.

use std::borrow::Cow;
use std::fmt::Write;

/// Text that may be anything, as a value that every XML parser takes and gives back as it is: what XML 1.0 forbids or
/// parsers change in attributes (control characters, U+FFFE, U+FFFF) becomes `\uXXXX`, as in Java, and a backslash
/// becomes two.
pub(super) fn value(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c == '\\' || c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut value = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c == '\\' {
            value.push_str("\\\\");
        } else if is_odd(c) {
            let _ = write!(value, "\\u{:04X}", u32::from(c));
        } else {
            value.push(c);
        }
    }
    Cow::Owned(value)
}

/// The calendar of a profile: its clock as seconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calendar {
    pub(super) start_ms: u64,
    pub(super) start_clock: u64,
}

impl Calendar {
    /// Seconds with nine digits after the point.
    pub(super) fn time(self, clock: u64) -> String {
        let start = i128::from(self.start_ms) * 1_000_000;
        let ns = (start + i128::from(clock) - i128::from(self.start_clock)).max(0);
        match u64::try_from(ns) {
            Ok(ns) => format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            Err(_) => format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_written_as_in_java() {
        for (text, expected) in [
            ("com.acme.Shop", "com.acme.Shop"),
            ("a<b>&\"'", "a<b>&\"'"),
            ("a\0b\t\n\u{1f}", "a\\u0000b\\u0009\\u000A\\u001F"),
            ("\u{7f}\u{85}", "\\u007F\\u0085"),
            ("\u{fffe}\u{ffff}\u{fffd}", "\\uFFFE\\uFFFF\u{fffd}"),
            ("C:\\u0041", "C:\\\\u0041"),
            ("\u{1f600}", "\u{1f600}"),
        ] {
            assert_eq!(value(text), expected);
        }
    }

    #[test]
    fn times_are_exact() {
        let calendar = Calendar { start_ms: 1_700_000_000_123, start_clock: 5_000_000 };
        assert_eq!(calendar.time(5_000_000), "1700000000.123000000");
        assert_eq!(calendar.time(5_000_001), "1700000000.123000001");
        assert_eq!(calendar.time(4_999_999), "1700000000.122999999");
        assert_eq!(calendar.time(u64::MAX), "20146744073.827551615");
        assert_eq!(Calendar { start_ms: 0, start_clock: 9 }.time(0), "0.000000000");
    }
}
