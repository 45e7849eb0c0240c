//! Fields and methods (JVMS 4.5, 4.6): flags, names, descriptors, attributes.

use super::attributes::{Seen, empty, length, signature};
use super::names::{self, Use};
use super::{Buffers, Outcome, bad_index, code, illegal, utf8_at};
use crate::fault::{Check, Method, Problem, Rule};
use crate::hierarchy::{flags, key};
use instrument_names::mutf8;
use instrument_rewriter::class_file::{ClassFile, Member, Tag};

/// JVMS 4.3.3.
const MOST_ARGUMENTS: usize = 255;

pub fn fields(class: &ClassFile<'_>, buffers: &mut Buffers) -> Check {
    buffers.fields.clear();
    let mut fields = class.fields();
    while let Ok(Some(field)) = fields.next() {
        let pool = &class.pool;
        field_flags(field.access_flags, class)?;
        let name = utf8_at(pool, field.name_index, "name of a field")?;
        if !names::is_legal_name(name, Use::Field, class.major_version) {
            return Err(illegal(Rule::Name, name));
        }
        let descriptor = utf8_at(pool, field.descriptor_index, "descriptor of a field")?;
        if !names::is_field(descriptor, class.major_version) {
            return Err(illegal(Rule::Descriptor, descriptor));
        }
        field_attributes(class, &field, descriptor)?;
        buffers.fields.push((key(name, descriptor), field.access_flags));
    }
    duplicates(&buffers.fields, &mut buffers.sorted, "a field")
}

/// Two fields, or two methods, of one name and descriptor.
fn duplicates(members: &[(u64, u16)], sorted: &mut Vec<u64>, what: &str) -> Check {
    sorted.clear();
    sorted.extend(members.iter().map(|member| member.0));
    sorted.sort_unstable();
    match sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(Problem::new(Rule::Duplicate, format!("{what} with the same name and descriptor"))),
        false => Ok(()),
    }
}

fn has_illegal_visibility(given: u16) -> bool {
    (given & (flags::PUBLIC | flags::PRIVATE | flags::PROTECTED)).count_ones() > 1
}

/// JVMS table 4.5-A.
fn field_flags(given: u16, class: &ClassFile<'_>) -> Check {
    let has = |flag: u16| given & flag != 0;
    let is_illegal = if class.access_flags & flags::INTERFACE != 0 {
        !has(flags::PUBLIC)
            || !has(flags::STATIC)
            || !has(flags::FINAL)
            || has(flags::PRIVATE | flags::PROTECTED | flags::VOLATILE | flags::TRANSIENT)
            || class.major_version >= 49 && has(flags::ENUM)
    } else {
        has_illegal_visibility(given) || has(flags::FINAL) && has(flags::VOLATILE)
    };
    if is_illegal { Err(Problem::new(Rule::FieldFlags, format!("{given:#06x}"))) } else { Ok(()) }
}

fn field_attributes(class: &ClassFile<'_>, field: &Member<'_>, descriptor: &[u8]) -> Check {
    let mut seen = Seen::default();
    let mut attributes = field.attributes();
    while let Ok(Some(attribute)) = attributes.next() {
        let name = utf8_at(&class.pool, attribute.name_index, "name of an attribute")?;
        match name {
            b"ConstantValue" if field.access_flags & flags::STATIC != 0 => {
                seen.once(Seen::CONSTANT_VALUE, name)?;
                length(&attribute, 2, name)?;
                constant_value(
                    class,
                    u16::from_be_bytes([attribute.info[0], attribute.info[1]]),
                    descriptor,
                )?;
            }
            b"Synthetic" | b"Deprecated" => empty(&attribute, name)?,
            _ if class.major_version < 49 => {}
            b"Signature" => {
                seen.once(Seen::SIGNATURE, name)?;
                signature(&class.pool, &attribute)?;
            }
            _ => seen.annotations(name)?,
        }
    }
    Ok(())
}

/// JVMS 4.7.2.
fn constant_value(class: &ClassFile<'_>, index: u16, descriptor: &[u8]) -> Check {
    let wanted = match descriptor {
        b"J" => Tag::Long,
        b"F" => Tag::Float,
        b"D" => Tag::Double,
        b"I" | b"S" | b"C" | b"B" | b"Z" => Tag::Integer,
        b"Ljava/lang/String;" => Tag::String,
        _ => return Err(illegal(Rule::ConstantValue, descriptor)),
    };
    match class.pool.tag(index) {
        Some(tag) if tag == wanted => Ok(()),
        Some(tag) => Err(Problem::new(
            Rule::ConstantValue,
            format!("{} for {}", tag.name(), mutf8::escape(descriptor)),
        )),
        None => Err(bad_index(index, wanted.name(), "ConstantValue")),
    }
}

pub fn methods(class: &ClassFile<'_>, buffers: &mut Buffers) -> Outcome {
    buffers.methods.clear();
    let mut methods = class.methods();
    while let Ok(Some(method)) = methods.next() {
        if let Err(problem) = self::method(class, &method, buffers) {
            return Err((Some(named(class, &method)), problem));
        }
    }
    duplicates(&buffers.methods, &mut buffers.sorted, "a method").map_err(|problem| (None, problem))
}

