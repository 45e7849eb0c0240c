//! JVMS 4.7.16 and 4.7.17: the types of annotations, without their values.

use super::Reader;
use crate::error::{ClassError, ClassErrorKind};

/// Arrays and annotations in annotations are read down to this depth.
const MAX_DEPTH: u32 = 64;

/// Constant pool indices of the descriptors of the annotations in the `info` of a `RuntimeVisibleAnnotations` or
/// `RuntimeInvisibleAnnotations`.
///
/// # Errors
/// The attribute is truncated, has an unknown kind of value, or values within values without end.
pub fn annotation_types(info: &[u8]) -> Result<Vec<u16>, ClassError> {
    let mut reader = Reader::new(info, 0, "annotation");
    let mut types = Vec::new();
    for _ in 0..reader.u2()? {
        types.push(annotation(&mut reader, 0)?);
    }
    Ok(types)
}

/// Its type.
fn annotation(reader: &mut Reader<'_>, depth: u32) -> Result<u16, ClassError> {
    let (of, pairs) = (reader.u2()?, reader.u2()?);
    for _ in 0..pairs {
        reader.u2()?;
        value(reader, depth)?;
    }
    Ok(of)
}

/// Steps over an `element_value` (JVMS 4.7.16.1).
fn value(reader: &mut Reader<'_>, depth: u32) -> Result<(), ClassError> {
    if depth > MAX_DEPTH {
        return Err(reader.error(ClassErrorKind::Malformed));
    }
    match reader.u1()? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => reader.skip(2),
        b'e' => reader.skip(4),
        b'@' => annotation(reader, depth + 1).map(|_| ()),
        b'[' => (0..reader.u2()?).try_for_each(|_| value(reader, depth + 1)),
        _ => Err(reader.error(ClassErrorKind::Malformed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_and_values_stepped_over() {
        // @5(1 = 2) @6(1 = {@7, e 8.9}) @10
        let info = [
            0, 3, 0, 5, 0, 1, 0, 1, b'I', 0, 2, 0, 6, 0, 1, 0, 1, b'[', 0, 2, b'@', 0, 7, 0, 0, b'e', 0, 8,
            0, 9, 0, 10, 0, 0,
        ];
        assert_eq!(annotation_types(&info).unwrap(), [5, 6, 10]);
        for length in 0..info.len() {
            assert!(annotation_types(&info[..length]).is_err(), "{length}");
        }
        let mut deep = vec![0, 1, 0, 5, 0, 1, 0, 1];
        deep.extend([b'[', 0, 1].repeat(100_000));
        assert!(annotation_types(&deep).is_err());
        assert!(annotation_types(&[0, 1, 0, 5, 0, 1, 0, 1, b'?', 0, 0]).is_err());
    }

    #[test]
    fn values_are_within_values_down_to_a_depth() {
        let front = [0, 1, 0, 5, 0, 1, 0, 1];
        for wrapping in [&[b'[', 0, 1][..], &[b'@', 0, 7, 0, 1, 0, 1]] {
            let of = |depth| annotation_types(&[&front[..], &wrapping.repeat(depth), &[b'I', 0, 2]].concat());
            assert_eq!(of(64).unwrap(), [5]);
            assert!(of(65).is_err() && of(100_000).is_err());
        }
    }
}
