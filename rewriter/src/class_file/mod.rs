//! Reading class files: spans of the input and typed views on them (JVMS chapter 4).
//!
//! Nothing is copied and nothing is decoded that was not requested; names stay the modified UTF-8
//! bytes that they are. [`ClassFile::parse`] walks the whole file once, so whoever holds a
//! `ClassFile` knows that its structure is complete.

pub mod annotation;
pub mod attribute;
pub mod constant_pool;
pub mod descriptor;
pub mod exception_table;
pub mod instruction;
pub mod member;
pub use instrument_names::mutf8;
pub mod opcode;
mod reader;
pub mod stack_map_table;
mod structure;
pub mod version;
pub(crate) mod well_known;

use crate::error::{ClassError, ClassErrorKind};
pub use attribute::{Attribute, Attributes, CodeAttribute};
pub use constant_pool::{ConstantPool, Tag};
pub use member::{Member, Members, find_attribute};
pub use reader::Reader;
pub(crate) use structure::Structure;

/// JVMS 4.1 The ClassFile Structure.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    /// The whole file.
    pub bytes: &'a [u8],
    /// `minor_version`; 65535 marks a class that depends on preview features.
    pub minor_version: u16,
    /// `major_version`: 45 for JDK 1.1 .. 69 for Java 25.
    pub major_version: u16,
    /// The constant pool.
    pub pool: ConstantPool<'a>,
    /// `access_flags`.
    pub access_flags: u16,
    /// `this_class`, an index of a Class entry.
    pub this_class: u16,
    /// `super_class`, an index of a Class entry, or 0 for `java/lang/Object` and modules.
    pub super_class: u16,
    interfaces: usize,
    interfaces_count: u16,
    fields: usize,
    fields_count: u16,
    methods: usize,
    methods_count: u16,
    attributes: usize,
    attributes_count: u16,
}