/// A method's name and descriptor for people.
pub fn named(class: &ClassFile<'_>, method: &Member<'_>) -> Method {
    let text = |index| mutf8::escape(class.pool.utf8_or_empty(index));
    Method { name: text(method.name_index), descriptor: text(method.descriptor_index) }
}

fn method(class: &ClassFile<'_>, method: &Member<'_>, buffers: &mut Buffers) -> Check {
    let (pool, major) = (&class.pool, class.major_version);
    let name = utf8_at(pool, method.name_index, "name of a method")?;
    if !names::is_legal_name(name, Use::Method, major) {
        return Err(illegal(Rule::Name, name));
    }
    let descriptor = utf8_at(pool, method.descriptor_index, "descriptor of a method")?;
    let is_interface = class.access_flags & flags::INTERFACE != 0;
    let mut given = method.access_flags;
    if name == b"<clinit>" {
        if major >= 51 && given & flags::STATIC == 0 {
            return Err(Problem::new(Rule::MethodFlags, "<clinit> is not static"));
        }
        // The others are ignored.
        given = flags::STATIC;
    } else {
        method_flags(given, is_interface, name == b"<init>", major)?;
    }
    if name == b"<init>" && is_interface {
        return Err(Problem::new(Rule::Name, "an interface has a constructor"));
    }
    let Some(slots) = names::method(name, descriptor, major) else {
        return Err(illegal(Rule::Descriptor, descriptor));
    };
    let arguments = slots + usize::from(given & flags::STATIC == 0);
    if arguments > MOST_ARGUMENTS {
        return Err(Problem::new(Rule::Arguments, format!("{arguments} slots")));
    }
    let has_code = method_attributes(class, method, given, arguments)?;
    if !has_code && given & (flags::NATIVE | flags::ABSTRACT) == 0 {
        return Err(Problem::new(Rule::CodeAbsent, ""));
    }
    buffers.methods.push((key(name, descriptor), method.access_flags));
    Ok(())
}

/// JVMS table 4.6-A.
fn method_flags(given: u16, is_interface: bool, is_init: bool, major: u16) -> Check {
    let has = |flag: u16| given & flag != 0;
    let strict = if major >= 60 { 0 } else { flags::STRICT };
    let is_illegal = if is_interface {
        if major >= 52 {
            has(flags::PUBLIC) == has(flags::PRIVATE)
                || has(flags::NATIVE | flags::PROTECTED | flags::FINAL | flags::SYNCHRONIZED)
                || has(flags::ABSTRACT) && has(flags::PRIVATE | flags::STATIC | strict)
        } else {
            let mut never = flags::STATIC | flags::FINAL | flags::NATIVE;
            if major >= 49 {
                never |= flags::PRIVATE | flags::PROTECTED | flags::SYNCHRONIZED | flags::STRICT;
            }
            !has(flags::PUBLIC) || !has(flags::ABSTRACT) || has(never)
        }
    } else if has_illegal_visibility(given) {
        true
    } else if is_init {
        has(flags::STATIC | flags::FINAL | flags::SYNCHRONIZED | flags::NATIVE | flags::ABSTRACT)
            || major >= 49 && has(flags::BRIDGE)
    } else {
        has(flags::ABSTRACT)
            && (has(flags::FINAL | flags::NATIVE | flags::PRIVATE | flags::STATIC)
                || major >= 49 && has(flags::SYNCHRONIZED | strict))
    };
    if is_illegal { Err(Problem::new(Rule::MethodFlags, format!("{given:#06x}"))) } else { Ok(()) }
}

/// Returns whether there is a Code attribute.
fn method_attributes(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    given: u16,
    arguments: usize,
) -> Check<bool> {
    let pool = &class.pool;
    let mut seen = Seen::default();
    let mut attributes = method.attributes();
    while let Ok(Some(attribute)) = attributes.next() {
        let name = utf8_at(pool, attribute.name_index, "name of an attribute")?;
        match name {
            b"Code" => {
                if given & (flags::NATIVE | flags::ABSTRACT) != 0 {
                    return Err(Problem::new(Rule::CodeUnexpected, ""));
                }
                seen.once(Seen::CODE, name)?;
                code::check(class, &attribute, arguments)?;
            }
            b"Exceptions" => {
                seen.once(Seen::EXCEPTIONS, name)?;
                super::attributes::classes(pool, &attribute, name)?;
            }
            b"MethodParameters" => {
                seen.once(Seen::METHOD_PARAMETERS, name)?;
                let rows = attribute.info.first().map_or(usize::MAX - 1, |&rows| usize::from(rows) * 4);
                length(&attribute, rows + 1, name)?;
            }
            b"Synthetic" | b"Deprecated" => empty(&attribute, name)?,
            _ if class.major_version < 49 => {}
            b"Signature" => {
                seen.once(Seen::SIGNATURE, name)?;
                signature(pool, &attribute)?;
            }
            b"AnnotationDefault" => seen.once(Seen::ANNOTATION_DEFAULT, name)?,
            b"RuntimeVisibleParameterAnnotations" => seen.once(Seen::VISIBLE_PARAMETERS, name)?,
            b"RuntimeInvisibleParameterAnnotations" => seen.once(Seen::INVISIBLE_PARAMETERS, name)?,
            _ => seen.annotations(name)?,
        }
    }
    Ok(seen.has(Seen::CODE))
}
