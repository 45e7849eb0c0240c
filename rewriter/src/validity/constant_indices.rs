//! Whether a class names constants behind the end of its pool.
//!
//! The JVM refuses such a class. What a rewriter appends to the pool would stand at these indices, and could make the
//! class valid. Checked is what HotSpot reads when it loads and verifies a class: the entries of the pool, fields,
//! methods, code, and attributes where it knows them ([`indices`]). Everywhere else it skips them, whatever they say.
//! It does not judge the indices of annotations and of MethodParameters.

use crate::class_file::instruction::u2;
use crate::class_file::well_known::WellKnown;
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
    /// The rows of a LocalVariableTable or LocalVariableTypeTable.
    Variables,
    BootstrapMethods,
    Record,
}

/// The table of JVMS 4.7, as HotSpot follows it: the place, and the class file version from which on it reads the
/// attribute there. The frames of code are in `stack_depth`.
#[inline(always)]
fn indices(place: Place, major: u16, pool: &ConstantPool<'_>, name: u16) -> Option<Indices> {
    const CLASSES: Indices = Indices::Rows { width: 1, places: &[0] };
    const SIGNATURE: (u16, Indices) = (49, Indices::Items(1));
    let is = |which| pool.is(name, which);
    // By place first: most attributes are those of code and of methods.
    let (since, indices) = match place {
        Place::Code if is(WellKnown::LocalVariableTable) => (0, Indices::Variables),
        Place::Code if is(WellKnown::LocalVariableTypeTable) => (49, Indices::Variables),
        Place::Method if is(WellKnown::Exceptions) => (0, CLASSES),
        Place::Method | Place::Field { .. } | Place::Component if is(WellKnown::Signature) => SIGNATURE,
        Place::Field { is_static: true } if is(WellKnown::ConstantValue) => (0, Indices::Items(1)),
        Place::Code | Place::Method | Place::Field { .. } | Place::Component => return None,
        Place::Class => match pool.utf8_or_empty(name) {
            b"SourceFile" => (0, Indices::Items(1)),
            b"InnerClasses" => (0, Indices::Rows { width: 4, places: &[0, 1, 2] }),
            b"Signature" => SIGNATURE,
            b"EnclosingMethod" => (49, Indices::Items(2)),
            b"BootstrapMethods" => (51, Indices::BootstrapMethods),
            b"NestHost" => (55, Indices::Items(1)),
            b"NestMembers" => (55, CLASSES),
            b"Record" => (60, Indices::Record),
            b"PermittedSubclasses" => (61, CLASSES),
            _ => return None,
        },
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

    /// Whether a structure around the methods names a constant behind the end of the pool. `attributes`: those of the
    /// class.
    ///
    /// # Errors
    /// A structure that cannot be walked.
    pub(super) fn around_methods(
        &self,
        class: &ClassFile<'_>,
        attributes: Attributes<'_>,
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
        self.attributes(Place::Class, attributes)
    }

    #[inline]
    pub(super) fn out(&self, index: u16) -> bool {
        index >= self.count
    }

    fn attributes(&self, place: Place, mut attributes: Attributes<'_>) -> Result<bool, ClassError> {
        while let Some(attribute) = attributes.next()? {
            if self.attribute(place, &attribute) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether an attribute does. The content of Code is judged piece by piece.
    #[inline(always)]
    pub(super) fn attribute(&self, place: Place, attribute: &Attribute<'_>) -> bool {
        let indices = indices(place, self.major, self.pool, attribute.name_index);
        // What is cut off is refused before and after.
        self.out(attribute.name_index)
            || match indices {
                None => false,
                Some(Indices::Variables) => self.variables(attribute.info),
                Some(indices) => self.leads_out(indices, attribute.info).unwrap_or(false),
            }
    }

    fn leads_out(&self, indices: Indices, info: &[u8]) -> Result<bool, ClassError> {
        let r = &mut Reader::new(info, 0, "attribute_info");
        match indices {
            Indices::Items(items) => Ok(r.take(items * 2)?.chunks_exact(2).any(|item| self.out(u2(item, 0)))),
            Indices::Rows { width, places } => self.rows(r, width, places),
            Indices::Variables => Ok(self.variables(info)),
            Indices::BootstrapMethods => {
                for _ in 0..r.u2()? {
                    let method = r.u2()?;
                    if self.out(method) || self.rows(r, 1, &[0])? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Indices::Record => self.record(r),
        }
    }

    /// A LocalVariableTable or LocalVariableTypeTable: most methods have one, and it is long.
    #[inline]
    fn variables(&self, info: &[u8]) -> bool {
        let [a, b, rows @ ..] = info else { return false };
        let length = 10 * usize::from(u16::from_be_bytes([*a, *b]));
        // Of what is cut off nothing is concluded.
        let rows = rows.get(..length).unwrap_or_default();
        let highest = |highest: u16, row: &[u8; 10]| {
            highest.max(u16::from_be_bytes([row[4], row[5]])).max(u16::from_be_bytes([row[6], row[7]]))
        };
        self.out(rows.as_chunks().0.iter().fold(0, highest))
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
                let indices = indices(Place::Component, self.major, self.pool, name);
                if self.out(name) || indices.map_or(Ok(false), |indices| self.leads_out(indices, info))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
