//! Whether a method puts more onto its operand stack than `max_stack` says.
//!
//! The verifier refuses such a method (JVMS 4.10.1). Injected code needs a larger `max_stack`, which could make the method valid, so the
//! depth is followed here as the verifier does it, without types: instruction by instruction, from frame to frame. Where a class file has
//! no frames, a branch says how deep the stack is at its target. Code that nothing is known to lead to is not judged.

use super::code_scan::{CodeScan, targets};
use crate::class_file::descriptor::{field_slots, method_slots};
use crate::class_file::instruction::{length_at, u2};
use crate::class_file::opcode::{self, INFO, OPEN, POPS, PUSHES};
use crate::class_file::stack_map_table::{Frames, types, verification_type};
use crate::class_file::{CodeAttribute, ConstantPool};

/// Passes over a code array without frames: one more whenever a branch backward has told a depth that was not known.
const MOST_PASSES: usize = 8;

/// The depths at the pcs that are known; a buffer that is used for one method after the other.
#[derive(Debug, Default)]
pub(crate) struct StackDepth {
    /// Ascending by pc, each pc once.
    known: Vec<(u32, u32)>,
    /// Told by branches, on top of `known`.
    told: Vec<(u32, u32)>,
}

impl StackDepth {
    /// Whether the stack gets deeper than `max_stack`. `frames`: the StackMapTable, if the class file may have one.
    pub(crate) fn exceeds_max(
        &mut self,
        code: &CodeAttribute<'_>,
        scan: &CodeScan,
        frames: Option<&[u8]>,
        has_frames: bool,
        pool: &ConstantPool<'_>,
    ) -> bool {
        let max = u32::from(code.max_stack);
        self.known.clear();
        if let Some(frames) = frames {
            let Ok(mut frames) = Frames::new(frames) else { return false };
            while let Ok(Some(frame)) = frames.next() {
                let wide = |item: &[u8]| {
                    1 + u32::from(matches!(item[0], verification_type::LONG | verification_type::DOUBLE))
                };
                let depth = types(frame.stack).map(wide).sum();
                if depth > max {
                    return true;
                }
                self.known.push((frame.pc as u32, depth));
            }
        }
        if has_frames {
            return self.pass(code.code, scan, max, pool, false);
        }
        self.known.extend(code.exception_table.iter().map(|handler| (u32::from(handler.handler_pc), 1)));
        for _ in 0..MOST_PASSES {
            self.known.sort_unstable();
            self.known.dedup_by_key(|(pc, _)| *pc);
            let before = self.known.len();
            self.told.clear();
            if self.pass(code.code, scan, max, pool, true) {
                return true;
            }
            self.known.append(&mut self.told);
            self.known.sort_unstable();
            self.known.dedup_by_key(|(pc, _)| *pc);
            if self.known.len() == before {
                break;
            }
        }
        false
    }

    fn pass(
        &mut self,
        code: &[u8],
        scan: &CodeScan,
        max: u32,
        pool: &ConstantPool<'_>,
        follows: bool,
    ) -> bool {
        let mut known = self.known.iter().peekable();
        let mut depth = Some(0u32);
        let mut pc = 0;
        while pc < code.len() {
            if pc != 0 && !scan.falls_into(pc) {
                depth = None;
            }
            while known.next_if(|(at, _)| (*at as usize) < pc).is_some() {}
            if let Some((_, told)) = known.next_if(|(at, _)| *at as usize == pc) {
                depth = Some(*told);
            }
            let op = code[pc];
            let length = match usize::from(INFO[usize::from(op)].0) {
                0 => length_at(code, pc).unwrap_or(code.len()),
                length => length,
            };
            if let Some(now) = depth {
                let Some((pops, pushes)) = effect(&code[pc..], pool) else { return false };
                let after = now.saturating_sub(pops) + pushes;
                if after > max {
                    return true;
                }
                let is_jsr = matches!(op, opcode::JSR | opcode::JSR_W);
                if follows {
                    let targets = targets(code, pc).filter_map(|target| u32::try_from(target).ok());
                    self.told.extend(targets.map(|target| (target, after)));
                }
                // The subroutine takes its return address away.
                depth = Some(if is_jsr { now } else { after });
            }
            pc += length;
        }
        false
    }
}

/// Slots that the instruction at the front takes and puts; `None` if that cannot be told.
fn effect(bytes: &[u8], pool: &ConstantPool<'_>) -> Option<(u32, u32)> {
    let op = bytes[0];
    let of = |op: u8| (u32::from(POPS[usize::from(op)]), u32::from(PUSHES[usize::from(op)]));
    if POPS[usize::from(op)] != OPEN && op != opcode::WIDE {
        return Some(of(op));
    }
    let descriptor = || Some(pool.referenced_name_and_type(u2(bytes, 1)).ok()?.1);
    Some(match op {
        opcode::WIDE => of(bytes[1]),
        opcode::GETSTATIC..=opcode::PUTFIELD => {
            let width = u32::from(field_slots(descriptor()?)?.0);
            match op {
                opcode::GETSTATIC => (0, width),
                opcode::PUTSTATIC => (width, 0),
                opcode::GETFIELD => (1, width),
                _ => (1 + width, 0),
            }
        }
        opcode::MULTIANEWARRAY => (u32::from(bytes[3]), 1),
        _ => {
            let (parameters, result) = method_slots(descriptor()?)?;
            let receiver = u32::from(!matches!(op, opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC));
            (u32::from(parameters) + receiver, u32::from(result))
        }
    })
}
