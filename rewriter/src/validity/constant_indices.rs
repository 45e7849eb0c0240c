//! Whether a class names constants behind the end of its pool.
//!
//! The JVM refuses such a class. What a rewriter appends to the pool would stand at these indices, and could make the class valid. Checked is
//! what HotSpot reads when it loads and verifies a class: the entries of the pool, fields, methods, code, and attributes where it knows them
//! ([`indices`]). Everywhere else it skips them, whatever they say. It does not judge the indices of annotations and of MethodParameters.

use crate::class_file::instruction::u2;
use crate::class_file::{Attribute, Attributes, ClassFile, ConstantPool, Reader};
use crate::error::ClassError;

/// JVMS table 4.5-A.
const ACC_STATIC: u16 = 0x8;

/// What an attribute belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Class,
    Field {
        is_static: bool,
    },
    Method,
    Code,
    /// A component of a record.
    Component,
}

/// Where the indices of an attribute stand.
enum Indices {
    /// So many two-byte items, all of them indices.
    Items(usize),
    /// Behind their number rows of `width` two-byte items; those at `places` are indices.
    Rows {
        width: usize,
        places: &'static [usize],
    },
    BootstrapMethods,
    Record,
}

/// The table of JVMS 4.7, as HotSpot follows it: the place, and the class file version from which on it reads the attribute there. The frames
/// of code are in `stack_depth`.
fn indices(place: Place, major: u16, name: &[u8]) -> Option<Indices> {
    const CLASSES: Indices = Indices::Rows { width: 1, places: &[0] };
    const VARIABLES: Indices = Indices::Rows { width: 5, places: &[2, 3] };
    let (since, indices) = match (place, name) {
        (Place::Field { is_static: true }, b"ConstantValue") | (Place::Class, b"SourceFile") => {
            (0, Indices::Items(1))
        }
        (Place::Class, b"InnerClasses") => (0, Indices::Rows { width: 4, places: &[0, 1, 2] }),
        (Place::Method, b"Exceptions") => (0, CLASSES),
        (Place::Code, b"LocalVariableTable") => (0, VARIABLES),
        (Place::Code, b"LocalVariableTypeTable") => (49, VARIABLES),
        (Place::Class | Place::Field { .. } | Place::Method | Place::Component, b"Signature") => {
            (49, Indices::Items(1))
        }
        (Place::Class, b"EnclosingMethod") => (49, Indices::Items(2)),
        (Place::Class, b"BootstrapMethods") => (51, Indices::BootstrapMethods),
        (Place::Class, b"NestHost") => (55, Indices::Items(1)),
        (Place::Class, b"NestMembers") => (55, CLASSES),
        (Place::Class, b"Record") => (60, Indices::Record),
        (Place::Class, b"PermittedSubclasses") => (61, CLASSES),
        _ => return None,
    };
    (major >= since).then_some(indices)
}

/// The class in work.
pub(super) struct Check<'a> {
    pool: &'a ConstantPool<'a>,
    count: u16,
    major: u16,
}

impl<'a> Check<'a> {
    pub(super) fn new(class: &'a ClassFile<'a>) -> Self {
        Self { pool: &class.pool, count: class.pool.count(), major: class.major_version }
    }

    /// Whether a structure around the methods names a constant behind the end of the pool. `methods_end`: where the methods end.
    ///
    /// # Errors
    /// A structure that cannot be walked.
    pub(super) fn around_methods(
        &self,
        class: &ClassFile<'_>,
        methods_end: usize,
    ) -> Result<bool, ClassError> {
        if self.out(self.pool.highest_reference())
            || self.out(class.this_class)
            || self.out(class.super_class)
            || class.interfaces().any(|index| self.out(index))
        {
            return Ok(true);
        }
        let mut fields = class.fields();
        while let Some(field) = fields.next()? {
            let place = Place::Field { is_static: field.access_flags & ACC_STATIC != 0 };
            if self.out(field.name_index)
                || self.out(field.descriptor_index)
                || self.attributes(place, field.attributes())?
            {
                return Ok(true);
            }
        }
        let (start, count) = class.finish_check(methods_end)?;
        self.attributes(Place::Class, Attributes::new(class.bytes, start, count))
    }

    #[inline]
    pub(super) fn out(&self, index: u16) -> bool {
        index >= self.count
    }

    fn attributes(&self, place: Place, mut attributes: Attributes<'_>) -> Result<bool, ClassError> {
        while let Some(attribute) = attributes.next()? {
            if self.attribute(place, self.pool.utf8_or_empty(attribute.name_index), &attribute) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an attribute with this name does. The content of Code is judged piece by piece.
    #[inline]
    pub(super) fn attribute(&self, place: Place, name: &[u8], attribute: &Attribute<'_>) -> bool {
        // What is cut off is refused before and after.
        self.out(attribute.name_index) || self.info(place, name, attribute.info).unwrap_or(false)
    }

    fn info(&self, place: Place, name: &[u8], info: &[u8]) -> Result<bool, ClassError> {
        let r = &mut Reader::new(info, 0, "attribute_info");
        match indices(place, self.major, name) {
            None => Ok(false),
            Some(Indices::Items(items)) => {
                Ok(r.take(items * 2)?.chunks_exact(2).any(|item| self.out(u2(item, 0))))
            }
            Some(Indices::Rows { width, places }) => self.rows(r, width, places),
            Some(Indices::BootstrapMethods) => {
                for _ in 0..r.u2()? {
                    let method = r.u2()?;
                    if self.out(method) || self.rows(r, 1, &[0])? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Some(Indices::Record) => self.record(r),
        }
    }

    /// Rows of `width` two-byte items, after their number; those at `places` are indices.
    fn rows(&self, r: &mut Reader<'_>, width: usize, places: &[usize]) -> Result<bool, ClassError> {
        let count = usize::from(r.u2()?);
        let rows = r.take(count * width * 2)?;
        Ok(rows.chunks_exact(width * 2).any(|row| places.iter().any(|place| self.out(u2(row, place * 2)))))
    }

    /// JVMS 4.7.30.
    fn record(&self, r: &mut Reader<'_>) -> Result<bool, ClassError> {
        for _ in 0..r.u2()? {
            let (name, descriptor, attributes) = (r.u2()?, r.u2()?, r.u2()?);
            if self.out(name) || self.out(descriptor) {
                return Ok(true);
            }
            for _ in 0..attributes {
                let (name, length) = (r.u2()?, r.u4()?);
                let info = r.take(length as usize)?;
                if self.out(name) || self.info(Place::Component, self.pool.utf8_or_empty(name), info)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
