//! Whether a class names constants behind the end of its pool.
//!
//! The JVM refuses such a class. What a rewriter appends to the pool would stand at these indices, and could make the class valid. Checked is
//! what HotSpot reads when it loads and verifies a class: the entries of the pool, fields, methods, code, and the attributes of JVMS 4.7 that
//! name constants. Annotations are not: the JVM does not judge their indices.

use crate::class_file::instruction::u2;
use crate::class_file::{Attributes, ClassFile, CodeAttribute, ConstantPool, Members, Reader};
use crate::error::ClassError;

pub(super) struct Check<'a> {
    pool: &'a ConstantPool<'a>,
    count: u16,
}

impl<'a> Check<'a> {
    pub(super) fn new(pool: &'a ConstantPool<'a>) -> Self {
        Self { pool, count: pool.count() }
    }

    /// Whether the class names a constant behind the end of its pool. `methods_end`: where its methods end.
    ///
    /// # Errors
    /// A structure that cannot be walked.
    pub(super) fn leads_out(&self, class: &ClassFile<'_>, methods_end: usize) -> Result<bool, ClassError> {
        let (start, count) = class.finish_check(methods_end)?;
        Ok(self.out(self.pool.highest_reference())
            || self.out(class.this_class)
            || self.out(class.super_class)
            || class.interfaces().any(|index| self.out(index))
            || self.members(class.fields())?
            || self.members(class.methods())?
            || self.attributes(Attributes::new(class.bytes, start, count))?)
    }

    #[inline]
    fn out(&self, index: u16) -> bool {
        index >= self.count
    }

    fn members(&self, mut members: Members<'_>) -> Result<bool, ClassError> {
        while let Some(member) = members.next()? {
            if self.out(member.name_index)
                || self.out(member.descriptor_index)
                || self.attributes(member.attributes())?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn attributes(&self, mut attributes: Attributes<'_>) -> Result<bool, ClassError> {
        while let Some(attribute) = attributes.next()? {
            if self.out(attribute.name_index) {
                return Ok(true);
            }
            let info = attribute.info;
            let name = self.pool.utf8_or_empty(attribute.name_index);
            let out = if name == b"Code" {
                match CodeAttribute::parse(&attribute) {
                    Ok(code) => self.code(&code)?,
                    // What cannot be read is refused before and after.
                    Err(_) => false,
                }
            } else {
                // What is cut off is refused before and after.
                self.attribute(name, info).unwrap_or(false)
            };
            if out {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn code(&self, code: &CodeAttribute<'_>) -> Result<bool, ClassError> {
        let catches =
            |handler: crate::class_file::exception_table::ExceptionEntry| self.out(handler.catch_type);
        // Its instructions and frames: see `stack_depth`.
        Ok(code.exception_table.iter().any(catches) || self.attributes(code.attributes.clone())?)
    }

    /// JVMS 4.7, the attributes that name constants by fixed places.
    fn attribute(&self, name: &[u8], info: &[u8]) -> Result<bool, ClassError> {
        let r = &mut Reader::new(info, 0, "attribute_info");
        match name {
            b"ConstantValue" | b"Signature" | b"SourceFile" | b"NestHost" => Ok(self.out(r.u2()?)),
            b"EnclosingMethod" => Ok(self.out(r.u2()?) | self.out(r.u2()?)),
            b"Exceptions" | b"NestMembers" | b"PermittedSubclasses" => self.rows(r, 1, &[0]),
            b"InnerClasses" => self.rows(r, 4, &[0, 1, 2]),
            b"MethodParameters" => {
                let count = r.u1()?;
                self.some(r, count.into(), 2, &[0])
            }
            b"BootstrapMethods" => {
                for _ in 0..r.u2()? {
                    let method = r.u2()?;
                    if self.out(method) || self.rows(r, 1, &[0])? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            b"Record" => self.record(r),
            _ => Ok(false),
        }
    }

    /// Rows of `width` two-byte items, after their number; those at `places` are indices.
    fn rows(&self, r: &mut Reader<'_>, width: usize, places: &[usize]) -> Result<bool, ClassError> {
        let count = r.u2()?;
        self.some(r, count.into(), width, places)
    }

    fn some(
        &self,
        r: &mut Reader<'_>,
        count: usize,
        width: usize,
        places: &[usize],
    ) -> Result<bool, ClassError> {
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
                if self.out(name) || self.attribute(self.pool.utf8_or_empty(name), info)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
