//! Which values the program has at which place.

use super::absent::Absent;
use super::call::{BadCall, Call, Passed, Value};
use crate::class_file::descriptor::field_slots;
use crate::class_file::instruction::{Instructions, length_at, u2};
use crate::class_file::opcode::{self, OPERANDS, Operands};
use crate::class_file::stack_map_table::{FrameKind, Frames, types, verification_type};
use crate::class_file::{ConstantPool, mutf8};
use crate::code::uninitialized::{Flow, Method, Origin};
use std::collections::BTreeSet;

/// What an instruction takes from the stack and leaves there, by field descriptors.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The object whose method is called or whose field is accessed. None of a constructor: it may not be made yet.
    pub receiver: Option<Vec<u8>>,
    /// What else it takes, from the bottom of the stack to its top.
    pub operands: Vec<Vec<u8>>,
    /// What it leaves; of a return, what is returned.
    pub result: Option<Vec<u8>>,
}

impl Operation {
    /// Of calls, accesses of fields, returns and creations of arrays; none of other instructions.
    pub fn at(pool: &ConstantPool<'_>, code: &[u8], pc: usize, returned: &[u8]) -> Option<Self> {
        let index = |at: usize| code.get(at + 1).map(|_| u2(code, at));
        let op = *code.get(pc)?;
        let is_static = matches!(op, opcode::INVOKESTATIC | opcode::GETSTATIC | opcode::PUTSTATIC);
        match op {
            opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE => {
                let method = pool.member_ref(index(pc + 1)?).ok()?;
                let (operands, result) = parameters(method.descriptor)?;
                let has_receiver = !is_static && method.name != b"<init>";
                Some(Self {
                    receiver: has_receiver.then(|| descriptor_of(method.class)),
                    operands: operands.map(<[u8]>::to_vec).collect(),
                    result: (result != b"V").then(|| result.to_vec()),
                })
            }
            opcode::GETSTATIC..=opcode::PUTFIELD => {
                let field = pool.member_ref(index(pc + 1)?).ok()?;
                let receiver = (!is_static).then(|| descriptor_of(field.class));
                let value = field.descriptor.to_vec();
                Some(match op {
                    opcode::GETSTATIC | opcode::GETFIELD => {
                        Self { receiver, operands: Vec::new(), result: Some(value) }
                    }
                    _ => Self { receiver, operands: vec![value], result: None },
                })
            }
            opcode::NEWARRAY => {
                let element = *b"ZCFDBSIJ".get(usize::from(code.get(pc + 1)?.checked_sub(4)?))?;
                Some(Self {
                    receiver: None,
                    operands: vec![b"I".to_vec()],
                    result: Some(vec![b'[', element]),
                })
            }
            opcode::ANEWARRAY => {
                let element = descriptor_of(pool.class_name(index(pc + 1)?).ok()?);
                let result = Some([b"[", &element[..]].concat());
                Some(Self { receiver: None, operands: vec![b"I".to_vec()], result })
            }
            opcode::MULTIANEWARRAY => {
                let lengths = usize::from(*code.get(pc + 3)?);
                let result = Some(pool.class_name(index(pc + 1)?).ok()?.to_vec());
                Some(Self { receiver: None, operands: vec![b"I".to_vec(); lengths], result })
            }
            opcode::RETURN => Some(Self { receiver: None, operands: Vec::new(), result: None }),
            opcode::IRETURN..=opcode::ARETURN => {
                Some(Self { receiver: None, operands: Vec::new(), result: Some(returned.to_vec()) })
            }
            _ => None,
        }
    }
}

/// The descriptor of a class by its internal name; arrays are named by theirs.
pub(super) fn descriptor_of(class: &[u8]) -> Vec<u8> {
    if class.starts_with(b"[") { class.to_vec() } else { [b"L", class, b";"].concat() }
}

/// The descriptors of the parameters, and of the result.
pub(super) fn parameters(descriptor: &[u8]) -> Option<(impl Iterator<Item = &[u8]>, &[u8])> {
    crate::class_file::descriptor::method_slots(descriptor)?;
    let mut rest = descriptor.strip_prefix(b"(")?;
    let mut all = Vec::new();
    while *rest.first()? != b')' {
        let (_, tail) = field_slots(rest)?;
        all.push(&rest[..rest.len() - tail.len()]);
        rest = tail;
    }
    Some((all.into_iter(), &rest[1..]))
}

