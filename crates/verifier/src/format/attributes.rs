//! Attributes of a class (JVMS 4.7), and what all attributes have in common.

use super::names::{self, Use};
use super::{class_at, class_flags, illegal, tag_at, utf8_at};
use crate::fault::{Check, Problem, Rule};
use crate::hierarchy::flags;
use instrument_names::mutf8;
use instrument_rewriter::class_file::instruction::u2;
use instrument_rewriter::class_file::{Attribute, ClassFile, ConstantPool, Reader, Tag};

/// Attributes that may stand once.
#[derive(Debug, Default)]
pub struct Seen(u32);

impl Seen {
    pub const CONSTANT_VALUE: u32 = 1;
    pub const SIGNATURE: u32 = 1 << 1;
    pub const CODE: u32 = 1 << 2;
    pub const EXCEPTIONS: u32 = 1 << 3;
    pub const METHOD_PARAMETERS: u32 = 1 << 4;
    pub const ANNOTATION_DEFAULT: u32 = 1 << 5;
    pub const VISIBLE_PARAMETERS: u32 = 1 << 6;
    pub const INVISIBLE_PARAMETERS: u32 = 1 << 7;
    pub const STACK_MAP_TABLE: u32 = 1 << 8;
    pub const SOURCE_FILE: u32 = 1 << 9;
    pub const SOURCE_DEBUG: u32 = 1 << 10;
    pub const INNER_CLASSES: u32 = 1 << 11;
    pub const ENCLOSING_METHOD: u32 = 1 << 12;
    pub const BOOTSTRAP_METHODS: u32 = 1 << 13;
    pub const NEST_HOST: u32 = 1 << 14;
    pub const NEST_MEMBERS: u32 = 1 << 15;
    pub const RECORD: u32 = 1 << 16;
    pub const PERMITTED: u32 = 1 << 17;

    /// Notes an attribute.
    ///
    /// # Errors
    /// It stands there the second time.
    pub fn once(&mut self, which: u32, name: &[u8]) -> Check {
        if self.has(which) {
            return Err(Problem::new(Rule::Duplicate, format!("the attribute {}", mutf8::escape(name))));
        }
        self.0 |= which;
        Ok(())
    }

    /// Whether it was noted.
    pub fn has(&self, which: u32) -> bool {
        self.0 & which != 0
    }

    /// Annotations of any kind may stand once for each kind.
    pub fn annotations(&mut self, name: &[u8]) -> Check {
        let which = match name {
            b"RuntimeVisibleAnnotations" => 28,
            b"RuntimeInvisibleAnnotations" => 29,
            b"RuntimeVisibleTypeAnnotations" => 30,
            b"RuntimeInvisibleTypeAnnotations" => 31,
            _ => return Ok(()),
        };
        self.once(1 << which, name)
    }
}

/// The attribute has to have this length.
pub fn length(attribute: &Attribute<'_>, length: usize, name: &[u8]) -> Check {
    match attribute.info.len() {
        found if found == length => Ok(()),
        found => Err(Problem::new(Rule::AttributeLength, mutf8::escape(name))
            .instead(format!("{length} bytes"), format!("{found} bytes"))),
    }
}

/// The attribute has to be empty.
pub fn empty(attribute: &Attribute<'_>, name: &[u8]) -> Check {
    length(attribute, 0, name)
}

/// JVMS 4.7.9.
pub fn signature(pool: &ConstantPool<'_>, attribute: &Attribute<'_>) -> Check {
    length(attribute, 2, b"Signature")?;
    utf8_at(pool, u2(attribute.info, 0), "Signature").map(drop)
}

/// A number of Class constants: Exceptions, NestMembers, PermittedSubclasses.
pub fn classes(pool: &ConstantPool<'_>, attribute: &Attribute<'_>, name: &[u8]) -> Check {
    let count = attribute.info.get(..2).map_or(0, |count| usize::from(u2(count, 0)));
    length(attribute, 2 + 2 * count, name)?;
    for index in attribute.info[2..].chunks_exact(2) {
        class_at(pool, u2(index, 0), "an attribute")?;
    }
    Ok(())
}

