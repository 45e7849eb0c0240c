//! Whether a class names constants behind the end of its pool.
//!
//! The JVM refuses such a class. What a rewriter appends to the pool would stand at these indices, and could make the class valid. Checked is
//! what HotSpot reads when it loads and verifies a class: the entries of the pool, fields, methods, code, and the attributes of JVMS 4.7 that
//! name constants. Annotations are not: the JVM does not judge their indices.

use crate::class_file::instruction::{length_at, u2};
use crate::class_file::opcode::{INFO, OPERANDS, Operands};
use crate::class_file::stack_map_table::{Frames, types, verification_type};
use crate::class_file::{Attributes, ClassFile, CodeAttribute, ConstantPool, Members, Reader, Tag};
use crate::error::ClassError;

/// Whether the class names a constant behind the end of its pool. `methods_end`: where its methods end.
///
/// # Errors
/// A structure that cannot be walked.
pub(crate) fn leads_out(class: &ClassFile<'_>, methods_end: usize) -> Result<bool, ClassError> {
    let pool = &class.pool;
    let check = Check { pool, count: pool.count() };
    let (start, count) = class.finish_check(methods_end)?;
    Ok(pool.indices().any(|index| check.entry(index))
        || check.out(class.this_class)
        || check.out(class.super_class)
        || class.interfaces().any(|index| check.out(index))
        || check.members(class.fields())?
        || check.members(class.methods())?
        || check.attributes(Attributes::new(class.bytes, start, count))?)
}

struct Check<'a> {
    pool: &'a ConstantPool<'a>,
    count: u16,
}

impl Check<'_> {
    #[inline]
    fn out(&self, index: u16) -> bool {
        index >= self.count
    }

    /// JVMS 4.4.
    fn entry(&self, index: u16) -> bool {
        let pool = self.pool;
        let pair = |tag| pool.pair(index, tag).is_ok_and(|(one, other)| self.out(one) || self.out(other));
        // The first item of these is no index of the pool.
        let second = |tag| pool.pair(index, tag).is_ok_and(|(_, other)| self.out(other));
        match pool.tag(index) {
            Some(tag @ (Tag::Class | Tag::String | Tag::MethodType | Tag::Module | Tag::Package)) => {
                pool.single(index, tag).is_ok_and(|name| self.out(name))
            }
            Some(tag @ (Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref | Tag::NameAndType)) => {
                pair(tag)
            }
            Some(tag @ (Tag::Dynamic | Tag::InvokeDynamic)) => second(tag),
            Some(Tag::MethodHandle) => pool.method_handle(index).is_ok_and(|(_, index)| self.out(index)),
            _ => false,
        }
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
                    Err(_) => false,
                }
            } else {
                // What is cut off is refused before and after.
                self.attribute(name, &mut Reader::new(info, 0, "attribute_info")).unwrap_or(false)
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
        Ok(code.exception_table.iter().any(catches)
            || self.instructions(code.code)
            || self.attributes(code.attributes.clone())?)
    }

    fn instructions(&self, code: &[u8]) -> bool {
        let mut pc = 0;
        while pc < code.len() {
            let op = usize::from(code[pc]);
            let length = match usize::from(INFO[op].0) {
                0 => length_at(code, pc).unwrap_or(0),
                length => length,
            };
            // Code that cannot be decoded is refused before and after.
            if length == 0 || pc + length > code.len() {
                return false;
            }
            let out = match OPERANDS[op] {
                Operands::Constant1 => self.out(u16::from(code[pc + 1])),
                Operands::Constant2
                | Operands::InvokeInterface
                | Operands::InvokeDynamic
                | Operands::MultiArray => self.out(u2(code, pc + 1)),
                _ => false,
            };
            if out {
                return true;
            }
            pc += length;
        }
        false
    }

    /// JVMS 4.7, the attributes that name constants by fixed places.
    fn attribute(&self, name: &[u8], r: &mut Reader<'_>) -> Result<bool, ClassError> {
        match name {
            b"ConstantValue" | b"Signature" | b"SourceFile" | b"NestHost" => Ok(self.out(r.u2()?)),
            b"EnclosingMethod" => Ok(self.out(r.u2()?) | self.out(r.u2()?)),
            b"Exceptions" | b"NestMembers" | b"PermittedSubclasses" => self.rows(r, 1, &[0]),
            b"InnerClasses" => self.rows(r, 4, &[0, 1, 2]),
            b"LocalVariableTable" | b"LocalVariableTypeTable" => self.rows(r, 5, &[2, 3]),
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
            b"StackMapTable" => Ok(self.frames(r)),
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
                let mut info = Reader::new(r.take(length as usize)?, 0, "attribute_info");
                if self.out(name) || self.attribute(self.pool.utf8_or_empty(name), &mut info)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// JVMS 4.7.4.
    fn frames(&self, r: &Reader<'_>) -> bool {
        let Ok(mut frames) = Frames::new(r.rest()) else { return false };
        let names = |item: &[u8]| item[0] == verification_type::OBJECT && self.out(u2(item, 1));
        while let Ok(Some(frame)) = frames.next() {
            if types(frame.locals).chain(types(frame.stack)).any(names) {
                return true;
            }
        }
        false
    }
}
