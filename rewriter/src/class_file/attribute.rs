//! JVMS 4.7 Attributes, and 4.7.3 The Code Attribute.

use super::Reader;
use super::exception_table::ExceptionTable;
use crate::error::{ClassError, ClassErrorKind};

/// An `attribute_info`.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// `attribute_name_index`, a Utf8 entry.
    pub name_index: u16,
    /// Offset of the structure (of its name index) in the class file.
    pub offset: usize,
    /// `info`, without the six bytes in front.
    pub info: &'a [u8],
}

impl Attribute<'_> {
    /// Offset of `info` in the class file.
    pub fn info_offset(&self) -> usize {
        self.offset + 6
    }

    /// Offset of the first byte behind the attribute.
    pub fn end(&self) -> usize {
        self.offset + 6 + self.info.len()
    }
}

/// A table of attributes, walked one by one.
#[derive(Debug, Clone)]
pub struct Attributes<'a> {
    bytes: &'a [u8],
    position: usize,
    left: u16,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(bytes: &'a [u8], position: usize, left: u16) -> Self {
        Self { bytes, position, left }
    }

    /// Where the walk stands; after the last attribute, where the table ends.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// How many attributes are still to come.
    pub fn len(&self) -> usize {
        usize::from(self.left)
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The next attribute.
    ///
    /// # Errors
    /// The attribute is truncated.
    #[allow(clippy::should_implement_trait, reason = "a lending-free `Result<Option>` reads better with `?`")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Attribute<'a>>, ClassError> {
        if self.left == 0 {
            return Ok(None);
        }
        let offset = self.position;
        let truncated = || ClassError::new(ClassErrorKind::Truncated, offset, "attribute_info");
        let head = self.bytes.get(offset..offset + 6).ok_or_else(truncated)?;
        let length = u32::from_be_bytes([head[2], head[3], head[4], head[5]]) as usize;
        let info = self.bytes[offset + 6..].get(..length).ok_or_else(truncated)?;
        self.left -= 1;
        self.position = offset + 6 + length;
        Ok(Some(Attribute { name_index: u16::from_be_bytes([head[0], head[1]]), offset, info }))
    }
}

/// JVMS 4.7.3 The Code Attribute.
#[derive(Debug, Clone)]
pub struct CodeAttribute<'a> {
    /// Offset of the attribute (of its name index) in the class file.
    pub offset: usize,
    /// `max_stack`, in slots.
    pub max_stack: u16,
    /// `max_locals`, in slots.
    pub max_locals: u16,
    /// Offset of the first instruction in the class file.
    pub code_offset: usize,
    /// `code`.
    pub code: &'a [u8],
    /// `exception_table`.
    pub exception_table: ExceptionTable<'a>,
    /// The attributes of the Code attribute.
    pub attributes: Attributes<'a>,
}

impl<'a> CodeAttribute<'a> {
    /// Reads the items; the attributes inside are walked, too.
    ///
    /// Class files before 45.3 had `u1 max_stack, u1 max_locals, u2 code_length`; no compiler of a
    /// released JDK wrote them and HotSpot reads them only for `major 45, minor <= 2`, so they are
    /// refused as malformed when their length does not fit.
    ///
    /// # Errors
    /// The items do not add up to the attribute's length.
    pub fn parse(attribute: &Attribute<'a>) -> Result<Self, ClassError> {
        Self::parse_with(attribute, |_| ())
    }

    /// As [`parse`](Self::parse); `each` is told of the attributes inside as they are walked.
    #[inline]
    pub(crate) fn parse_with(
        attribute: &Attribute<'a>,
        mut each: impl FnMut(&Attribute<'a>),
    ) -> Result<Self, ClassError> {
        let base = attribute.info_offset();
        let at = |e: ClassError| ClassError { offset: e.offset + base, ..e };
        let mut r = Reader::new(attribute.info, 0, "Code");
        let max_stack = r.u2().map_err(at)?;
        let max_locals = r.u2().map_err(at)?;
        let code_length = r.u4().map_err(at)? as usize;
        let code_offset = base + r.position();
        let code = r.take(code_length).map_err(at)?;
        let entries = usize::from(r.u2().map_err(at)?);
        let exception_table = ExceptionTable::new(r.take(entries * 8).map_err(at)?);
        let attributes_count = r.u2().map_err(at)?;
        let first = r.position();
        let relative = Attributes::new(attribute.info, first, attributes_count);
        let mut walk = relative.clone();
        while let Some(inner) = walk.next().map_err(at)? {
            each(&inner);
        }
        if walk.position() != attribute.info.len() {
            return Err(ClassError::new(ClassErrorKind::Malformed, base + walk.position(), "Code"));
        }
        Ok(Self {
            offset: attribute.offset,
            max_stack,
            max_locals,
            code_offset,
            code,
            exception_table,
            attributes: relative,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_place_in_the_file() {
        // max_stack 2, max_locals 3, one instruction, no row, an attribute of two bytes.
        let info = [0, 2, 0, 3, 0, 0, 0, 1, 177, 0, 0, 0, 1, 0, 5, 0, 0, 0, 2, 8, 9];
        let parse = |info| CodeAttribute::parse(&Attribute { name_index: 1, offset: 100, info });
        let code = parse(&info).unwrap();
        assert_eq!((code.max_stack, code.max_locals, code.code_offset), (2, 3, 114));
        let mut attributes = code.attributes;
        assert_eq!((attributes.len(), attributes.is_empty()), (1, false));
        assert_eq!(attributes.next().unwrap().unwrap().info, [8, 9]);
        assert_eq!((attributes.len(), attributes.is_empty()), (0, true));
        // Up to where it is cut, and the item that is not there any more.
        for (lengths, offset) in
            [(0..2, 0), (2..4, 2), (4..8, 4), (8..9, 8), (9..11, 9), (11..13, 11), (13..21, 13)]
        {
            for length in lengths {
                let error = parse(&info[..length]).unwrap_err();
                assert_eq!((error.kind, error.offset), (ClassErrorKind::Truncated, 106 + offset), "{length}");
            }
        }
        let error = parse(&[&info[..], &[0]].concat()).unwrap_err();
        assert_eq!((error.kind, error.offset), (ClassErrorKind::Malformed, 127));
    }
}
