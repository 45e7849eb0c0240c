//! A class as its API needs it: what it is, what it extends, and its members that other packages may reach.

use std::collections::BTreeMap;

use super::Kind;
use super::generics::{self, InBrackets, java_name};
use instrument_names::mutf8;
use instrument_rewriter::class_file::instruction::u2;
use instrument_rewriter::class_file::{
    Attributes, ClassFile, ConstantPool, Member as Raw, Tag, find_attribute,
};
use instrument_rewriter::error::ClassError;
use instrument_rewriter::text::{FlagsOf, flag_names};
use instrument_verifier::hierarchy::flags;

/// The flags that matter to whoever uses it.
const OF_CLASS: u16 = flags::PUBLIC
    | flags::PROTECTED
    | flags::STATIC
    | flags::FINAL
    | flags::INTERFACE
    | flags::ABSTRACT
    | flags::ANNOTATION
    | flags::ENUM;
const OF_FIELD: u16 = flags::PUBLIC | flags::PROTECTED | flags::STATIC | flags::FINAL;
/// `ACC_VARARGS` has the bit of a field's `transient`.
pub(super) const VARARGS: u16 = flags::TRANSIENT;
const OF_METHOD: u16 = OF_FIELD | VARARGS | flags::ABSTRACT;
/// What other packages can name.
pub(super) const ACCESSIBLE: u16 = flags::PUBLIC | flags::PROTECTED;

/// A member: its kind, its name and its descriptor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) descriptor: String,
}

impl Key {
    pub(super) fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }

    /// Whether the other one has the same name and takes the same, whatever it returns or is.
    pub(super) fn is_sibling(&self, other: &Key) -> bool {
        let takes = |key: &Key| key.descriptor.rfind(')').map_or(0, |end| end);
        let (own, others) = (takes(self), takes(other));
        self.kind == other.kind
            && self.name == other.name
            && self.descriptor[..own] == other.descriptor[..others]
    }
}

/// A field, or a method that is not private: a private field hides those that the class would inherit (JVMS 5.4.3.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) flags: u16,
    /// Its `Signature`, where it uses generics.
    pub(super) signature: Option<String>,
    /// The exceptions that a method declares.
    pub(super) throws: Vec<String>,
    /// The value of a constant.
    pub(super) constant: Option<String>,
    /// An element of an annotation has a default.
    pub(super) has_default: bool,
}

impl Member {
    pub(super) fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// A class. Names are in internal form.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) name: String,
    /// The outermost class around it, or itself.
    pub(super) outermost: String,
    /// As the source has them: those of InnerClasses for a nested class.
    pub(super) flags: u16,
    /// Where its flags stand.
    pub(super) place: Option<FlagsOf>,
    pub(super) super_class: Option<String>,
    pub(super) interfaces: Vec<String>,
    pub(super) signature: Option<String>,
    /// Only the classes that it names may extend it.
    pub(super) is_sealed: bool,
    pub(super) members: BTreeMap<Key, Member>,
}

impl Class {
    /// Reads a class.
    ///
    /// # Errors
    /// A name that is none, or an attribute that cannot be read.
    pub(super) fn read(class: &ClassFile<'_>) -> Result<Class, ClassError> {
        let pool = &class.pool;
        let name = mutf8::escape(class.name()?);
        let mut read = Class { outermost: name.clone(), flags: class.access_flags, name, ..Class::default() };
        read.place(class)?;
        read.super_class = class.super_name()?.map(mutf8::escape);
        for index in class.interfaces() {
            read.interfaces.push(mutf8::escape(pool.class_name(index)?));
        }
        read.signature = signature(class.attributes(), pool)?;
        read.is_sealed = find_attribute(class.attributes(), pool, b"PermittedSubclasses")?.is_some();
        let (mut fields, mut methods) = (class.fields(), class.methods());
        while let Some(field) = fields.next()? {
            read.add(Kind::Field, &field, pool)?;
        }
        while let Some(method) = methods.next()? {
            read.add(Kind::Method, &method, pool)?;
        }
        Ok(read)
    }

