//! JVMS 4.3 Descriptors: what the rewriter needs of them is the number of slots.

/// Slots that a method's parameters take (`this` not counted) and that its result takes.
/// `long` and `double` take two (JVMS 2.6.1).
///
/// `None` for a malformed descriptor.
pub fn method_slots(descriptor: &[u8]) -> Option<(u16, u16)> {
    let mut slots = 0u16;
    let mut rest = descriptor.strip_prefix(b"(")?;
    while *rest.first()? != b')' {
        let (width, tail) = field_slots(rest)?;
        slots = slots.checked_add(width)?;
        rest = tail;
    }
    match &rest[1..] {
        b"V" => Some((slots, 0)),
        result => match field_slots(result)? {
            (width, []) => Some((slots, width)),
            _ => None,
        },
    }
}

/// Slots of the field type at the front of `descriptor`, and what follows it.
pub fn field_slots(descriptor: &[u8]) -> Option<(u16, &[u8])> {
    let (&first, rest) = descriptor.split_first()?;
    match first {
        b'J' | b'D' => Some((2, rest)),
        b'B' | b'C' | b'F' | b'I' | b'S' | b'Z' => Some((1, rest)),
        b'L' => {
            let end = memchr::memchr(b';', rest)?;
            Some((1, &rest[end + 1..]))
        }
        b'[' => {
            let element = rest.iter().position(|&b| b != b'[')?;
            field_slots(&rest[element..]).map(|(_, tail)| (1, tail))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_slots() {
        assert_eq!(method_slots(b"()V"), Some((0, 0)));
        assert_eq!(method_slots(b"(IJ[[DLjava/lang/String;)D"), Some((5, 2)));
        assert_eq!(method_slots(b"([Ljava/lang/String;)[J"), Some((1, 1)));
        assert_eq!(method_slots(b"(I"), None);
        assert_eq!(method_slots(b"(I)VV"), None);
        assert_eq!(method_slots(b"(Ljava/lang/String)V"), None);
        assert_eq!(method_slots(b"([)V"), None);
    }
}
