//! Whether a method puts more onto its operand stack than `max_stack` says, whether its code names constants behind the end of the pool, and
//! whether control falls off its end, where injected code would stand.
//!
//! The verifier refuses such a method (JVMS 4.10.1). The depth is followed here as the verifier does it, without types: instruction by
//! instruction, from frame to frame. Where a class file need not have frames, a branch says how deep the stack is at its target. Code that
//! nothing is known to lead to is not judged.

use crate::class_file::descriptor::{field_slots, method_slots};
use crate::class_file::instruction::targets;
use crate::class_file::instruction::{Instruction, Instructions, length_at, u2};
use crate::class_file::opcode::{self, INFO, OPEN, OPERANDS, Operands, POPS, PUSHES};
use crate::class_file::stack_map_table::{Frames, types, verification_type};
use crate::class_file::{CodeAttribute, ConstantPool, version};
use crate::code::Reason;

/// From this version on frames decide; in 50, HotSpot asks the old verifier where frames do not fit.
const FRAMES_DECIDE: u16 = 51;
/// Passes over a code array without frames: one more whenever a branch backward leads to a depth that was not known.
const MOST_PASSES: usize = 8;
/// In [`StackDepth::effects`]: not looked up yet.
const UNKNOWN: u32 = u32::MAX;
/// In [`StackDepth::effects`]: no field and no method.
const NONE: u32 = u32::MAX - 1;

/// How the pass treats an opcode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// The effect depends on the field or method that the operand names.
    Member,
    /// The operand names a constant: one byte, two bytes.
    Constant1,
    Constant2,
    /// Everything else, and what may end the flow.
    Other,
}

/// Whether a code array can be decoded, has no subroutine, and every branch and handler leads to an instruction. Where that is not so, the method
/// is left by itself.
fn is_sound(code: &CodeAttribute<'_>) -> bool {
    let Ok(instructions) = Instructions::new(code.code).collect::<Result<Vec<_>, _>>() else { return false };
    let is_instruction =
        |pc: i64| instructions.binary_search_by_key(&pc, |instruction| instruction.pc as i64).is_ok();
    let is_sound = |instruction: &Instruction<'_>| {
        !matches!(instruction.opcode, opcode::JSR | opcode::JSR_W | opcode::RET)
            && targets(code.code, instruction.pc).all(is_instruction)
    };
    instructions.iter().all(is_sound)
        && code.exception_table.iter().all(|handler| is_instruction(i64::from(handler.handler_pc)))
}

/// What the pass needs of an opcode, side by side.
#[derive(Clone, Copy)]
struct Step {
    kind: Kind,
    /// In bytes; 0 if it varies.
    length: u8,
    pops: u8,
    pushes: u8,
}

const STEPS: [Step; 256] = {
    let mut steps = [Step { kind: Kind::Other, length: 0, pops: 0, pushes: 0 }; 256];
    let mut op = 0;
    while op < 256 {
        let kind =
            match OPERANDS[op] {
                Operands::Constant1 => Kind::Constant1,
                Operands::Constant2 | Operands::InvokeInterface | Operands::InvokeDynamic => {
                    if POPS[op] == OPEN { Kind::Member } else { Kind::Constant2 }
                }
                Operands::None | Operands::Byte | Operands::Short | Operands::Local | Operands::Increment => {
                    if opcode::is_end_of_flow(op as u8) {
                        Kind::Other
                    } else {
                        Kind::Plain
                    }
                }
                _ => Kind::Other,
            };
        steps[op] = Step { kind, length: INFO[op].0, pops: POPS[op], pushes: PUSHES[op] };
        op += 1;
    }
    steps
};

/// A buffer that is used for one method after the other.
#[derive(Debug, Default)]
pub(super) struct StackDepth {
    /// Depths at pcs: ascending by pc, each pc once.
    known: Vec<(u32, u32)>,
    /// Depths at targets of branches, on top of `known`.
    reached: Vec<(u32, u32)>,
    /// The verifier asks for a frame somewhere in the method in work: at a handler, at the target of a branch, or behind the end of a flow.
    needs_frames: bool,
    /// By constant, for members and descriptors: slots of the parameters, and in the upper half of the result or field.
    effects: Vec<u32>,
}

