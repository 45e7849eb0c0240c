//! Methods that have no room for their probes: a wrapper with the probes takes the place of the method, and its code moves into a private
//! method that the wrapper calls. It adds a member to the class, so it is done only when it is asked for ([`LargeMethods::Wrap`]).
//!
//! | | wrapper | method with the code |
//! |---|---|---|
//! | name, descriptor | those of the method | the name with `$instrument$body` behind it; the same descriptor |
//! | flags | those of the method, `synchronized` too | `private synthetic`, and `static` and `strictfp` as the method has them |
//! | attributes | all of the method but its code: Signature, Exceptions, annotations, .. | the code alone |
//! | transforms | `method_events`; `rmi` of what is called from elsewhere | all others and the caller's own calls, if there is room for them |
//!
//! Left as they are: constructors and class initialisers (only they may set fields that are `final`, and call `super()`);
//! methods of interfaces in class files before version 52, which can have no private method (JVMS 4.6); everything with
//! `bytecodes`, because the wrapper's own instructions would count, and everything with `lines`; classes that ask who called them (`getCallerClass`), because the
//! answer would be the wrapper.

use super::method::Request;
use super::{ACC_STATIC, ClassRewriter, MethodEvent, MethodRef, MethodReport, Note, SkipReason, Transforms};
use crate::class_file::descriptor::{field_slots, method_slots};
use crate::class_file::{Attribute, ClassFile, CodeAttribute, ConstantPool, Tag, find_attribute, opcode};
use crate::region::RegionFault;
use crate::transform::regions::Located;
use std::collections::BTreeSet;

/// What becomes of methods that have no room for their probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LargeMethods {
    /// They stay as they are, with their reason.
    #[default]
    Leave,
    /// They get a wrapper, where that is possible.
    Wrap,
}

/// A method that has no room for its probes.
pub(super) struct Large<'a> {
    pub(super) method: MethodRef<'a>,
    /// Of its descriptor, in the constant pool.
    pub(super) descriptor_index: u16,
    /// Its Code attribute.
    pub(super) attribute: Attribute<'a>,
    pub(super) request: Request<'a>,
    /// Its code regions: position in the list of regions, and place.
    pub(super) regions: &'a [(usize, Located)],
}

const ACC_PRIVATE: u16 = 0x0002;
const ACC_INTERFACE: u16 = 0x0200;
const ACC_STRICT: u16 = 0x0800;
const ACC_SYNTHETIC: u16 = 0x1000;
/// From this class file version on interfaces may have private methods (JVMS 4.6).
const FIRST_WITH_PRIVATE_INTERFACE_METHODS: u16 = 52;
/// What code names that asks who called it, and the annotations of such methods of the JDK.
const CALLER_SENSITIVE: [&[u8]; 3] =
    [b"getCallerClass", b"Ljdk/internal/reflect/CallerSensitive;", b"Lsun/reflect/CallerSensitive;"];
/// Behind the method's name; a number follows if a name of the class ends so already.
const SUFFIX: &[u8] = b"$instrument$body";

impl ClassRewriter {
    /// Gives a method that is left for `reason` a wrapper, if it is to have one and can have one; whether it has. The class is copied up to
    /// `copied`, and then up to the end of the method's code.
    pub(super) fn try_wrap(
        &mut self,
        class: &ClassFile<'_>,
        large: &Large<'_>,
        copied: usize,
        reason: SkipReason,
    ) -> bool {
        if !self.wraps(class, large, reason) {
            return false;
        }
        let mark = self.appender.mark();
        let (methods, bodies, count) = (self.methods.len(), self.bodies.len(), self.bodies_count);
        self.methods.extend_from_slice(&class.bytes[copied..large.attribute.offset]);
        match self.wrap(class, large) {
            Ok(has_others) => {
                self.report_wrapped(large, has_others, reason);
                true
            }
            Err(_) => {
                self.appender.roll_back(mark);
                self.methods.truncate(methods);
                self.bodies.truncate(bodies);
                self.bodies_count = count;
                false
            }
        }
    }

    fn wraps(&mut self, class: &ClassFile<'_>, large: &Large<'_>, reason: SkipReason) -> bool {
        let transforms = large.request.transforms;
        self.large_methods == LargeMethods::Wrap
            && has_no_room(reason)
            && transforms.method_events
            && !transforms.bytecodes
            && !transforms.lines
            && !large.method.name.starts_with(b"<")
            && (class.access_flags & ACC_INTERFACE == 0
                || class.major_version >= FIRST_WITH_PRIVATE_INTERFACE_METHODS)
            && !self.names.get_or_insert_with(|| Names::of(&class.pool)).asks_for_its_caller
    }