/// All attributes of the class. `most_bootstrap`: the highest index of a bootstrap method that a constant names.
pub fn of_class(class: &ClassFile<'_>, most_bootstrap: Option<u16>) -> Check {
    let (pool, major) = (&class.pool, class.major_version);
    let mut seen = Seen::default();
    let mut record = None;
    let mut attributes = class.attributes();
    while let Ok(Some(attribute)) = attributes.next() {
        let name = utf8_at(pool, attribute.name_index, "name of an attribute")?;
        match name {
            b"SourceFile" => {
                seen.once(Seen::SOURCE_FILE, name)?;
                length(&attribute, 2, name)?;
                utf8_at(pool, u2(attribute.info, 0), "SourceFile")?;
            }
            b"SourceDebugExtension" => seen.once(Seen::SOURCE_DEBUG, name)?,
            b"InnerClasses" => {
                seen.once(Seen::INNER_CLASSES, name)?;
                inner_classes(class, &attribute)?;
            }
            b"Synthetic" | b"Deprecated" => empty(&attribute, name)?,
            _ if major < 49 => {}
            b"Signature" => {
                seen.once(Seen::SIGNATURE, name)?;
                signature(pool, &attribute)?;
            }
            b"EnclosingMethod" => {
                seen.once(Seen::ENCLOSING_METHOD, name)?;
                length(&attribute, 4, name)?;
                class_at(pool, u2(attribute.info, 0), "EnclosingMethod")?;
                let method = u2(attribute.info, 2);
                if method != 0 {
                    tag_at(pool, method, Tag::NameAndType, "EnclosingMethod")?;
                }
            }
            b"BootstrapMethods" if major >= 51 => {
                seen.once(Seen::BOOTSTRAP_METHODS, name)?;
                bootstrap_methods(pool, &attribute, most_bootstrap)?;
            }
            b"NestHost" if major >= 55 => {
                seen.once(Seen::NEST_HOST, name)?;
                length(&attribute, 2, name)?;
                class_at(pool, u2(attribute.info, 0), "NestHost")?;
            }
            b"NestMembers" if major >= 55 => {
                seen.once(Seen::NEST_MEMBERS, name)?;
                classes(pool, &attribute, name)?;
            }
            b"Record" if major >= 60 => {
                seen.once(Seen::RECORD, name)?;
                record = Some(attribute);
            }
            b"PermittedSubclasses" if major >= 61 => {
                seen.once(Seen::PERMITTED, name)?;
                if class.access_flags & flags::FINAL != 0 {
                    return Err(Problem::new(Rule::Attribute, "PermittedSubclasses of a final class"));
                }
                classes(pool, &attribute, name)?;
            }
            _ => seen.annotations(name)?,
        }
    }
    if seen.has(Seen::NEST_HOST) && seen.has(Seen::NEST_MEMBERS) {
        return Err(Problem::new(Rule::Attribute, "NestHost and NestMembers"));
    }
    if most_bootstrap.is_some() && !seen.has(Seen::BOOTSTRAP_METHODS) {
        return Err(Problem::new(Rule::BootstrapMethods, "there are none"));
    }
    record.map_or(Ok(()), |attribute| components(class, &attribute))
}

