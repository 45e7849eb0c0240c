//! Follows uninitialised objects through a method: which constructor call initialises `this`, which one
//! a `new`, and what lies beneath it on the operand stack.
//!
//! Values are tracked by origin only, so no class hierarchy is needed (JVMS 4.10.2.4).
//!
//! Steps:
//! 1. Find the state at the places where control flow joins: from the StackMapTable if there is one,
//!    else by running every path until nothing changes (class files without frames).
//! 2. Walk the code once, in order, from the known states; note every constructor call, and where `this`
//!    is initialised. Code that no state reaches is dead and left out.

use super::Reason;
use super::code_scan::CodeScan;
use crate::class_file::exception_table::ExceptionTable;
use crate::class_file::instruction::{self, Instruction, Instructions, targets, u2};
use crate::class_file::opcode::{self, Operands};
use crate::class_file::stack_map_table::{FrameKind, Frames, types, verification_type};
use crate::class_file::{ConstantPool, descriptor};
use std::collections::BTreeMap;

/// Where a value on the stack or in a local variable came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Anything that is initialised, or half of a long or double.
    Other,
    /// `this` of a constructor in front of `super()`.
    This,
    /// The object that the `new` at this pc made.
    New(u32),
}

/// `invokespecial <init>`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConstructorCall {
    pub(crate) pc: u32,
    pub(crate) receiver: Origin,
    /// The slot beneath the receiver holds the same object.
    pub(crate) copy_beneath: bool,
    /// From the `new` to this call the code runs straight on and touches nothing beneath the new object, so
    /// that one more copy of it may lie there.
    pub(crate) straight: bool,
}

/// What the walk found.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub(crate) constructor_calls: Vec<ConstructorCall>,
    /// Half-open, ascending ranges of pcs that are reached with `this` initialised.
    pub(crate) initialized: Vec<(u32, u32)>,
}

/// A method as the walk needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Method<'a> {
    pub(crate) pool: &'a ConstantPool<'a>,
    pub(crate) code: &'a [u8],
    pub(crate) scan: &'a CodeScan,
    pub(crate) exception_table: ExceptionTable<'a>,
    /// The `info` of the StackMapTable.
    pub(crate) frames: Option<&'a [u8]>,
    /// A constructor of a class other than `java/lang/Object`.
    pub(crate) is_constructor: bool,
    pub(crate) is_static: bool,
    pub(crate) descriptor: &'a [u8],
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    stack: Vec<Origin>,
    /// Only locals that hold an uninitialised object.
    locals: Vec<(u16, Origin)>,
    this_uninitialized: bool,
    /// The lowest stack slot that the current instruction touched.
    lowest: usize,
}

/// A `new` whose object waits for its constructor call, in straight code so far.
struct OpenSite {
    pc: u32,
    /// The stack slot of the object.
    slot: usize,
}

impl Flow {
    /// Walks `method`.
    ///
    /// # Errors
    /// [`Reason::UnknownReceiver`] or [`Reason::BadStackMap`] if the code contradicts itself.
    pub(crate) fn of(method: &Method<'_>) -> Result<Self, Reason> {
        let joins = match method.frames {
            Some(info) => states_from_frames(method, info)?,
            None => states_by_inference(method)?,
        };
        let mut flow = Self::default();
        let mut open: Vec<OpenSite> = Vec::new();
        let mut state = Some(method.initial_state());
        for instruction in Instructions::new(method.code) {
            let instruction = instruction.map_err(|_| Reason::BadCode)?;
            if let Some(known) = joins.get(&instruction.pc) {
                state = Some(known.clone());
                open.clear();
            }
            let Some(current) = &mut state else { continue };
            let pc = instruction.pc as u32;
            if !current.this_uninitialized {
                let end = pc + instruction.bytes.len() as u32;
                match flow.initialized.last_mut() {
                    Some(last) if last.1 == pc => last.1 = end,
                    _ => flow.initialized.push((pc, end)),
                }
            }
            current.lowest = usize::MAX;
            let call = current.step(method, &instruction)?;
            if let Some(mut call) = call {
                call.straight = open.iter().any(|site| call.receiver == Origin::New(site.pc));
                flow.constructor_calls.push(call);
            }
            open.retain(|site| current.lowest > site.slot);
            if instruction.opcode == opcode::NEW {
                open.push(OpenSite { pc, slot: current.stack.len() - 1 });
            }
            if leaves_the_line(&instruction) {
                open.clear();
            }
            if end_of_flow(&instruction) {
                state = None;
            }
        }
        Ok(flow)
    }
}

