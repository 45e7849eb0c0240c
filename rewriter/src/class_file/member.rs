//! JVMS 4.5 Fields and 4.6 Methods: both structures have the same shape.

use super::{Attribute, Attributes, CodeAttribute, ConstantPool, Reader};
use crate::error::ClassError;
use std::ops::Range;

/// A `field_info` or `method_info`.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// `access_flags`.
    pub access_flags: u16,
    /// `name_index`, a Utf8 entry.
    pub name_index: u16,
    /// `descriptor_index`, a Utf8 entry.
    pub descriptor_index: u16,
    /// The whole structure as a range of the class file.
    pub span: Range<usize>,
    bytes: &'a [u8],
    attributes_count: u16,
}

impl<'a> Member<'a> {
    /// The unqualified name in modified UTF-8.
    ///
    /// # Errors
    /// `name_index` is no Utf8 entry.
    pub fn name(&self, pool: &ConstantPool<'a>) -> Result<&'a [u8], ClassError> {
        pool.utf8(self.name_index)
    }

    /// The descriptor (JVMS 4.3) in modified UTF-8.
    ///
    /// # Errors
    /// `descriptor_index` is no Utf8 entry.
    pub fn descriptor(&self, pool: &ConstantPool<'a>) -> Result<&'a [u8], ClassError> {
        pool.utf8(self.descriptor_index)
    }

    /// The attributes.
    pub fn attributes(&self) -> Attributes<'a> {
        Attributes::new(self.bytes, self.span.start + 8, self.attributes_count)
    }

    /// The `Code` attribute of a method: `None` if it has none (abstract, native).
    ///
    /// # Errors
    /// The attribute is truncated or not consistent with its own length.
    pub fn code(&self, pool: &ConstantPool<'a>) -> Result<Option<CodeAttribute<'a>>, ClassError> {
        let mut attributes = self.attributes();
        while let Some(attribute) = attributes.next()? {
            if pool.utf8_or_empty(attribute.name_index) == b"Code" {
                return CodeAttribute::parse(&attribute).map(Some);
            }
        }
        Ok(None)
    }
}

/// A table of members, walked one by one.
#[derive(Debug, Clone)]
pub struct Members<'a> {
    bytes: &'a [u8],
    position: usize,
    left: u16,
    structure: &'static str,
}

impl<'a> Members<'a> {
    pub(crate) fn new(bytes: &'a [u8], position: usize, left: u16, structure: &'static str) -> Self {
        Self { bytes, position, left, structure }
    }

    /// Where the walk stands; after the last member, where the table ends.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The next member.
    ///
    /// # Errors
    /// The member is truncated.
    #[allow(clippy::should_implement_trait, reason = "a lending-free `Result<Option>` reads better with `?`")]
    pub fn next(&mut self) -> Result<Option<Member<'a>>, ClassError> {
        if self.left == 0 {
            return Ok(None);
        }
        let start = self.position;
        let mut r = Reader::new(self.bytes, start, self.structure);
        let access_flags = r.u2()?;
        let name_index = r.u2()?;
        let descriptor_index = r.u2()?;
        let attributes_count = r.u2()?;
        let mut walk = Attributes::new(self.bytes, r.position(), attributes_count);
        while walk.next()?.is_some() {}
        self.left -= 1;
        self.position = walk.position();
        Ok(Some(Member {
            access_flags,
            name_index,
            descriptor_index,
            span: start..self.position,
            bytes: self.bytes,
            attributes_count,
        }))
    }

    /// The next member's first four items and its attributes, without walking over the attributes:
    /// the caller does, and hands back where they end.
    pub(crate) fn open(&mut self) -> Result<Option<OpenMember<'a>>, ClassError> {
        if self.left == 0 {
            return Ok(None);
        }
        let start = self.position;
        let mut r = Reader::new(self.bytes, start, self.structure);
        let head = r.take(8)?;
        let item = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        self.left -= 1;
        Ok(Some(OpenMember {
            access_flags: item(0),
            name_index: item(2),
            descriptor_index: item(4),
            attributes: Attributes::new(self.bytes, start + 8, item(6)),
        }))
    }

    pub(crate) fn close(&mut self, end: usize) {
        self.position = end;
    }
}

/// A member whose attributes are still to be walked.
pub(crate) struct OpenMember<'a> {
    pub(crate) access_flags: u16,
    pub(crate) name_index: u16,
    pub(crate) descriptor_index: u16,
    pub(crate) attributes: Attributes<'a>,
}

/// Returns the first attribute called `name`.
///
/// # Errors
/// An attribute is truncated.
pub fn find_attribute<'a>(
    mut attributes: Attributes<'a>,
    pool: &ConstantPool<'a>,
    name: &[u8],
) -> Result<Option<Attribute<'a>>, ClassError> {
    while let Some(attribute) = attributes.next()? {
        if pool.utf8_or_empty(attribute.name_index) == name {
            return Ok(Some(attribute));
        }
    }
    Ok(None)
}
