//! Names in the text of an id map: every name of a class file becomes one word of printable ASCII, and comes back byte
//! for byte.
//!
//! | in the name | in the text |
//! |---|---|
//! | 0x21..0x7e but the backslash | itself |
//! | any other character of Modified UTF-8 (JVMS 4.4.7) | `\uXXXX`, its UTF-16 unit; a supplementary character is two, a lone surrogate one |
//! | a byte that is not Modified UTF-8 | `\xXX` |
//! | a name that is empty, or exactly `-` where `-` stands for none | `\e`, `\u002d` |

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends `name`, escaped.
pub(super) fn escape(name: &[u8], out: &mut Vec<u8>) {
    // Nearly every name is plain; looking at all its bytes at once is what makes this fast.
    if !name.is_empty() && name.iter().fold(true, |plain, &byte| plain & is_plain(byte)) {
        return out.extend_from_slice(name);
    }
    if name.is_empty() {
        return out.extend(b"\\e");
    }
    let mut rest = name;
    while !rest.is_empty() {
        let plain = rest.iter().position(|&b| !is_plain(b)).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
        match unit(rest) {
            Some((value, length)) => {
                out.extend(b"\\u");
                out.extend([12, 8, 4, 0].map(|shift| HEX[usize::from(value >> shift & 15)]));
                rest = &rest[length..];
            }
            None if !rest.is_empty() => {
                out.extend([b'\\', b'x', HEX[usize::from(rest[0] >> 4)], HEX[usize::from(rest[0] & 15)]]);
                rest = &rest[1..];
            }
            None => {}
        }
    }
}

/// Appends the name that `word` stands for; the error says what cannot be read.
pub(super) fn unescape(word: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    if word == b"\\e" {
        return Ok(());
    }
    if word.iter().fold(true, |plain, &byte| plain & is_plain(byte)) {
        out.extend_from_slice(word);
        return Ok(());
    }
    let mut rest = word;
    loop {
        let plain = rest.iter().position(|&b| !is_plain(b)).unwrap_or(rest.len());
        out.extend_from_slice(&rest[..plain]);
        rest = match &rest[plain..] {
            [] => return Ok(()),
            [b'\\', b'u', after @ ..] if after.len() >= 4 => {
                push_unit(hex(&after[..4])? as u16, out);
                &after[4..]
            }
            [b'\\', b'x', after @ ..] if after.len() >= 2 => {
                out.push(hex(&after[..2])? as u8);
                &after[2..]
            }
            [b'\\', ..] => return Err("unknown escape; there are \\uXXXX, \\xXX and \\e"),
            _ => return Err("a byte outside 0x21..0x7e that is not escaped"),
        };
    }
}

/// Up to eight lower-case hexadecimal digits; at least one.
pub(super) fn hex(digits: &[u8]) -> Result<u64, &'static str> {
    if digits.is_empty() || digits.len() > 16 {
        return Err("not a hexadecimal number of 1 to 16 digits");
    }
    digits.iter().try_fold(0, |value: u64, digit| match digit {
        b'0'..=b'9' => Ok(value << 4 | u64::from(digit - b'0')),
        b'a'..=b'f' => Ok(value << 4 | u64::from(digit - b'a' + 10)),
        _ => Err("not a lower-case hexadecimal number"),
    })
}

/// Appends `value` in lower-case hexadecimal with `width` digits at least.
pub(super) fn push_hex(value: u64, width: u32, out: &mut Vec<u8>) {
    let digits = ((67 - (value | 1).leading_zeros()) / 4).max(width);
    out.extend((0..digits).rev().map(|digit| HEX[(value >> (4 * digit) & 15) as usize]));
}

/// Appends `value` in decimal.
pub(super) fn push_decimal(mut value: u32, out: &mut Vec<u8>) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn is_plain(byte: u8) -> bool {
    (0x21..=0x7e).contains(&byte) && byte != b'\\'
}

