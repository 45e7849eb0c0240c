//! Names and descriptors (JVMS 4.2, 4.3), as HotSpot's ClassFileParser takes them.

/// From this class file version on names are any characters but a few.
const FREE_NAMES: u16 = 49;
/// JVMS 4.3.2.
const MOST_DIMENSIONS: usize = 255;

/// What a name is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// A class: identifiers between slashes.
    Class,
    Field,
    /// A method other than `<init>` and `<clinit>`.
    Method,
}

/// Whether these bytes are modified UTF-8 (JVMS 4.4.7). Before version 48, encodings that are longer than needed are
/// taken.
pub fn is_modified_utf8(text: &[u8], major: u16) -> bool {
    if text.iter().fold(0, |seen, &b| seen | (b | b.wrapping_sub(1))) < 0x80 {
        return true;
    }
    let lax = major <= 47;
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        let continues = |at: usize| tail.get(at).filter(|&&b| b & 0xc0 == 0x80).map(|&b| u32::from(b & 0x3f));
        let used = match first >> 4 {
            _ if first == 0 => return false,
            0..=7 => 0,
            0xc | 0xd => match continues(0) {
                Some(low) => {
                    let unit = u32::from(first & 0x1f) << 6 | low;
                    if !(lax || unit == 0 || unit >= 0x80) {
                        return false;
                    }
                    1
                }
                None => return false,
            },
            0xe => match (continues(0), continues(1)) {
                (Some(middle), Some(low)) => {
                    let unit = u32::from(first & 0xf) << 12 | middle << 6 | low;
                    if !(lax || unit >= 0x800) {
                        return false;
                    }
                    2
                }
                _ => return false,
            },
            _ => return false,
        };
        rest = &tail[used..];
    }
    true
}

/// JVMS 4.2: of a class (with slashes, no array), a field or a method.
pub fn is_legal_name(name: &[u8], what: Use, major: u16) -> bool {
    if what == Use::Method && matches!(name, b"<init>" | b"<clinit>") {
        return true;
    }
    if name.first() == Some(&b'<') && (what == Use::Method || major < FREE_NAMES) {
        return false;
    }
    if major < FREE_NAMES {
        identifier(name, what == Use::Class) == name.len() && !name.is_empty()
    } else {
        is_unqualified(name, what)
    }
}

/// A Class constant's name: of a class, or an array's descriptor.
pub fn is_legal_class(name: &[u8], major: u16) -> bool {
    match name.first() {
        Some(b'[') => field(name, false, major) == Some(name.len()),
        _ => is_legal_name(name, Use::Class, major),
    }
}

fn is_unqualified(name: &[u8], what: Use) -> bool {
    let mut before = b'/';
    for &b in name {
        match b {
            b'.' | b';' | b'[' => return false,
            b'/' if what != Use::Class || before == b'/' => return false,
            b'<' | b'>' if what == Use::Method => return false,
            _ => before = b,
        }
    }
    // A slash at the end; or nothing at all.
    match what {
        Use::Class => before != b'/',
        _ => !name.is_empty(),
    }
}

/// How many bytes at the front are a Java identifier, or several with slashes between. Beyond ASCII every character is
/// taken for a letter.
fn identifier(name: &[u8], slashes: bool) -> usize {
    let mut at_start = true;
    for (at, &b) in name.iter().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => at_start = false,
            b'0'..=b'9' if !at_start => {}
            b'/' if slashes && !at_start => at_start = true,
            _ => return if at_start { 0 } else { at },
        }
    }
    if at_start { 0 } else { name.len() }
}

/// The length of the field descriptor at the front (JVMS 4.3.2), or of `V` if `void` is taken.
pub fn field(text: &[u8], void: bool, major: u16) -> Option<usize> {
    match text.first()? {
        b'V' => void.then_some(1),
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => Some(1),
        b'L' => {
            let length = match major < FREE_NAMES {
                true => identifier(&text[1..], true),
                false => class_in_descriptor(&text[1..])?,
            };
            (length > 0 && text.get(length + 1) == Some(&b';')).then_some(length + 2)
        }
        b'[' => {
            let dimensions = text.iter().take_while(|&&b| b == b'[').count();
            let element =
                (dimensions <= MOST_DIMENSIONS).then(|| field(&text[dimensions..], false, major))??;
            Some(dimensions + element)
        }
        _ => None,
    }
}