/// Whether control may go on elsewhere than at the next instruction (exceptions aside: they empty the stack).
fn leaves_the_line(instruction: &Instruction<'_>) -> bool {
    end_of_flow(instruction)
        || matches!(opcode::OPERANDS[usize::from(instruction.opcode)], Operands::Branch2 | Operands::Branch4)
}

fn end_of_flow(instruction: &Instruction<'_>) -> bool {
    opcode::is_end_of_flow(instruction.opcode)
        || (instruction.opcode == opcode::WIDE && instruction.bytes[1] == opcode::RET)
}

/// Most locals that the frames of one method may spell out, and most steps of the inference: many times what
/// the largest real methods need, and little enough that a hostile class costs neither memory nor time.
const MOST_LOCALS: usize = 50_000_000;
const MOST_UNINITIALIZED: usize = 1_000_000;
const MOST_STEPS: usize = 100_000_000;

fn states_from_frames(method: &Method<'_>, info: &[u8]) -> Result<BTreeMap<usize, State>, Reason> {
    let bad = |_| Reason::BadStackMap;
    let mut states = BTreeMap::new();
    // Locals as frames count them: one item each, with its width in slots.
    let mut locals = method.initial_items()?;
    let (mut spelled_out, mut kept_locals) = (0, 0);
    let mut frames = Frames::new(info).map_err(bad)?;
    while let Some(frame) = frames.next().map_err(bad)? {
        match frame.kind {
            FrameKind::Same | FrameKind::SameLocals1StackItem => {}
            FrameKind::Chop(count) => {
                let kept = locals.len().checked_sub(usize::from(count)).ok_or(Reason::BadStackMap)?;
                locals.truncate(kept);
            }
            FrameKind::Append(_) => locals.extend(types(frame.locals).map(item)),
            FrameKind::Full => locals = types(frame.locals).map(item).collect(),
        }
        let mut slot = 0u16;
        let mut uninitialized = Vec::new();
        for (origin, width) in &locals {
            if *origin != Origin::Other {
                uninitialized.push((slot, *origin));
            }
            slot = slot.saturating_add(*width);
        }
        spelled_out += locals.len();
        kept_locals += uninitialized.len();
        if spelled_out > MOST_LOCALS || kept_locals > MOST_UNINITIALIZED {
            return Err(Reason::BadStackMap);
        }
        let mut stack = Vec::new();
        for (origin, width) in types(frame.stack).map(item) {
            stack.extend(std::iter::repeat_n(origin, usize::from(width)));
        }
        let this_uninitialized =
            uninitialized.iter().any(|local| local.1 == Origin::This) || stack.contains(&Origin::This);
        let state = State { stack, locals: uninitialized, this_uninitialized, lowest: usize::MAX };
        states.insert(frame.pc, state);
    }
    Ok(states)
}

fn item(info: &[u8]) -> (Origin, u16) {
    match *info {
        [verification_type::UNINITIALIZED_THIS] => (Origin::This, 1),
        [verification_type::UNINITIALIZED, a, b] => (Origin::New(u32::from(u16::from_be_bytes([a, b]))), 1),
        [verification_type::LONG | verification_type::DOUBLE] => (Origin::Other, 2),
        _ => (Origin::Other, 1),
    }
}