/// JVMS 4.7.6.
fn inner_classes(class: &ClassFile<'_>, attribute: &Attribute<'_>) -> Check {
    let (pool, what) = (&class.pool, "InnerClasses");
    let count = attribute.info.get(..2).map_or(0, |count| usize::from(u2(count, 0)));
    let end = 2 + 8 * count;
    // In older classes what is behind the rows is skipped.
    if class.major_version >= 49 || attribute.info.len() < end {
        length(attribute, end, b"InnerClasses")?;
    }
    let rows =
        attribute.info[2..end].chunks_exact(8).map(|row| [u2(row, 0), u2(row, 2), u2(row, 4), u2(row, 6)]);
    let mut all: Vec<[u16; 4]> = Vec::with_capacity(count);
    for row @ [inner, outer, name, given] in rows {
        class_at(pool, inner, what)?;
        if outer != 0 && class_at(pool, outer, what)?.first() == Some(&b'[') {
            return Err(Problem::new(Rule::Attribute, "InnerClasses: the outer class is an array"));
        }
        if name != 0 {
            utf8_at(pool, name, what)?;
        }
        if inner == outer {
            return Err(Problem::new(Rule::Attribute, "InnerClasses: a class is its own outer class"));
        }
        class_flags(given, class.major_version)?;
        all.push(row);
    }
    if class.major_version < 49 {
        return Ok(());
    }
    let mut outer_of = vec![0; usize::from(pool.count())];
    for &[inner, outer, ..] in all.iter().rev() {
        outer_of[usize::from(inner)] = outer;
    }
    all.sort_unstable();
    if all.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Problem::new(Rule::Duplicate, "a row of InnerClasses"));
    }
    // Every class is left behind for good once: 0 ends a way, and so does whatever was on an earlier way.
    let mut way = vec![0u32; outer_of.len()];
    for (mark, &[inner, ..]) in (1u32..).zip(&all) {
        let mut at = usize::from(inner);
        while at != 0 && way[at] == 0 {
            way[at] = mark;
            at = usize::from(outer_of[at]);
        }
        if at != 0 && way[at] == mark {
            return Err(Problem::new(Rule::Attribute, "InnerClasses: a circle of outer classes"));
        }
    }
    Ok(())
}

/// JVMS 4.7.23.
fn bootstrap_methods(pool: &ConstantPool<'_>, attribute: &Attribute<'_>, most: Option<u16>) -> Check {
    let bad = |why: &str| Problem::new(Rule::BootstrapMethods, why);
    let cut = |_| bad("the attribute is cut off");
    let mut r = Reader::new(attribute.info, 0, "BootstrapMethods");
    let count = r.u2().map_err(cut)?;
    if most.is_some_and(|most| most >= count) {
        return Err(bad("a constant names one behind the last"));
    }
    for _ in 0..count {
        tag_at(pool, r.u2().map_err(cut)?, Tag::MethodHandle, "BootstrapMethods")?;
        for _ in 0..r.u2().map_err(cut)? {
            let argument = r.u2().map_err(cut)?;
            let is_loadable = matches!(
                pool.tag(argument),
                Some(
                    Tag::Integer
                        | Tag::Float
                        | Tag::Long
                        | Tag::Double
                        | Tag::Class
                        | Tag::String
                        | Tag::MethodHandle
                        | Tag::MethodType
                        | Tag::Dynamic
                )
            );
            if !is_loadable {
                return Err(super::bad_index(argument, "loadable", "BootstrapMethods"));
            }
        }
    }
    length(attribute, r.position(), b"BootstrapMethods")
}

/// JVMS 4.7.30.
fn components(class: &ClassFile<'_>, attribute: &Attribute<'_>) -> Check {
    let (pool, major, what) = (&class.pool, class.major_version, "Record");
    let cut = |_| Problem::new(Rule::AttributeLength, "Record");
    let mut r = Reader::new(attribute.info, 0, what);
    for _ in 0..r.u2().map_err(cut)? {
        let name = utf8_at(pool, r.u2().map_err(cut)?, what)?;
        if !names::is_legal_name(name, Use::Field, major) {
            return Err(illegal(Rule::Name, name));
        }
        let descriptor = utf8_at(pool, r.u2().map_err(cut)?, what)?;
        if !names::is_field(descriptor, major) {
            return Err(illegal(Rule::Descriptor, descriptor));
        }
        let mut seen = Seen::default();
        for _ in 0..r.u2().map_err(cut)? {
            let name = utf8_at(pool, r.u2().map_err(cut)?, what)?;
            let length = r.u4().map_err(cut)? as usize;
            let offset = r.position();
            let info = r.take(length).map_err(cut)?;
            if name == b"Signature" {
                seen.once(Seen::SIGNATURE, name)?;
                signature(pool, &Attribute { name_index: 0, offset, info })?;
            } else {
                seen.annotations(name)?;
            }
        }
    }
    length(attribute, r.position(), b"Record")
}