    fn add(&mut self, kind: Kind, raw: &Raw<'_>, pool: &ConstantPool<'_>) -> Result<(), ClassError> {
        let name = mutf8::escape(raw.name(pool)?);
        let is_private = raw.access_flags & flags::PRIVATE != 0;
        if is_private && kind == Kind::Method || name == "<clinit>" {
            return Ok(());
        }
        let attribute = |name| find_attribute(raw.attributes(), pool, name);
        let mut member = Member {
            flags: raw.access_flags,
            signature: signature(raw.attributes(), pool)?,
            has_default: attribute(b"AnnotationDefault")?.is_some(),
            ..Member::default()
        };
        if let Some(table) = attribute(b"Exceptions")? {
            for index in table.info.get(2..).unwrap_or_default().chunks_exact(2) {
                member.throws.push(mutf8::escape(pool.class_name(u2(index, 0))?));
            }
        }
        if let Some(value) = attribute(b"ConstantValue")?.filter(|value| value.info.len() == 2) {
            member.constant = constant(pool, u2(value.info, 0), raw.descriptor(pool)?);
        }
        let descriptor = mutf8::escape(raw.descriptor(pool)?);
        self.members.insert(Key { kind, name, descriptor }, member);
        Ok(())
    }

    /// What InnerClasses says of a nested class (JVMS 4.7.6). One that cannot be named in other packages loses its
    /// access flags.
    fn place(&mut self, class: &ClassFile<'_>) -> Result<(), ClassError> {
        self.place = Some(FlagsOf::Class);
        let table = find_attribute(class.attributes(), &class.pool, b"InnerClasses")?;
        let rows = table.map(|table| table.info.get(2..).unwrap_or_default()).unwrap_or_default();
        let row_of =
            |name: &[u8]| rows.chunks_exact(8).find(|row| class.pool.class_name(u2(row, 0)) == Ok(name));
        let mut name = class.name()?;
        // What other compilers than javac make of lambdas has a number for its name, and no row of its own.
        let is_numbered =
            self.name.rsplit_once('$').is_some_and(|(_, own)| own.starts_with(|c: char| c.is_ascii_digit()));
        let mut is_hidden = is_numbered || self.flags & (flags::SYNTHETIC | flags::MODULE) != 0;
        // A row for each class around this one at most: a damaged table may lead in a circle.
        for depth in 0..=rows.len() / 8 {
            let Some(row) = row_of(name) else { break };
            let (outer, own) = (u2(row, 2), u2(row, 6));
            if depth == 0 {
                (self.flags, self.place) = (own, Some(FlagsOf::InnerClass));
            }
            is_hidden |= own & ACCESSIBLE == 0 || own & flags::SYNTHETIC != 0;
            // No outer class: local or anonymous.
            if outer == 0 {
                is_hidden = true;
                break;
            }
            name = class.pool.class_name(outer)?;
        }
        self.outermost = mutf8::escape(name);
        if is_hidden {
            self.flags &= !ACCESSIBLE;
        }
        Ok(())
    }

    pub(super) fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether other packages can have subclasses of it.
    pub(super) fn is_extendable(&self) -> bool {
        !self.is(flags::FINAL)
            && !self.is_sealed
            && (self.is(flags::INTERFACE) || self.has_constructor(ACCESSIBLE))
    }

    /// Whether other packages can make objects of it, if it is not abstract: a protected constructor is for subclasses
    /// alone (JLS 6.6.2.2).
    pub(super) fn is_instantiable(&self) -> bool {
        self.has_constructor(flags::PUBLIC)
    }

    fn has_constructor(&self, access: u16) -> bool {
        self.members.iter().any(|(key, member)| key.is_constructor() && member.is(access))
    }

    /// Whether other packages can use a member, if they can use the class.
    pub(super) fn offers(&self, member: &Member) -> bool {
        !member.is(flags::SYNTHETIC)
            && (member.is(flags::PUBLIC) || member.is(flags::PROTECTED) && self.is_extendable())
    }