/// Runs every path from one join to the next until no state changes any more.
fn states_by_inference(method: &Method<'_>) -> Result<BTreeMap<usize, State>, Reason> {
    let mut joins = joins(method)?;
    let mut steps = 0;
    let mut pending = vec![(0, method.initial_state())];
    if let Some(entry) = joins.get_mut(&0) {
        *entry = Some(method.initial_state());
    }
    while let Some((start, mut state)) = pending.pop() {
        let mut merged_into_handlers: Option<Vec<(u16, Origin)>> = None;
        let mut pc = start;
        loop {
            if let Some(known) = joins.get_mut(&pc) {
                // What leads to a start has been merged already.
                if pc != start && !merge(known, &state)? {
                    break;
                }
                if let Some(merged) = known {
                    state = merged.clone();
                }
            }
            let length = instruction::length_at(method.code, pc).map_err(|_| Reason::BadCode)?;
            let instruction =
                Instruction { pc, opcode: method.code[pc], bytes: &method.code[pc..pc + length] };
            let mut reached: Vec<(usize, State)> = Vec::new();
            steps += 1 + method.exception_table.len() + state.stack.len();
            // Handlers see the locals alone: as long as they stay the same, once per row is enough.
            let changed = merged_into_handlers.as_ref() != Some(&state.locals);
            for row in method.exception_table.iter() {
                let range = usize::from(row.start_pc)..usize::from(row.end_pc);
                if range.contains(&pc) && (range.start == pc || changed) {
                    let thrown = State { stack: vec![Origin::Other], ..state.clone() };
                    reached.push((usize::from(row.handler_pc), thrown));
                }
            }
            merged_into_handlers = Some(state.locals.clone());
            let before = state.clone();
            state.step(method, &instruction)?;
            for target in targets(method.code, pc) {
                reached.push((target as usize, state.clone()));
            }
            if matches!(instruction.opcode, opcode::JSR | opcode::JSR_W) {
                reached.push((pc + length, before));
            }
            for (target, state) in reached {
                steps += 50 + state.stack.len() + state.locals.len() * state.locals.len();
                if steps > MOST_STEPS {
                    return Err(Reason::UnknownReceiver);
                }
                if let Some(known) = joins.get_mut(&target)
                    && merge(known, &state)?
                    && let Some(merged) = known.clone()
                {
                    pending.push((target, merged));
                }
            }
            pc += length;
            let jumps = matches!(instruction.opcode, opcode::JSR | opcode::JSR_W);
            if jumps || end_of_flow(&instruction) || pc >= method.code.len() {
                break;
            }
        }
    }
    Ok(joins.into_iter().filter_map(|(pc, state)| state.map(|state| (pc, state))).collect())
}

/// Where paths can meet: targets of jumps, handlers, and behind each jsr. No state is known there yet.
fn joins(method: &Method<'_>) -> Result<BTreeMap<usize, Option<State>>, Reason> {
    let mut joins = BTreeMap::new();
    for &branch in method.scan.branches.iter().chain(&method.scan.switches) {
        for target in targets(method.code, branch as usize) {
            let target = usize::try_from(target).ok().filter(|pc| method.scan.is_instruction(*pc));
            joins.insert(target.ok_or(Reason::BadCode)?, None);
        }
    }
    for row in method.exception_table.iter() {
        joins.insert(usize::from(row.handler_pc), None);
    }
    for &branch in &method.scan.branches {
        // A subroutine returns behind its jsr.
        let pc = branch as usize;
        let length = usize::from(opcode::INFO[usize::from(method.code[pc])].length);
        if matches!(method.code[pc], opcode::JSR | opcode::JSR_W) && method.scan.is_instruction(pc + length) {
            joins.insert(pc + length, None);
        }
    }
    Ok(joins)
}

/// Joins `state` into `known`; whether that changed it.
fn merge(known: &mut Option<State>, state: &State) -> Result<bool, Reason> {
    let Some(known) = known else {
        *known = Some(state.clone());
        return Ok(true);
    };
    if known.stack.len() != state.stack.len() {
        return Err(Reason::UnknownReceiver);
    }
    let before = known.clone();
    for (mine, other) in known.stack.iter_mut().zip(&state.stack) {
        if mine != other {
            *mine = Origin::Other;
        }
    }
    known.locals.retain(|local| state.locals.contains(local));
    known.this_uninitialized |= state.this_uninitialized;
    Ok(*known != before)
}