/// Slots of a value of this type.
pub(super) fn width(descriptor: &[u8]) -> u16 {
    field_slots(descriptor).map_or(1, |(slots, _)| slots)
}

/// What `xload` and `xstore` of a type are in the order of their opcodes: `int`, `long`, `float`, `double`, reference.
pub(super) fn kind(descriptor: &[u8]) -> u8 {
    match descriptor.first() {
        Some(b'J') => 1,
        Some(b'F') => 2,
        Some(b'D') => 3,
        Some(b'L' | b'[') => 4,
        _ => 0,
    }
}

/// `this` or an argument.
#[derive(Debug)]
pub(super) struct Local {
    pub(super) slot: u16,
    pub(super) descriptor: Vec<u8>,
    /// It has its first value wherever the method is, in constructors from where `super()` has returned.
    kept: bool,
}

/// Where a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    Entry,
    Before(u32),
    After(u32),
    Throw,
}

/// What is known of the values of one method; the costly parts once somebody has asked.
#[derive(Debug)]
pub(super) struct Places<'a> {
    method: Method<'a>,
    class: &'a [u8],
    flow: Option<Flow>,
    locals: Option<Vec<Local>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(method: Method<'a>, class: &'a [u8], flow: Option<Flow>) -> Self {
        Self { method, class, flow, locals: None }
    }

    /// What was computed of the flow of uninitialised objects.
    pub(super) fn into_flow(self) -> Option<Flow> {
        self.flow
    }

    pub(super) fn operation(&self, pc: u32) -> Option<Operation> {
        let returned = parameters(self.method.descriptor).map_or(&b"V"[..], |(_, result)| result);
        Operation::at(self.method.pool, self.method.code, pc as usize, returned)
    }

    /// Whether everything that `call` passes is there.
    pub(super) fn check(&mut self, at: At, call: &Call) -> Result<(), BadCall> {
        let pc = match at {
            At::Before(pc) | At::After(pc) => Some(pc),
            At::Entry | At::Throw => None,
        };
        if let Some(pc) = pc.filter(|pc| !self.method.scan.is_instruction(*pc as usize)) {
            return Err(BadCall::Pc(pc));
        }
        if let At::After(pc) = at
            && !self.method.scan.falls_into(self.behind(pc) as usize)
        {
            return Err(Absent::NoValue.into());
        }
        if at == At::Throw && self.thrown_from()?.is_empty() {
            return Err(Absent::CannotThrow.into());
        }
        for argument in &call.arguments {
            let Passed::Value(value) = argument.passed else { continue };
            let passed = self.type_of(at, value)?;
            if kind(&passed) != kind(&argument.parameter) {
                return Err(BadCall::Kind {
                    passed: mutf8::escape(&passed),
                    parameter: mutf8::escape(&argument.parameter),
                });
            }
        }
        Ok(())
    }

    /// The descriptor of the type of a value.
    pub(super) fn type_of(&mut self, at: At, value: Value) -> Result<Vec<u8>, Absent> {
        match value {
            Value::This => {
                if self.method.is_static {
                    return Err(Absent::Static);
                }
                if self.method.is_constructor {
                    let initialized = match at {
                        At::Entry => false,
                        At::Throw => true,
                        At::Before(pc) => self.is_initialized(pc)?,
                        At::After(pc) => self.is_initialized(self.behind(pc))?,
                    };
                    if !initialized {
                        return Err(Absent::BeforeSuper);
                    }
                }
                self.local(at, 0)
            }
            Value::Argument(number) => {
                self.local(at, usize::from(number) + usize::from(!self.method.is_static))
            }
            Value::Exception if at == At::Throw => Ok(b"Ljava/lang/Throwable;".to_vec()),
            Value::Exception => Err(Absent::NoValue),
            Value::Result => match at {
                At::Before(pc) if opcode::is_return(self.opcode(pc)) => {
                    self.operation(pc).ok_or(Absent::NoValue)?.result.ok_or(Absent::Void)
                }
                At::After(pc) => match self.operation(pc).ok_or(Absent::NoValue)?.result {
                    Some(result) => Ok(result),
                    None => self.new_object(pc),
                },
                _ => Err(Absent::NoValue),
            },
            Value::Receiver | Value::Operand(_) => {
                let (At::Before(pc) | At::After(pc)) = at else { return Err(Absent::NoValue) };
                let operation = self.operation(pc).ok_or(Absent::NoValue)?;
                let Value::Operand(number) = value else {
                    // A constructor's is not made yet.
                    let is_special = self.opcode(pc) == opcode::INVOKESPECIAL;
                    let none = if is_special { Absent::NoValue } else { Absent::Static };
                    let receiver = operation.receiver.ok_or(none)?;
                    // Only a field of `this` can be set before there is an object.
                    if self.opcode(pc) == opcode::PUTFIELD
                        && self.method.is_constructor
                        && !self.is_initialized(pc)?
                    {
                        return Err(Absent::BeforeSuper);
                    }
                    return Ok(receiver);
                };
                operation.operands.get(usize::from(number)).cloned().ok_or(Absent::NoArgument)
            }
        }
    }

    /// The type of the object that the constructor call at `pc` has made, if it is on the stack behind it.
    fn new_object(&mut self, pc: u32) -> Result<Vec<u8>, Absent> {
        if self.opcode(pc) != opcode::INVOKESPECIAL {
            return Err(Absent::Void);
        }
        let index = u2(self.method.code, pc as usize + 1);
        let called = self.method.pool.member_ref(index).map_err(|_| Absent::NoValue)?;
        if called.name != b"<init>" {
            return Err(Absent::Void);
        }
        let calls = &self.flow()?.constructor_calls;
        let call = calls.iter().find(|call| call.pc == pc).ok_or(Absent::DeadCode)?;
        match call.receiver {
            Origin::New(_) if call.copy_beneath => Ok(descriptor_of(called.class)),
            Origin::New(_) => Err(Absent::ThrownAway),
            _ => Err(Absent::NoValue),
        }
    }

    /// Whether the `invokespecial` at `pc` makes an object of a `new`, rather than to be `super()` or `this()`.
    pub(super) fn makes_new(&mut self, pc: u32) -> bool {
        let Ok(flow) = self.flow() else { return false };
        flow.constructor_calls.iter().any(|call| call.pc == pc && matches!(call.receiver, Origin::New(_)))
    }

    /// From where exceptions leave the method: all but the returns, in constructors behind `super()`.
    pub(super) fn thrown_from(&mut self) -> Result<Vec<(u32, u32)>, Absent> {
        let length = self.method.code.len() as u32;
        let within = match self.method.is_constructor {
            true => self.flow()?.initialized.clone(),
            false => vec![(0, length)],
        };
        let mut ranges = Vec::new();
        for (start, end) in within {
            crate::transform::method_events::cover(&self.method.scan.returns, start, end, &mut ranges);
        }
        Ok(ranges)
    }

    fn opcode(&self, pc: u32) -> u8 {
        self.method.code.get(pc as usize).copied().unwrap_or(opcode::NOP)
    }

    /// The pc behind the instruction at `pc`.
    pub(super) fn behind(&self, pc: u32) -> u32 {
        pc + length_at(self.method.code, pc as usize).unwrap_or(1) as u32
    }

    fn flow(&mut self) -> Result<&Flow, Absent> {
        if self.flow.is_none() {
            self.flow = Some(Flow::of(&self.method).map_err(|_| Absent::DeadCode)?);
        }
        self.flow.as_ref().ok_or(Absent::DeadCode)
    }

    fn is_initialized(&mut self, pc: u32) -> Result<bool, Absent> {
        Ok(self.flow()?.initialized.iter().any(|(start, end)| (*start..*end).contains(&pc)))
    }

    fn local(&mut self, at: At, index: usize) -> Result<Vec<u8>, Absent> {
        let local = self.locals()?.get(index).ok_or(Absent::NoArgument)?;
        if local.kept || at == At::Entry { Ok(local.descriptor.clone()) } else { Err(Absent::Overwritten) }
    }

    /// `this`, if there is one, and the arguments.
    pub(super) fn locals(&mut self) -> Result<&[Local], Absent> {
        if self.locals.is_none() {
            self.locals = Some(self.find_locals()?);
        }
        Ok(self.locals.as_deref().unwrap_or_default())
    }

    fn find_locals(&mut self) -> Result<Vec<Local>, Absent> {
        let mut locals = Vec::new();
        if !self.method.is_static {
            locals.push(Local { slot: 0, descriptor: descriptor_of(self.class), kept: true });
        }
        let (parameters, _) = parameters(self.method.descriptor).ok_or(Absent::DeadCode)?;
        let mut slot = locals.len() as u16;
        for parameter in parameters {
            locals.push(Local { slot, descriptor: parameter.to_vec(), kept: true });
            slot += width(parameter);
        }
        let assigned = assigned(self.method.code);
        for local in &mut locals {
            let slots = local.slot..local.slot + width(&local.descriptor);
            local.kept = assigned.range(slots).next().is_none();
        }
        let initialized = match self.method.is_constructor && self.method.frames.is_some() {
            true => self.flow()?.initialized.clone(),
            false => vec![(0, u32::MAX)],
        };
        if let Some(info) = self.method.frames {
            drop_what_frames_lack(&mut locals, info, self.method.pool, &initialized)
                .ok_or(Absent::Overwritten)?;
        }
        Ok(locals)
    }
}

