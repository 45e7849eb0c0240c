//! Names of class files for people: Modified UTF-8 (JVMS 4.4.7) to text that is safe to print.

/// `name` as text. What is not Modified UTF-8 becomes U+FFFD; control characters, which could steer a terminal, are escaped.
pub(crate) fn display(name: &[u8]) -> String {
    let text = match std::str::from_utf8(name) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf16_lossy(&units(name)),
    };
    if !text.chars().any(|c| c.is_control()) {
        return text;
    }
    let escaped = |c: char| {
        if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }
    };
    text.chars().map(escaped).collect()
}

fn units(name: &[u8]) -> Vec<u16> {
    let mut units = Vec::with_capacity(name.len());
    let mut rest = name;
    let tail = |b: u8| u16::from(b & 0x3f);
    while !rest.is_empty() {
        let (unit, length) = match *rest {
            [a @ 0..=0x7f, ..] => (u16::from(a), 1),
            [a @ 0xc0..=0xdf, b @ 0x80..=0xbf, ..] => (u16::from(a & 0x1f) << 6 | tail(b), 2),
            [a @ 0xe0..=0xef, b @ 0x80..=0xbf, c @ 0x80..=0xbf, ..] => {
                (u16::from(a & 0x0f) << 12 | tail(b) << 6 | tail(c), 3)
            }
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = &rest[length..];
    }
    units
}

#[cfg(test)]
mod tests {
    use super::display;

    #[test]
    fn names_become_text() {
        assert_eq!(display(b"com/acme/Foo"), "com/acme/Foo");
        assert_eq!(display(b"\xed\xa0\xbd\xed\xb8\x80x"), "\u{1f600}x");
        assert_eq!(display(b"\xed\xa0\x80x"), "\u{fffd}x");
        assert_eq!(display(b"a\xc0\x80b"), "a\\u0000b");
        assert_eq!(display(b"a\x1b[31m"), "a\\u001b[31m");
        assert_eq!(display(b"\xff"), "\u{fffd}");
    }
}