impl Method<'_> {
    /// The locals at entry: `this` and the parameters, with their widths in slots.
    fn initial_items(&self) -> Result<Vec<(Origin, u16)>, Reason> {
        let mut items = Vec::new();
        if !self.is_static {
            items.push((if self.is_constructor { Origin::This } else { Origin::Other }, 1));
        }
        let mut rest = self.descriptor.strip_prefix(b"(").ok_or(Reason::BadCode)?;
        while rest.first().is_some_and(|&first| first != b')') {
            let (width, tail) = descriptor::field_slots(rest).ok_or(Reason::BadCode)?;
            items.push((Origin::Other, width));
            rest = tail;
        }
        Ok(items)
    }

    fn initial_state(&self) -> State {
        State {
            stack: Vec::new(),
            locals: if self.is_constructor { vec![(0, Origin::This)] } else { Vec::new() },
            this_uninitialized: self.is_constructor,
            lowest: usize::MAX,
        }
    }
}

impl State {
    fn pop(&mut self) -> Result<Origin, Reason> {
        let value = self.stack.pop().ok_or(Reason::UnknownReceiver)?;
        self.lowest = self.lowest.min(self.stack.len());
        Ok(value)
    }

    fn pop_slots(&mut self, slots: u16) -> Result<(), Reason> {
        let left = self.stack.len().checked_sub(usize::from(slots)).ok_or(Reason::UnknownReceiver)?;
        self.stack.truncate(left);
        self.lowest = self.lowest.min(left);
        Ok(())
    }

    fn push_slots(&mut self, slots: u16) {
        self.stack.extend(std::iter::repeat_n(Origin::Other, usize::from(slots)));
    }

    fn local(&self, index: u16) -> Origin {
        self.locals.iter().find(|local| local.0 == index).map_or(Origin::Other, |local| local.1)
    }

    fn set_local(&mut self, index: u16, origin: Origin) {
        self.locals.retain(|local| local.0 != index);
        if origin != Origin::Other {
            self.locals.push((index, origin));
            self.locals.sort_unstable_by_key(|local| local.0);
        }
    }

    /// Inserts the top `count` slots again, `depth` slots beneath the top.
    fn duplicate(&mut self, count: usize, depth: usize) -> Result<(), Reason> {
        let length = self.stack.len();
        let from = length.checked_sub(count).ok_or(Reason::UnknownReceiver)?;
        let at = length.checked_sub(depth).ok_or(Reason::UnknownReceiver)?;
        self.lowest = self.lowest.min(at).min(from);
        let copied: Vec<Origin> = self.stack[from..].to_vec();
        self.stack.splice(at..at, copied);
        Ok(())
    }

    fn access_field(&mut self, method: &Method<'_>, op: u8, bytes: &[u8]) -> Result<(), Reason> {
        let (_, field) = self.referenced(method, bytes)?;
        let (width, _) = descriptor::field_slots(field).ok_or(Reason::UnknownReceiver)?;
        match op {
            opcode::GETSTATIC => self.push_slots(width),
            opcode::PUTSTATIC => self.pop_slots(width)?,
            opcode::GETFIELD => {
                self.pop_slots(1)?;
                self.push_slots(width);
            }
            _ => self.pop_slots(width + 1)?,
        }
        Ok(())
    }