impl StackDepth {
    pub(super) fn begin_class(&mut self, pool: &ConstantPool<'_>) {
        self.effects.clear();
        self.effects.resize(usize::from(pool.count()), UNKNOWN);
    }

    /// Why the JVM refuses the method, if it does for one of these reasons. `frames`: the `info` of its StackMapTable.
    pub(super) fn refusal(
        &mut self,
        code: &CodeAttribute<'_>,
        frames: Option<&[u8]>,
        major: u16,
        pool: &ConstantPool<'_>,
    ) -> Option<Reason> {
        let max = u32::from(code.max_stack);
        let follows = major < FRAMES_DECIDE;
        self.known.clear();
        let table = frames.filter(|_| major >= version::FIRST_WITH_FRAMES);
        // What cannot be read is refused before and after.
        if let Some(mut frames) = table.and_then(|info| Frames::new(info).ok()) {
            while let Ok(Some(frame)) = frames.next() {
                let mut depth = 0;
                for item in types(frame.stack) {
                    depth +=
                        1 + u32::from(matches!(item[0], verification_type::LONG | verification_type::DOUBLE));
                }
                let out = |item: &[u8]| item[0] == verification_type::OBJECT && u2(item, 1) >= pool.count();
                if types(frame.stack).chain(types(frame.locals)).any(out) {
                    // HotSpot may find another fault first, and ask the old verifier.
                    return Some(if follows { Reason::BadStackMap } else { Reason::BadConstantIndex });
                }
                if !follows {
                    if depth > max {
                        return Some(Reason::BadMaxStack);
                    }
                    self.known.push((frame.pc as u32, depth));
                }
            }
        }
        if !follows {
            self.needs_frames = code.exception_table.iter().next().is_some();
            if let Err(reason) = self.pass(code.code, max, pool, false) {
                return Some(reason);
            }
            // A JVM that does not verify (`-Xverify:none`) takes such a class; but from Java 25 on it verifies what an agent has changed.
            let is_missing = frames.is_none() && self.needs_frames && is_sound(code);
            return is_missing.then_some(Reason::MissingStackMap);
        }
        self.known.extend(code.exception_table.iter().map(|handler| (u32::from(handler.handler_pc), 1)));
        for _ in 0..MOST_PASSES {
            self.known.sort_unstable();
            self.known.dedup_by_key(|(pc, _)| *pc);
            let before = self.known.len();
            self.reached.clear();
            if let Err(reason) = self.pass(code.code, max, pool, true) {
                return Some(reason);
            }
            self.known.append(&mut self.reached);
            self.known.sort_unstable();
            self.known.dedup_by_key(|(pc, _)| *pc);
            if self.known.len() == before {
                break;
            }
        }
        None
    }

