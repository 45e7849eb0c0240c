//! The constant pool (JVMS 4.4).

use super::names::{self, Use};
use super::{bad_index, illegal, tag_at, utf8_at};
use crate::fault::{Check, Problem, Rule};
use instrument_rewriter::class_file::{ClassFile, ClassFile as Class, ConstantPool, Tag};

const INIT: &[u8] = b"<init>";

/// Checks every constant. Returns the highest index of a bootstrap method that a constant names.
pub fn check(class: &ClassFile<'_>) -> Check<Option<u16>> {
    let (pool, major) = (&class.pool, class.major_version);
    let mut most_bootstrap = None;
    // References first: what they lead to is looked at below.
    for index in pool.indices() {
        let Some(tag) = pool.tag(index) else { continue };
        let least = match tag {
            Tag::MethodHandle | Tag::MethodType | Tag::InvokeDynamic => 51,
            Tag::Dynamic => 55,
            // Those of a module descriptor, which is no class.
            Tag::Module | Tag::Package => u16::MAX,
            _ => 0,
        };
        if major < least {
            return Err(Problem::new(
                Rule::ConstantVersion,
                format!("#{index}: {} in version {major}", tag.name()),
            ));
        }
        if let Some(bootstrap) = references(pool, index, tag, major)? {
            most_bootstrap = most_bootstrap.max(Some(bootstrap));
        }
    }
    for index in pool.indices() {
        if let Some(tag) = pool.tag(index) {
            content(class, index, tag)?;
        }
    }
    Ok(most_bootstrap)
}

/// Where the constant leads.
fn references(pool: &ConstantPool<'_>, index: u16, tag: Tag, major: u16) -> Check<Option<u16>> {
    let what = "constant pool";
    let one = || pool.single(index, tag).map_err(|_| bad_index(index, tag.name(), what));
    let two = || pool.pair(index, tag).map_err(|_| bad_index(index, tag.name(), what));
    match tag {
        Tag::Class | Tag::String | Tag::MethodType => tag_at(pool, one()?, Tag::Utf8, what)?,
        Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref => {
            let (class, name_and_type) = two()?;
            tag_at(pool, class, Tag::Class, what)?;
            tag_at(pool, name_and_type, Tag::NameAndType, what)?;
        }
        Tag::NameAndType => {
            let (name, descriptor) = two()?;
            tag_at(pool, name, Tag::Utf8, what)?;
            tag_at(pool, descriptor, Tag::Utf8, what)?;
        }
        Tag::Dynamic | Tag::InvokeDynamic => {
            let (bootstrap, name_and_type) = two()?;
            tag_at(pool, name_and_type, Tag::NameAndType, what)?;
            return Ok(Some(bootstrap));
        }
        Tag::MethodHandle => method_handle(pool, index, major)?,
        _ => {}
    }
    Ok(None)
}

/// JVMS 4.4.8, `reference_kind`.
fn method_handle(pool: &ConstantPool<'_>, index: u16, major: u16) -> Check {
    let (kind, reference) =
        pool.method_handle(index).map_err(|_| bad_index(index, "MethodHandle", "constant pool"))?;
    let tag = pool.tag(reference);
    let fits = match kind {
        1..=4 => tag == Some(Tag::Fieldref),
        5 | 8 => tag == Some(Tag::Methodref),
        6 | 7 => tag == Some(Tag::Methodref) || major >= 52 && tag == Some(Tag::InterfaceMethodref),
        9 => tag == Some(Tag::InterfaceMethodref),
        _ => false,
    };
    if fits { Ok(()) } else { Err(Problem::new(Rule::MethodHandleKind, format!("#{index}: kind {kind}"))) }
}

/// What the constant says.
fn content(class: &Class<'_>, index: u16, tag: Tag) -> Check {
    let (pool, major, what) = (&class.pool, class.major_version, "constant pool");
    match tag {
        Tag::Utf8 => {
            let text = utf8_at(pool, index, what)?;
            if !names::is_modified_utf8(text, major) {
                return Err(Problem::new(Rule::Utf8, format!("#{index}")));
            }
        }
        Tag::Class => {
            let name = super::class_at(pool, index, what)?;
            if !names::is_legal_class(name, major) {
                return Err(illegal(Rule::Name, name));
            }
        }
        Tag::NameAndType => {
            let (name, descriptor) =
                pool.name_and_type(index).map_err(|_| bad_index(index, tag.name(), what))?;
            let is_method = descriptor.first() == Some(&b'(');
            if !names::is_legal_name(name, if is_method { Use::Method } else { Use::Field }, major) {
                return Err(illegal(Rule::Name, name));
            }
            let is_legal = match is_method {
                true => names::method(name, descriptor, major).is_some(),
                false => names::is_field(descriptor, major),
            };
            if !is_legal {
                return Err(illegal(Rule::Descriptor, descriptor));
            }
        }
        Tag::Fieldref | Tag::Methodref | Tag::InterfaceMethodref | Tag::Dynamic | Tag::InvokeDynamic => {
            let (name, descriptor) =
                pool.referenced_name_and_type(index).map_err(|_| bad_index(index, tag.name(), what))?;
            let is_method = descriptor.first() == Some(&b'(');
            if is_method == matches!(tag, Tag::Fieldref | Tag::Dynamic) {
                return Err(illegal(Rule::Descriptor, descriptor));
            }
            if tag == Tag::Methodref && name.first() == Some(&b'<') && name != INIT {
                return Err(illegal(Rule::Name, name));
            }
        }
        Tag::MethodHandle => {
            let (kind, reference) =
                pool.method_handle(index).map_err(|_| bad_index(index, tag.name(), what))?;
            let (name, _) =
                pool.referenced_name_and_type(reference).map_err(|_| bad_index(reference, "member", what))?;
            let fits = match kind {
                8 => name == INIT,
                5..=7 => name != INIT,
                _ => true,
            };
            if !fits {
                return Err(Problem::new(Rule::MethodHandleKind, format!("#{index}: kind {kind}")));
            }
        }
        Tag::MethodType => {
            let at = pool.single(index, tag).map_err(|_| bad_index(index, tag.name(), what))?;
            let descriptor = utf8_at(pool, at, what)?;
            if names::method(b"", descriptor, major).is_none() {
                return Err(illegal(Rule::Descriptor, descriptor));
            }
        }
        _ => {}
    }
    Ok(())
}