/// The slots of local variables that some instruction writes.
fn assigned(code: &[u8]) -> BTreeSet<u16> {
    let mut slots = BTreeSet::new();
    for instruction in Instructions::new(code).map_while(Result::ok) {
        let bytes = instruction.bytes;
        let (op, index) = match OPERANDS[usize::from(bytes[0])] {
            Operands::Wide => (bytes[1], u2(bytes, 2)),
            Operands::Local | Operands::Increment => (bytes[0], u16::from(bytes[1])),
            _ => (bytes[0], 0),
        };
        let (index, is_wide) = match op {
            opcode::IINC => (index, false),
            opcode::ISTORE..=opcode::ASTORE => (index, matches!(op, opcode::LSTORE | opcode::DSTORE)),
            opcode::ISTORE_0..=opcode::ASTORE_3 => {
                let number = op - opcode::ISTORE_0;
                (u16::from(number % 4), matches!(number / 4, 1 | 3))
            }
            _ => continue,
        };
        slots.insert(index);
        if is_wide {
            slots.insert(index.saturating_add(1));
        }
    }
    slots
}

/// A local variable as a frame has it.
enum Item<'a> {
    /// As when the method was entered: this one of `this` and the arguments.
    First(usize),
    /// A `verification_type_info`.
    Stated(&'a [u8]),
}