impl<'a> ClassFile<'a> {
    /// Walks the whole file and checks that every structure is complete.
    ///
    /// # Errors
    /// The first structure that is truncated or malformed, with its offset.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ClassError> {
        Self::parse_with(bytes, Vec::new())
    }

    /// As [`parse`](Self::parse), with a buffer for the constant pool's offsets that a caller of many
    /// classes uses again (see [`ConstantPool::into_buffer`]).
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with(bytes: &'a [u8], buffer: Vec<u32>) -> Result<Self, ClassError> {
        let class = Self::parse_head(bytes, buffer)?;
        let mut methods = class.methods();
        while methods.next()?.is_some() {}
        class.finish(methods.position())
    }

    /// Everything in front of the methods. The caller walks [`methods`](Self::methods) itself and then
    /// calls [`finish`](Self::finish), so that the methods are walked once.
    pub(crate) fn parse_head(bytes: &'a [u8], buffer: Vec<u32>) -> Result<Self, ClassError> {
        let mut r = Reader::new(bytes, 0, "ClassFile");
        if r.u4()? != 0xCAFE_BABE {
            return Err(ClassError::new(ClassErrorKind::BadMagic, 0, "ClassFile"));
        }
        let minor_version = r.u2()?;
        let major_version = r.u2()?;
        let pool = ConstantPool::parse(bytes, r.position(), buffer)?;
        let mut r = Reader::new(bytes, pool.end(), "ClassFile");
        let access_flags = r.u2()?;
        let this_class = r.u2()?;
        let super_class = r.u2()?;
        let interfaces_count = r.u2()?;
        let interfaces = r.position();
        r.skip(usize::from(interfaces_count) * 2)?;
        let fields_count = r.u2()?;
        let fields = r.position();
        let mut walk = Members::new(bytes, fields, fields_count, "field_info");
        while walk.next()?.is_some() {}
        let mut r = Reader::new(bytes, walk.position(), "ClassFile");
        let methods_count = r.u2()?;
        let methods = r.position();
        Ok(Self {
            bytes,
            minor_version,
            major_version,
            pool,
            access_flags,
            this_class,
            super_class,
            interfaces,
            interfaces_count,
            fields,
            fields_count,
            methods,
            methods_count,
            attributes: 0,
            attributes_count: 0,
        })
    }

    /// Reads what follows the methods, which end at `methods_end`.
    pub(crate) fn finish(mut self, methods_end: usize) -> Result<Self, ClassError> {
        (self.attributes, self.attributes_count) = self.finish_check(methods_end)?;
        Ok(self)
    }

    /// Walks what follows the methods; returns where the class attributes begin, and their number.
    pub(crate) fn finish_check(&self, methods_end: usize) -> Result<(usize, u16), ClassError> {
        let mut r = Reader::new(self.bytes, methods_end, "ClassFile");
        let count = r.u2()?;
        let mut walk = Attributes::new(self.bytes, r.position(), count);
        while walk.next()?.is_some() {}
        if walk.position() != self.bytes.len() {
            return Err(ClassError::new(ClassErrorKind::TrailingBytes, walk.position(), "ClassFile"));
        }
        Ok((r.position(), count))
    }

    /// The attributes of the class, of which nothing behind `methods_end` was walked yet.
    pub(crate) fn attributes_behind(&self, methods_end: usize) -> Result<Attributes<'a>, ClassError> {
        let (start, count) = self.finish_check(methods_end)?;
        Ok(Attributes::new(self.bytes, start, count))
    }

    /// The offset at which the methods begin (right behind `methods_count`).
    pub(crate) fn methods_start(&self) -> usize {
        self.methods
    }

    /// `methods_count`.
    pub(crate) fn methods_count(&self) -> u16 {
        self.methods_count
    }

    /// The internal name of this class (`java/lang/Object`) in modified UTF-8.
    ///
    /// # Errors
    /// `this_class` is no Class entry.
    pub fn name(&self) -> Result<&'a [u8], ClassError> {
        self.pool.class_name(self.this_class)
    }

    /// The internal name of the super class; `None` for `java/lang/Object` and modules.
    ///
    /// # Errors
    /// `super_class` is neither 0 nor a Class entry.
    pub fn super_name(&self) -> Result<Option<&'a [u8]>, ClassError> {
        if self.super_class == 0 { Ok(None) } else { self.pool.class_name(self.super_class).map(Some) }
    }

    /// The indices of the direct superinterfaces' Class entries.
    pub fn interfaces(&self) -> impl ExactSizeIterator<Item = u16> + use<'a> {
        let end = self.interfaces + usize::from(self.interfaces_count) * 2;
        self.bytes[self.interfaces..end].chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
    }

    /// `field_info` structures (JVMS 4.5).
    pub fn fields(&self) -> Members<'a> {
        Members::new(self.bytes, self.fields, self.fields_count, "field_info")
    }

    /// `method_info` structures (JVMS 4.6).
    pub fn methods(&self) -> Members<'a> {
        Members::new(self.bytes, self.methods, self.methods_count, "method_info")
    }

    /// The attributes of the class itself.
    pub fn attributes(&self) -> Attributes<'a> {
        Attributes::new(self.bytes, self.attributes, self.attributes_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_super_class_is_named_if_there_is_one() {
        // 1 and 2: a, 3 and 4: b.
        let pool = [1, 0, 1, b'a', 7, 0, 1, 1, 0, 1, b'b', 7, 0, 3];
        let of = |super_class: u8| {
            let front = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 5];
            let behind = [0, 0x21, 0, 2, 0, super_class, 0, 0, 0, 0, 0, 0, 0, 0];
            let bytes = [&front[..], &pool, &behind].concat();
            let class = ClassFile::parse(&bytes).unwrap();
            assert_eq!(class.name(), Ok(&b"a"[..]));
            class.super_name().map(|name| name.map(<[u8]>::to_vec)).ok()
        };
        assert_eq!((of(4), of(0), of(3)), (Some(Some(b"b".to_vec())), Some(None), None));
    }
}