/// The length of the class name in front of `;`, if it is a legal one.
fn class_in_descriptor(text: &[u8]) -> Option<usize> {
    let mut before = b'/';
    for (at, &b) in text.iter().enumerate() {
        match b {
            b';' => return (before != b'/').then_some(at),
            b'.' | b'[' => return None,
            b'/' if before == b'/' => return None,
            _ => before = b,
        }
    }
    None
}

/// Whether this is a field descriptor.
pub fn is_field(text: &[u8], major: u16) -> bool {
    field(text, false, major) == Some(text.len())
}

/// The slots of the parameters of a method descriptor (JVMS 4.3.3); none if it is none, or does not fit the method's
/// name.
pub fn method(name: &[u8], text: &[u8], major: u16) -> Option<usize> {
    if name == b"<clinit>" && text != b"()V" && major >= 51 {
        return None;
    }
    let mut rest = text.strip_prefix(b"(")?;
    let mut slots = 0;
    while *rest.first()? != b')' {
        slots += 1 + usize::from(matches!(rest[0], b'J' | b'D'));
        rest = &rest[field(rest, false, major)?..];
    }
    let result = &rest[1..];
    let is_legal = match name.first() {
        Some(b'<') => result == b"V",
        _ => field(result, true, major) == Some(result.len()),
    };
    is_legal.then_some(slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, what, legal) in [
            (&b"a/b"[..], Use::Class, true),
            (b"/b", Use::Class, false),
            (b"a//b", Use::Class, false),
            (b"a/", Use::Class, false),
            (b"", Use::Class, false),
            (b"a/b", Use::Field, false),
            (b"", Use::Field, false),
            (b"a;b", Use::Method, false),
            (b"<init>", Use::Method, true),
            (b"a<b", Use::Method, false),
            (b"a<b", Use::Field, true),
            (b"1-2 3", Use::Field, true),
        ] {
            assert_eq!(is_legal_name(name, what, 52), legal, "{}", String::from_utf8_lossy(name));
        }
        assert!(!is_legal_name(b"1a", Use::Field, 48) && is_legal_name(b"a1", Use::Field, 48));
        assert!(is_legal_class(b"[[I", 52) && !is_legal_class(b"[", 52) && !is_legal_class(b"[II", 52));
    }

    #[test]
    fn descriptors() {
        assert_eq!(method(b"a", b"(IJ[[DLa/b;)V", 52), Some(5));
        assert_eq!(method(b"<init>", b"()I", 52), None);
        assert_eq!(method(b"a", b"()VV", 52), None);
        assert_eq!(method(b"a", b"(V)V", 52), None);
        assert_eq!(method(b"a", b"(La)V", 52), None);
        assert!(
            is_field(&[&[b'['; 255][..], b"I"].concat(), 52)
                && !is_field(&[&[b'['; 256][..], b"I"].concat(), 52)
        );
        assert!(is_field(b"Ljava/lang/String;", 48) && !is_field(b"L1;", 48) && !is_field(b"L;", 52));
    }

    #[test]
    fn modified_utf8() {
        assert!(
            is_modified_utf8(b"abc", 52)
                && is_modified_utf8("ä€".as_bytes(), 52)
                && is_modified_utf8(&[0xc0, 0x80], 52)
        );
        for bad in
            [&[0][..], &[0xc1, 0x81], &[0x80], &[0xf0, 0x90, 0x80, 0x80], &[0xe2, 0x82], &[0xe0, 0x80, 0x80]]
        {
            assert!(!is_modified_utf8(bad, 52), "{bad:?}");
        }
        assert!(is_modified_utf8(&[0xc1, 0x81], 47));
    }
}
