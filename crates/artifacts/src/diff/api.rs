//! The API of a class by its access flags: what other packages can use of it, and how two versions of it differ.
//!
//! A class belongs to it if it and the classes around it are public or protected (InnerClasses has the flags of nested classes, JVMS
//! 4.7.6), a member if it is public or protected in such a class. What compilers made (`synthetic`) does not.

use std::collections::BTreeMap;

use instrument_names::{mutf8, signature};
use instrument_rewriter::class_file::instruction::u2;
use instrument_rewriter::class_file::{ClassFile, Member, find_attribute};
use instrument_rewriter::error::ClassError;
use instrument_rewriter::text::{FlagsOf, flag_names};

const PUBLIC: u16 = 0x0001;
const PROTECTED: u16 = 0x0004;
const STATIC: u16 = 0x0008;
const FINAL: u16 = 0x0010;
const VARARGS: u16 = 0x0080;
const INTERFACE: u16 = 0x0200;
const ABSTRACT: u16 = 0x0400;
const SYNTHETIC: u16 = 0x1000;
const ANNOTATION: u16 = 0x2000;
const ENUM: u16 = 0x4000;
const MODULE: u16 = 0x8000;

/// The flags that matter to whoever uses it.
const OF_CLASS: u16 = PUBLIC | PROTECTED | STATIC | FINAL | INTERFACE | ABSTRACT | ANNOTATION | ENUM;
const OF_FIELD: u16 = PUBLIC | PROTECTED | STATIC | FINAL;
const OF_METHOD: u16 = PUBLIC | PROTECTED | STATIC | FINAL | VARARGS | ABSTRACT;

/// What something in an API is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Class,
    Field,
    Method,
}

/// What a class has to offer: by kind, name and descriptor, as Java writes it.
pub(super) type Api = BTreeMap<(Kind, String), String>;

/// A difference between two APIs: what it was and what it is; one of them is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) kind: Kind,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// The API of a class; empty if it has none.
///
/// # Errors
/// A name that is none, or an attribute that cannot be read.
pub(super) fn of(class: &ClassFile<'_>) -> Result<Api, ClassError> {
    let mut api = Api::new();
    let Some((flags, place)) = visible_flags(class)? else { return Ok(api) };
    let name = mutf8::escape(class.name()?).replace('/', ".");
    let mut text = words(place, flags & OF_CLASS & !if flags & INTERFACE != 0 { ABSTRACT } else { 0 });
    if flags & INTERFACE == 0 {
        text.push_str("class ");
    }
    text.push_str(&name);
    if let Some(parent) = class.super_name()?.filter(|parent| *parent != b"java/lang/Object") {
        text.push_str(&format!(" extends {}", mutf8::escape(parent).replace('/', ".")));
    }
    let mut word = if flags & INTERFACE != 0 { " extends " } else { " implements " };
    for index in class.interfaces() {
        text.push_str(word);
        text.push_str(&mutf8::escape(class.pool.class_name(index)?).replace('/', "."));
        word = ", ";
    }
    api.insert((Kind::Class, String::new()), text);

    let mut add = |kind: Kind, member: &Member<'_>| -> Result<(), ClassError> {
        let flags = member.access_flags;
        if flags & (PUBLIC | PROTECTED) == 0 || flags & SYNTHETIC != 0 {
            return Ok(());
        }
        let own = mutf8::escape(member.name(&class.pool)?);
        let descriptor = mutf8::escape(member.descriptor(&class.pool)?);
        let text = match kind {
            Kind::Method => {
                let whole = format!("{name}.{own}{descriptor}");
                let result = signature::returned(&whole).filter(|_| !own.starts_with('<'));
                let result = result.map(|result| format!("{result} ")).unwrap_or_default();
                let shown = signature::readable(&whole).unwrap_or(whole);
                format!("{}{result}{shown}", words(FlagsOf::Method, flags & OF_METHOD))
            }
            _ => {
                // A field's type is what a method would return.
                let of_type = signature::returned(&format!("(){descriptor}")).unwrap_or(descriptor.clone());
                format!("{}{of_type} {name}.{own}", words(FlagsOf::Field, flags & OF_FIELD))
            }
        };
        api.insert((kind, format!("{own}:{descriptor}")), text);
        Ok(())
    };
    let (mut fields, mut methods) = (class.fields(), class.methods());
    while let Some(field) = fields.next()? {
        add(Kind::Field, &field)?;
    }
    while let Some(method) = methods.next()? {
        add(Kind::Method, &method)?;
    }
    Ok(api)
}

/// `public static `, with a space behind it if there is anything.
fn words(of: FlagsOf, flags: u16) -> String {
    flag_names(of, flags).map(|name| format!("{name} ")).collect()
}

/// The flags of a class that other packages can see, and how they are read; `None` for one that they cannot see.
fn visible_flags(class: &ClassFile<'_>) -> Result<Option<(u16, FlagsOf)>, ClassError> {
    if class.access_flags & (SYNTHETIC | MODULE) != 0 {
        return Ok(None);
    }
    let table = find_attribute(class.attributes(), &class.pool, b"InnerClasses")?;
    let rows = table.map(|table| table.info.get(2..).unwrap_or_default()).unwrap_or_default();
    let row_of = |name: &[u8]| rows.chunks_exact(8).find(|row| class.pool.class_name(u2(row, 0)) == Ok(name));
    let (mut name, mut own, mut place) = (class.name()?, class.access_flags, FlagsOf::Class);
    let mut is_visible = own & PUBLIC != 0;
    // A row for each class around this one at most: a damaged table may lead in a circle.
    for depth in 0..=rows.len() / 8 {
        let Some(row) = row_of(name) else { break };
        let (outer, flags) = (u2(row, 2), u2(row, 6));
        if depth == 0 {
            (own, place, is_visible) = (flags, FlagsOf::InnerClass, true);
        }
        // No outer class: local or anonymous.
        if outer == 0 || flags & (PUBLIC | PROTECTED) == 0 || flags & SYNTHETIC != 0 {
            return Ok(None);
        }
        name = class.pool.class_name(outer)?;
    }
    // The outermost class is another file; its flags are not here. Members of a class that is not public can be reached through its
    // subclasses only.
    Ok(is_visible.then_some((own, place)))
}

/// What differs, in the order of kinds and names.
pub(super) fn changes(before: &Api, after: &Api) -> Vec<Change> {
    let mut keys: Vec<_> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let all = keys.into_iter().map(|key| Change {
        kind: key.0,
        before: before.get(key).cloned(),
        after: after.get(key).cloned(),
    });
    all.filter(|change| change.before != change.after).collect()
}