    /// The class as Java declares it.
    pub(super) fn text(&self) -> String {
        let is_interface = self.is(flags::INTERFACE);
        let shown = self.flags & OF_CLASS & !if is_interface { flags::ABSTRACT } else { 0 };
        let mut text = words(self.place.unwrap_or(FlagsOf::Class), shown);
        if !is_interface {
            text.push_str("class ");
        }
        text.push_str(&java_name(&self.name));
        let generic = self.signature.as_deref().and_then(generics::class);
        let mut supers: Vec<String> =
            self.super_class.iter().chain(&self.interfaces).map(|name| java_name(name)).collect();
        if let Some(generic) = generic.filter(|generic| generic.supers.len() == supers.len()) {
            text.push_str(&InBrackets(&generic.type_parameters).to_string());
            supers = generic.supers.iter().map(ToString::to_string).collect();
        }
        let mut supers = supers.into_iter();
        if self.super_class.is_some()
            && let Some(parent) = supers.next().filter(|parent| parent != "Object")
        {
            text.push_str(&format!(" extends {parent}"));
        }
        let interfaces: Vec<_> = supers.collect();
        if !interfaces.is_empty() {
            text.push_str(if is_interface { " extends " } else { " implements " });
            text.push_str(&interfaces.join(", "));
        }
        text
    }

    /// A member of this class as Java declares it.
    pub(super) fn member_text(&self, key: &Key, member: &Member) -> String {
        let class = java_name(&self.name);
        let signature = member.signature.as_deref();
        if key.kind == Kind::Field {
            let of_type = signature.and_then(generics::field).or_else(|| generics::field(&key.descriptor));
            let of_type = of_type.map_or_else(|| key.descriptor.clone(), |of_type| of_type.to_string());
            let value = member.constant.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
            return format!(
                "{}{of_type} {class}.{}{value}",
                words(FlagsOf::Field, member.flags & OF_FIELD),
                key.name
            );
        }
        let mut text = words(FlagsOf::Method, member.flags & OF_METHOD);
        match signature.and_then(generics::method).or_else(|| generics::method(&key.descriptor)) {
            Some(method) => {
                if !method.type_parameters.is_empty() {
                    text.push_str(&format!("{} ", InBrackets(&method.type_parameters)));
                }
                if !key.is_constructor() {
                    text.push_str(&format!("{} ", method.returned));
                }
                let parameters: Vec<_> = method.parameters.iter().map(ToString::to_string).collect();
                text.push_str(&format!("{class}.{}({})", key.name, parameters.join(", ")));
            }
            None => text.push_str(&format!("{class}.{}{}", key.name, key.descriptor)),
        }
        if !member.throws.is_empty() {
            let throws: Vec<_> = member.throws.iter().map(|name| java_name(name)).collect();
            text.push_str(&format!(" throws {}", throws.join(", ")));
        }
        if member.has_default {
            text.push_str(" default ..");
        }
        text
    }
}

/// `public static `, with a space behind it if there is anything.
fn words(of: FlagsOf, flags: u16) -> String {
    flag_names(of, flags).map(|name| format!("{name} ")).collect()
}

fn signature(attributes: Attributes<'_>, pool: &ConstantPool<'_>) -> Result<Option<String>, ClassError> {
    let attribute = find_attribute(attributes, pool, b"Signature")?.filter(|found| found.info.len() == 2);
    attribute.map(|found| Ok(mutf8::escape(pool.utf8(u2(found.info, 0))?))).transpose()
}

/// The value of a constant, as Java writes it.
fn constant(pool: &ConstantPool<'_>, index: u16, descriptor: &[u8]) -> Option<String> {
    let value = match pool.tag(index)? {
        Tag::Integer => pool.four_bytes(index, Tag::Integer).ok()?.cast_signed(),
        Tag::Float => return Some(f32::from_bits(pool.four_bytes(index, Tag::Float).ok()?).to_string()),
        Tag::Long => return Some(pool.eight_bytes(index, Tag::Long).ok()?.cast_signed().to_string()),
        Tag::Double => return Some(f64::from_bits(pool.eight_bytes(index, Tag::Double).ok()?).to_string()),
        Tag::String => {
            let text = pool.utf8(pool.single(index, Tag::String).ok()?).ok()?;
            return Some(format!("\"{}\"", mutf8::escape(text)));
        }
        _ => return None,
    };
    Some(match descriptor {
        b"Z" => (value != 0).to_string(),
        _ => value.to_string(),
    })
}