    /// Appends the wrapper's Code attribute to the methods, and the method with the code to the new ones. Whether the other transforms
    /// found room in there.
    fn wrap(&mut self, class: &ClassFile<'_>, large: &Large<'_>) -> Result<bool, SkipReason> {
        let Large { method, descriptor_index, attribute, request, .. } = large;
        let count = self.bodies_count.checked_add(1).ok_or(SkipReason::MethodTooLarge)?;
        class.methods_count().checked_add(count).ok_or(SkipReason::MethodTooLarge)?;
        let suffix = &self.names.get_or_insert_with(|| Names::of(&class.pool)).suffix;
        let name = [method.name, suffix].concat();
        let tag = match class.access_flags & ACC_INTERFACE {
            0 => Tag::Methodref,
            _ => Tag::InterfaceMethodref,
        };
        let (name_index, reference) =
            self.appender.own_method(tag, class.this_class, &name, *descriptor_index)?;
        let code = CodeAttribute::parse(attribute).map_err(|_| SkipReason::BadCode)?;
        let info = wrapper_code(method, first_line(&code, &class.pool), reference)?;
        let wrapper = Attribute { name_index: attribute.name_index, offset: attribute.offset, info: &info };
        let transforms = Transforms { method_events: true, rmi: request.is_remote, ..Transforms::NONE };
        let outer = Request { transforms, regions: &[], own_calls: None, ..*request };
        let (calls, appender) = (&mut self.calls, &mut self.appender);
        self.method.rewrite(class, method, &wrapper, &outer, calls, appender, &mut self.methods)?;

        let flags = ACC_PRIVATE | ACC_SYNTHETIC | method.access_flags & (ACC_STATIC | ACC_STRICT);
        let only_attribute = 1;
        for item in [flags, name_index, *descriptor_index, only_attribute] {
            self.bodies.extend_from_slice(&item.to_be_bytes());
        }
        let transforms = Transforms { method_events: false, ..request.transforms };
        let inner = Request { transforms, is_remote: false, ..*request };
        let (length, mark) = (self.bodies.len(), appender.mark());
        let result = self.method.rewrite(class, method, attribute, &inner, calls, appender, &mut self.bodies);
        self.bodies_count = count;
        match result {
            Ok(_) => Ok(true),
            Err(reason) if has_no_room(reason) => {
                self.bodies.truncate(length);
                appender.roll_back(mark);
                self.bodies.extend_from_slice(&class.bytes[attribute.offset..attribute.end()]);
                Ok(false)
            }
            Err(reason) => Err(reason),
        }
    }

    /// `has_others`: the other transforms are in the code.
    fn report_wrapped(&mut self, large: &Large<'_>, has_others: bool, reason: SkipReason) {
        let (index, regions) = (large.method.index, large.regions);
        if has_others {
            self.reports.push(MethodReport { index, event: MethodEvent::Rewritten(Note::Wrapped) });
            self.method.report(index, &mut self.reports);
            self.own_placed.append(&mut self.method.own_placed);
            let faults = std::mem::take(&mut self.method.region_faults);
            let fault = |position: usize| faults.get(position).cloned().flatten();
            self.report_regions(regions, |position| fault(position).map_or(Ok(index), Err));
        } else {
            self.reports.push(MethodReport { index, event: MethodEvent::Rewritten(Note::WrappedBare) });
            self.report_regions(regions, |_| Err(RegionFault::MethodLeft(reason.as_str())));
        }
    }
}

/// Whether the method would be rewritten if the limits of the format were wider.
fn has_no_room(reason: SkipReason) -> bool {
    matches!(
        reason,
        SkipReason::MethodTooLarge
            | SkipReason::JumpOverflow
            | SkipReason::ExceptionTableFull
            | SkipReason::MaxStack
    )
}

/// What is the same for all large methods of a class; the pool is looked through once.
#[derive(Debug)]
pub(super) struct Names {
    /// Behind the names of the methods with the code: no name in the class ends so.
    suffix: Vec<u8>,
    /// Some code of the class asks who called it, or is annotated as such code of the JDK is.
    asks_for_its_caller: bool,
}