/// The UTF-16 unit at the start of `bytes` and its length, if it is there in the one form that Modified UTF-8 gives it.
fn unit(bytes: &[u8]) -> Option<(u16, usize)> {
    let tail = |b: u8| (b & 0xc0 == 0x80).then_some(u16::from(b & 0x3f));
    match *bytes {
        [b @ 1..=0x7f, ..] => Some((u16::from(b), 1)),
        [a @ 0xc0..=0xdf, b, ..] => {
            let value = u16::from(a & 0x1f) << 6 | tail(b)?;
            (value == 0 || value >= 0x80).then_some((value, 2))
        }
        [a @ 0xe0..=0xef, b, c, ..] => {
            let value = u16::from(a & 0x0f) << 12 | tail(b)? << 6 | tail(c)?;
            (value >= 0x800).then_some((value, 3))
        }
        _ => None,
    }
}

fn push_unit(unit: u16, out: &mut Vec<u8>) {
    let tail = |shift: u16| 0x80 | (unit >> shift & 0x3f) as u8;
    match unit {
        1..=0x7f => out.push(unit as u8),
        0 | 0x80..=0x7ff => out.extend([0xc0 | (unit >> 6) as u8, tail(0)]),
        _ => out.extend([0xe0 | (unit >> 12) as u8, tail(6), tail(0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(name: &[u8]) -> String {
        let mut out = Vec::new();
        escape(name, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn unescaped(word: &str) -> Result<Vec<u8>, &'static str> {
        let mut out = Vec::new();
        unescape(word.as_bytes(), &mut out).map(|()| out)
    }

    #[test]
    fn every_kind_of_character_has_its_escape() {
        for (name, text) in [
            (&b"com/acme/Foo$1"[..], "com/acme/Foo$1"),
            (b"<init>", "<init>"),
            (b"a b\\c\n", "a\\u0020b\\u005cc\\u000a"),
            (b"\xc3\xa9", "\\u00e9"),
            (b"\xe4\xb8\xad", "\\u4e2d"),
            (b"\xc0\x80", "\\u0000"),
            (b"x\xed\xa0\x80y", "x\\ud800y"),
            (b"\xed\xa0\xbd\xed\xb8\x80", "\\ud83d\\ude00"),
            (b"\xed\xb0\x80\xed\xa0\x80", "\\udc00\\ud800"),
            (b"\x00", "\\x00"),
            (b"\xc1\x81", "\\xc1\\x81"),
            (b"\xf0\x9f\x98\x80", "\\xf0\\x9f\\x98\\x80"),
            (b"a\xe4\xb8", "a\\xe4\\xb8"),
            (b"", "\\e"),
        ] {
            assert_eq!(escaped(name), text);
            assert_eq!(unescaped(text).as_deref(), Ok(name), "{text}");
        }
    }

    #[test]
    fn unknown_escapes_are_refused() {
        for word in ["\\", "\\q", "\\u12", "\\u12G4", "\\x1", "a\\e", "a b", "\u{e9}", "\\u00E9"] {
            assert!(unescaped(word).is_err(), "{word}");
        }
    }

    #[test]
    fn numbers_are_written_as_the_standard_library_would() {
        for value in [0, 1, 9, 10, 15, 16, 255, 256, 4095, 65_535, u32::MAX] {
            let (mut decimal, mut plain, mut wide) = (Vec::new(), Vec::new(), Vec::new());
            push_decimal(value, &mut decimal);
            push_hex(value.into(), 1, &mut plain);
            push_hex(u64::MAX - u64::from(value), 16, &mut wide);
            assert_eq!(decimal, value.to_string().into_bytes());
            assert_eq!(plain, format!("{value:x}").into_bytes());
            assert_eq!(wide, format!("{:016x}", u64::MAX - u64::from(value)).into_bytes());
            assert_eq!(hex(&plain), Ok(value.into()));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(name in proptest::collection::vec(any::<u8>(), 0..60)) {
            let text = escaped(&name);
            prop_assert!(text.bytes().all(|b| (0x21..=0x7e).contains(&b)) && !text.is_empty());
            prop_assert_eq!(unescaped(&text).unwrap(), name);
        }
    }
}
