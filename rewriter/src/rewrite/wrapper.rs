//! Methods that have no room for their probes: a wrapper with the probes takes the place of the method, and its code
//! moves into a private method that the wrapper calls. It adds a member to the class, so it is done only when it is
//! asked for ([`LargeMethods::Wrap`]).
//!
//! | | wrapper | method with the code |
//! |---|---|---|
//! | name, descriptor | those of the method | the name with `$instrument$body` behind it; the same descriptor |
//! | flags | those of the method, `synchronized` too | `private synthetic`, and `static` and `strictfp` as the method has them |
//! | attributes | all of the method but its code: Signature, Exceptions, annotations, .. | the code alone |
//! | transforms | `method_events`; `rmi` of what is called from elsewhere | all others and the caller's own calls, if there is room for them |
//!
//! Left as they are: constructors and class initialisers (only they may set fields that are `final`, and call
//! `super()`); methods of interfaces in class files before version 52, which can have no private method (JVMS 4.6);
//! everything with `bytecodes`, because the wrapper's own instructions would count, and everything with `lines`;
//! classes that ask who called them (`getCallerClass`), because the answer would be the wrapper.

use super::{ACC_STATIC, MethodRef, Reason};
use crate::class_file::descriptor::{field_slots, method_slots};
use crate::class_file::{CodeAttribute, ConstantPool, find_attribute, opcode};
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

/// What code names that asks who called it, and the annotations of such methods of the JDK.
const CALLER_SENSITIVE: [&[u8]; 3] =
    [b"getCallerClass", b"Ljdk/internal/reflect/CallerSensitive;", b"Lsun/reflect/CallerSensitive;"];
/// Behind the method's name; a number follows if a name of the class ends so already.
const SUFFIX: &[u8] = b"$instrument$body";

/// Whether the method would be rewritten if the limits of the format were wider.
pub(super) fn has_no_room(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::MethodTooLarge | Reason::JumpOverflow | Reason::ExceptionTableFull | Reason::MaxStack
    )
}

/// What is the same for all large methods of a class; the pool is looked through once.
#[derive(Debug)]
pub(super) struct Names {
    /// Behind the names of the methods with the code: no name in the class ends so.
    pub(super) suffix: Vec<u8>,
    /// Some code of the class asks who called it, or is annotated as such code of the JDK is.
    pub(super) asks_for_its_caller: bool,
}

impl Names {
    pub(super) fn of(pool: &ConstantPool<'_>) -> Self {
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

/// The `info` of a Code attribute that does nothing but to call another method of the class with the method's own
/// arguments: the one that `reference` names. `line`: the name index of the LineNumberTable, and the line of all of it;
/// none: without lines.
pub(super) fn wrapper_code(
    method: &MethodRef<'_>,
    line: Option<(u16, u16)>,
    reference: u16,
) -> Result<Vec<u8>, Reason> {
    let (parameters, result) = method_slots(method.descriptor).ok_or(Reason::BadCode)?;
    let is_static = method.access_flags & ACC_STATIC != 0;
    let slots = parameters.checked_add(u16::from(!is_static)).ok_or(Reason::BadCode)?;
    let mut bytes = Vec::new();
    let mut index = 0u16;
    if !is_static {
        load(REFERENCE, &mut index, 1, &mut bytes)?;
    }
    let mut rest = &method.descriptor[1..];
    while rest.first().is_some_and(|&first| first != b')') {
        let (width, tail) = field_slots(rest).ok_or(Reason::BadCode)?;
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
pub(super) fn first_line(code: &CodeAttribute<'_>, pool: &ConstantPool<'_>) -> Option<(u16, u16)> {
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
fn load(kind: u8, index: &mut u16, width: u16, bytes: &mut Vec<u8>) -> Result<(), Reason> {
    // A method has at most 255 slots of parameters (JVMS 4.3.3).
    let at = u8::try_from(*index).map_err(|_| Reason::BadCode)?;
    match at {
        0..=3 => bytes.push(opcode::ILOAD_0 + kind * 4 + at),
        _ => bytes.extend_from_slice(&[opcode::ILOAD + kind, at]),
    }
    *index += width;
    Ok(())
}