    /// Goes through the code once; `follows`: notes the depths at targets of branches.
    fn pass(&mut self, code: &[u8], max: u32, pool: &ConstantPool<'_>, follows: bool) -> Result<(), Reason> {
        let count = usize::from(pool.count());
        let mut known = 0;
        let mut next = self.known.first().map_or(u32::MAX, |at| at.0);
        let mut depth = Some(0u32);
        let mut pc = 0;
        let mut last = opcode::NOP;
        while pc < code.len() {
            while next as usize <= pc {
                if next as usize == pc {
                    depth = Some(self.known[known].1);
                }
                known += 1;
                next = self.known.get(known).map_or(u32::MAX, |at| at.0);
            }
            let op = code[pc];
            let step = STEPS[usize::from(op)];
            let length = match usize::from(step.length) {
                0 => length_at(code, pc).unwrap_or(usize::MAX),
                length => length,
            };
            // Code that cannot be decoded is refused before and after.
            let Some(bytes) = code.get(pc..pc.saturating_add(length)) else { return Ok(()) };
            let (mut pops, mut pushes) = (u32::from(step.pops), u32::from(step.pushes));
            let mut ends = false;
            match step.kind {
                Kind::Plain => {}
                Kind::Constant1 if usize::from(bytes[1]) < count => {}
                Kind::Constant2 if usize::from(u2(bytes, 1)) < count => {}
                Kind::Constant1 | Kind::Constant2 => return Err(Reason::BadConstantIndex),
                Kind::Member => match self.effect(bytes, pool)? {
                    Some(effect) => (pops, pushes) = effect,
                    // No field and no method: refused before and after.
                    None => return Ok(()),
                },
                Kind::Other => {
                    self.needs_frames |= match OPERANDS[usize::from(op)] {
                        Operands::None => pc + length < code.len(),
                        Operands::MultiArray | Operands::Wide => false,
                        _ => true,
                    };
                    ends = opcode::is_end_of_flow(op) || (op == opcode::WIDE && bytes[1] == opcode::RET);
                    if op == opcode::WIDE {
                        (pops, pushes) = (
                            u32::from(POPS[usize::from(bytes[1])]),
                            u32::from(PUSHES[usize::from(bytes[1])]),
                        );
                    } else if op == opcode::MULTIANEWARRAY {
                        if usize::from(u2(bytes, 1)) >= count {
                            return Err(Reason::BadConstantIndex);
                        }
                        (pops, pushes) = (u32::from(bytes[3]), 1);
                    }
                }
            }
            if let Some(now) = depth {
                let after = now.saturating_sub(pops) + pushes;
                if after > max {
                    return Err(Reason::BadMaxStack);
                }
                if follows {
                    let targets = targets(code, pc).filter_map(|target| u32::try_from(target).ok());
                    self.reached.extend(targets.map(|target| (target, after)));
                }
                // The subroutine takes its return address away.
                let is_jsr = matches!(op, opcode::JSR | opcode::JSR_W);
                depth = if is_jsr { depth } else { (!ends).then_some(after) };
            }
            last = op;
            pc += length;
        }
        // A subroutine need not return; what is behind no instruction at all is not rewritten either.
        let falls_off = depth.is_some() && !matches!(last, opcode::JSR | opcode::JSR_W) && !code.is_empty();
        if falls_off { Err(Reason::BadCode) } else { Ok(()) }
    }

    /// What stands in [`effects`](Self::effects) for a member. Many have the same descriptor, for which it is kept as well.
    fn slots(&mut self, index: u16, pool: &ConstantPool<'_>) -> Option<u32> {
        let descriptor = pool.descriptor_of(index).ok()?;
        let known = self.effects.get_mut(usize::from(descriptor))?;
        if *known == UNKNOWN {
            let text = pool.utf8(descriptor).ok()?;
            let slots = match text.first() {
                Some(b'(') => method_slots(text),
                _ => field_slots(text).map(|(width, _)| (0, width)),
            };
            *known =
                slots.map_or(NONE, |(parameters, result)| u32::from(parameters) | u32::from(result) << 16);
        }
        Some(*known)
    }

    /// Slots that the instruction takes and puts; `None` if it names no field and no method.
    fn effect(&mut self, bytes: &[u8], pool: &ConstantPool<'_>) -> Result<Option<(u32, u32)>, Reason> {
        let index = u2(bytes, 1);
        let mut known = *self.effects.get(usize::from(index)).ok_or(Reason::BadConstantIndex)?;
        if known == UNKNOWN {
            known = self.slots(index, pool).unwrap_or(NONE);
            self.effects[usize::from(index)] = known;
        }
        if known == NONE {
            return Ok(None);
        }
        let (parameters, result) = (known & 0xffff, known >> 16);
        Ok(Some(match bytes[0] {
            opcode::GETSTATIC => (0, result),
            opcode::PUTSTATIC => (result, 0),
            opcode::GETFIELD => (1, result),
            opcode::PUTFIELD => (1 + result, 0),
            opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC => (parameters, result),
            _ => (parameters + 1, result),
        }))
    }
}