impl Names {
    fn of(pool: &ConstantPool<'_>) -> Self {
        let mut taken = BTreeSet::new();
        let mut asks_for_its_caller = false;
        for text in pool.indices().map(|index| pool.utf8_or_empty(index)) {
            asks_for_its_caller |= CALLER_SENSITIVE.contains(&text);
            taken.extend(number_behind_suffix(text));
        }
        let mut suffix = SUFFIX.to_vec();
        match (0..).find(|number: &u32| !taken.contains(number)) {
            None | Some(0) => {}
            Some(number) => suffix.extend_from_slice(number.to_string().as_bytes()),
        }
        Self { suffix, asks_for_its_caller }
    }
}

/// The number at the end of a text that ends with [`SUFFIX`] and a number; 0 if there is none.
fn number_behind_suffix(text: &[u8]) -> Option<u32> {
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (front, digits) = text.split_at(text.len() - digits);
    match (front.ends_with(SUFFIX), digits) {
        (false, _) => None,
        (true, []) => Some(0),
        (true, digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
    }
}

/// The `info` of a Code attribute that does nothing but to call another method of the class with the method's own arguments: the one that
/// `reference` names. `line`: the name index of the LineNumberTable, and the line of all of it; none: without lines.
pub(super) fn wrapper_code(
    method: &MethodRef<'_>,
    line: Option<(u16, u16)>,
    reference: u16,
) -> Result<Vec<u8>, SkipReason> {
    let (parameters, result) = method_slots(method.descriptor).ok_or(SkipReason::BadCode)?;
    let is_static = method.access_flags & ACC_STATIC != 0;
    let slots = parameters.checked_add(u16::from(!is_static)).ok_or(SkipReason::BadCode)?;
    let mut bytes = Vec::new();
    let mut index = 0u16;
    if !is_static {
        load(REFERENCE, &mut index, 1, &mut bytes)?;
    }
    let mut rest = &method.descriptor[1..];
    while rest.first().is_some_and(|&first| first != b')') {
        let (width, tail) = field_slots(rest).ok_or(SkipReason::BadCode)?;
        load(kind(rest), &mut index, width, &mut bytes)?;
        rest = tail;
    }
    // Of a private method of the class itself: allowed in every version, also by a nestmate's (JVMS 6.5 invokespecial).
    bytes.push(if is_static { opcode::INVOKESTATIC } else { opcode::INVOKESPECIAL });
    bytes.extend_from_slice(&reference.to_be_bytes());
    bytes.push(match rest {
        b")V" => opcode::RETURN,
        _ => opcode::IRETURN + kind(&rest[1..]),
    });

    let mut info = Vec::new();
    for item in [slots.max(result), slots] {
        info.extend_from_slice(&item.to_be_bytes());
    }
    info.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    info.extend_from_slice(&bytes);
    let no_exception_table = [0, 0];
    info.extend_from_slice(&no_exception_table);
    info.extend_from_slice(&u16::from(line.is_some()).to_be_bytes());
    if let Some((name_index, line)) = line {
        // LineNumberTable: 6 bytes, one entry, from pc 0 on.
        for item in [name_index, 0, 6, 1, 0, line] {
            info.extend_from_slice(&item.to_be_bytes());
        }
    }
    Ok(info)
}

/// The name index of the LineNumberTable, and the line of the code's first entry.
fn first_line(code: &CodeAttribute<'_>, pool: &ConstantPool<'_>) -> Option<(u16, u16)> {
    let table = find_attribute(code.attributes.clone(), pool, b"LineNumberTable").ok()??;
    let rows = table.info.get(2..)?.chunks_exact(4);
    let first = rows.min_by_key(|row| u16::from_be_bytes([row[0], row[1]]))?;
    Some((table.name_index, u16::from_be_bytes([first[2], first[3]])))
}

/// What `xload` and `xreturn` of a type are in the order of their opcodes: `int`, `long`, `float`, `double`, reference.
const REFERENCE: u8 = 4;

fn kind(descriptor: &[u8]) -> u8 {
    match descriptor.first() {
        Some(b'J') => 1,
        Some(b'F') => 2,
        Some(b'D') => 3,
        Some(b'L' | b'[') => REFERENCE,
        _ => 0,
    }
}

/// Loads the parameter at `index` with the shortest instruction, and goes on to the next.
fn load(kind: u8, index: &mut u16, width: u16, bytes: &mut Vec<u8>) -> Result<(), SkipReason> {
    // A method has at most 255 slots of parameters (JVMS 4.3.3).
    let at = u8::try_from(*index).map_err(|_| SkipReason::BadCode)?;
    match at {
        0..=3 => bytes.push(opcode::ILOAD_0 + kind * 4 + at),
        _ => bytes.extend_from_slice(&[opcode::ILOAD + kind, at]),
    }
    *index += width;
    Ok(())
}