    /// Executes one instruction.
    fn step(
        &mut self,
        method: &Method<'_>,
        instruction: &Instruction<'_>,
    ) -> Result<Option<ConstructorCall>, Reason> {
        let (op, bytes) = (instruction.opcode, instruction.bytes);
        let (op, local) = match opcode::OPERANDS[usize::from(op)] {
            Operands::Wide => (bytes[1], u2(bytes, 2)),
            Operands::Local | Operands::Increment => (op, u16::from(bytes[1])),
            _ => (op, 0),
        };
        match op {
            opcode::ALOAD => self.stack.push(self.local(local)),
            opcode::ALOAD_0..=opcode::ALOAD_3 => self.stack.push(self.local(u16::from(op - opcode::ALOAD_0))),
            opcode::ASTORE => {
                let value = self.pop()?;
                self.set_local(local, value);
            }
            opcode::ASTORE_0..=opcode::ASTORE_3 => {
                let value = self.pop()?;
                self.set_local(u16::from(op - opcode::ASTORE_0), value);
            }
            opcode::ISTORE..=opcode::DSTORE | opcode::ISTORE_0..=opcode::DSTORE_3 => {
                let slots = u16::from(opcode::POPS[usize::from(op)]);
                self.pop_slots(slots)?;
                let index = match op {
                    opcode::ISTORE..=opcode::DSTORE => local,
                    _ => u16::from((op - opcode::ISTORE_0) % 4),
                };
                for slot in 0..slots {
                    self.set_local(index.saturating_add(slot), Origin::Other);
                }
            }
            opcode::NEW => self.stack.push(Origin::New(instruction.pc as u32)),
            opcode::DUP => self.duplicate(1, 1)?,
            opcode::DUP_X1 => self.duplicate(1, 2)?,
            opcode::DUP_X2 => self.duplicate(1, 3)?,
            opcode::DUP2 => self.duplicate(2, 2)?,
            opcode::DUP2_X1 => self.duplicate(2, 3)?,
            opcode::DUP2_X2 => self.duplicate(2, 4)?,
            opcode::SWAP => {
                let (top, beneath) = (self.pop()?, self.pop()?);
                self.stack.extend([top, beneath]);
            }
            opcode::GETSTATIC | opcode::PUTSTATIC | opcode::GETFIELD | opcode::PUTFIELD => {
                self.access_field(method, op, bytes)?;
            }
            opcode::INVOKEVIRTUAL..=opcode::INVOKEDYNAMIC => {
                let (name, called) = self.referenced(method, bytes)?;
                let (parameters, result) = descriptor::method_slots(called).ok_or(Reason::UnknownReceiver)?;
                self.pop_slots(parameters)?;
                let mut call = None;
                if !matches!(op, opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC) {
                    let receiver = self.pop()?;
                    if op == opcode::INVOKESPECIAL && name == b"<init>" {
                        call = Some(self.initialize(instruction.pc as u32, receiver));
                    }
                }
                self.push_slots(result);
                return Ok(call);
            }
            opcode::MULTIANEWARRAY => {
                self.pop_slots(u16::from(bytes[3]))?;
                self.push_slots(1);
            }
            _ => {
                let (pops, pushes) = (opcode::POPS[usize::from(op)], opcode::PUSHES[usize::from(op)]);
                debug_assert!(pops != opcode::OPEN && pushes != opcode::OPEN);
                self.pop_slots(u16::from(pops))?;
                self.push_slots(u16::from(pushes));
            }
        }
        Ok(None)
    }

    fn referenced<'a>(&self, method: &Method<'a>, bytes: &[u8]) -> Result<(&'a [u8], &'a [u8]), Reason> {
        method.pool.referenced_name_and_type(u2(bytes, 1)).map_err(|_| Reason::BadCode)
    }

    /// Every copy of `receiver` is initialised now.
    fn initialize(&mut self, pc: u32, receiver: Origin) -> ConstructorCall {
        let copy_beneath = receiver != Origin::Other && self.stack.last() == Some(&receiver);
        if receiver != Origin::Other {
            for slot in &mut self.stack {
                if *slot == receiver {
                    *slot = Origin::Other;
                }
            }
            self.locals.retain(|local| local.1 != receiver);
        }
        if receiver == Origin::This {
            self.this_uninitialized = false;
        }
        ConstructorCall { pc, receiver, copy_beneath, straight: false }
    }
}

#[cfg(test)]
mod tests;