/// A frame may have a variable as something more general than it is, or not at all.
fn drop_what_frames_lack(
    locals: &mut [Local],
    info: &[u8],
    pool: &ConstantPool<'_>,
    initialized: &[(u32, u32)],
) -> Option<()> {
    let widths: Vec<u16> = locals.iter().map(|local| width(&local.descriptor)).collect();
    let mut items: Vec<Item<'_>> = (0..locals.len()).map(Item::First).collect();
    let mut frames = Frames::new(info).ok()?;
    while let Some(frame) = frames.next().ok()? {
        match frame.kind {
            FrameKind::Same | FrameKind::SameLocals1StackItem => {}
            FrameKind::Chop(by) => items.truncate(items.len().checked_sub(usize::from(by))?),
            FrameKind::Append(_) => items.extend(types(frame.locals).map(Item::Stated)),
            FrameKind::Full => items = types(frame.locals).map(Item::Stated).collect(),
        }
        if !initialized.iter().any(|(start, end)| (*start..*end).contains(&(frame.pc as u32))) {
            continue;
        }
        let (mut slot, mut at) = (0, 0);
        for (position, local) in locals.iter_mut().enumerate() {
            while slot < local.slot && at < items.len() {
                slot += match items[at] {
                    Item::First(first) => widths[first],
                    Item::Stated(item) => item_width(item),
                };
                at += 1;
            }
            let same = match items.get(at) {
                Some(Item::First(first)) => *first == position,
                Some(Item::Stated(item)) => is_same(item, local, pool),
                None => false,
            };
            local.kept &= slot == local.slot && same;
        }
    }
    Some(())
}

fn item_width(item: &[u8]) -> u16 {
    1 + u16::from(matches!(item[0], verification_type::LONG | verification_type::DOUBLE))
}

/// Whether a `verification_type_info` is the type of a variable and nothing more general.
fn is_same(item: &[u8], local: &Local, pool: &ConstantPool<'_>) -> bool {
    match (item, kind(&local.descriptor)) {
        ([verification_type::OBJECT, a, b], 4) => {
            let name = pool.class_name(u16::from_be_bytes([*a, *b]));
            name.is_ok_and(|name| descriptor_of(name) == local.descriptor)
        }
        ([tag], kind) => [
            verification_type::INTEGER,
            verification_type::LONG,
            verification_type::FLOAT,
            verification_type::DOUBLE,
        ]
        .get(usize::from(kind))
        .is_some_and(|expected| expected == tag),
        _ => false,
    }
}
