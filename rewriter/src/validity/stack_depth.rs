//! Whether a method puts more onto its operand stack than `max_stack` says, whether its code names constants behind the
//! end of the pool, and whether control falls off its end, where injected code would stand.
//!
//! The verifier refuses such a method (JVMS 4.10.1). The depth is followed here as the verifier does it, without types:
//! instruction by instruction, from frame to frame. Where a class file need not have frames, a branch says how deep the
//! stack is at its target. Code that nothing is known to lead to is not judged.

use crate::class_file::descriptor::{field_slots, method_slots};
use crate::class_file::instruction::{Instruction, Instructions, targets, u2};
use crate::class_file::opcode::{self, Class, INFO, Info, OPERANDS, Operands, POPS, PUSHES, moves};
use crate::class_file::stack_map_table::{Frames, types, verification_type};
use crate::class_file::{CodeAttribute, ConstantPool, version};
use crate::code::Reason;
use crate::code::code_scan::{CodeScan, Follow, START};

/// From this version on frames decide; in 50, HotSpot asks the old verifier where frames do not fit.
const FRAMES_DECIDE: u16 = 51;
/// Passes over a code array without frames: one more whenever a branch backward leads to a depth that was not known.
const MOST_PASSES: usize = 8;
/// In [`StackDepth::effects`]: not looked up yet.
const UNKNOWN: u64 = u64::MAX;
/// In [`StackDepth::effects`]: no field and no method.
const NONE: u64 = u64::MAX - 1;
/// Both have these bits, one in each half, and no effect has any: it is of less than 65,536 slots.
const IS_NO_EFFECT: u64 = 1 << 63 | 1 << 31;

/// Whether a code array can be decoded, has no subroutine, and every branch and handler leads to an instruction. Where
/// that is not so, the method is left by itself.
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

/// A buffer that is used for one method after the other.
#[derive(Debug, Default)]
pub(super) struct StackDepth {
    /// Depths at pcs: ascending by pc, each pc once.
    known: Vec<(u32, u32)>,
    /// Depths at targets of branches, on top of `known`.
    reached: Vec<(u32, u32)>,
    /// By constant, for members and descriptors: what [`member`] says.
    effects: Vec<u64>,
}

impl StackDepth {
    pub(super) fn begin_class(&mut self, pool: &ConstantPool<'_>) {
        self.effects.clear();
        self.effects.resize(usize::from(pool.count()).max(1), UNKNOWN);
        self.effects[0] = NONE;
    }

    /// Decodes the code of a method into `scan`: whether that can be done, and why the JVM refuses the method, if it
    /// does for one of these reasons. `frames`: the `info` of its StackMapTable.
    pub(super) fn judge(
        &mut self,
        code: &CodeAttribute<'_>,
        frames: Option<&[u8]>,
        major: u16,
        pool: &ConstantPool<'_>,
        scan: &mut CodeScan,
    ) -> (Result<(), Reason>, Option<Reason>) {
        let max = u32::from(code.max_stack);
        let follows = major < FRAMES_DECIDE;
        self.known.clear();
        let table = frames.filter(|_| major >= version::FIRST_WITH_FRAMES);
        // What cannot be read is refused before and after.
        let refusal = table.and_then(|info| Frames::new(info).ok()).and_then(|frames| {
            // HotSpot may find another fault first, and ask the old verifier.
            let out = if follows { Reason::BadStackMap } else { Reason::BadConstantIndex };
            self.note_frames(frames, (!follows).then_some(max), pool.count(), out)
        });
        if let Some(reason) = refusal {
            return (scan.decode(code.code), Some(reason));
        }
        if !follows {
            let (scanned, walk) = self.pass(code.code, max, pool, false, scan);
            let needs_frames = walk.needs_frames || !code.exception_table.is_empty();
            if walk.refusal.is_some() {
                return (scanned, walk.refusal);
            }
            // A JVM that does not verify (`-Xverify:none`) takes such a class; but from Java 25 on it verifies what an
            // agent has changed.
            let is_missing = frames.is_none() && needs_frames && is_sound(code);
            return (scanned, is_missing.then_some(Reason::MissingStackMap));
        }
        self.known.extend(code.exception_table.iter().map(|handler| (u32::from(handler.handler_pc), 1)));
        let mut scanned = Ok(());
        for _ in 0..MOST_PASSES {
            self.known.sort_unstable();
            self.known.dedup_by_key(|(pc, _)| *pc);
            let before = self.known.len();
            self.reached.clear();
            let (decoded, walk) = self.pass(code.code, max, pool, true, scan);
            scanned = decoded;
            if walk.refusal.is_some() {
                return (scanned, walk.refusal);
            }
            self.known.append(&mut self.reached);
            self.known.sort_unstable();
            self.known.dedup_by_key(|(pc, _)| *pc);
            if self.known.len() == before {
                break;
            }
        }
        (scanned, None)
    }

    /// Notes how deep the stack is at each frame. A refusal: a frame is deeper than `max`, if that is requested, or
    /// names a constant behind `count` of them, for which the reason is `out`. Without `max` no depth is noted.
    fn note_frames(
        &mut self,
        mut frames: Frames<'_>,
        max: Option<u32>,
        count: u16,
        out: Reason,
    ) -> Option<Reason> {
        let is_out = |item: &[u8]| item[0] == verification_type::OBJECT && u2(item, 1) >= count;
        while let Ok(Some(frame)) = frames.next() {
            let mut depth = 0;
            if !frame.stack.is_empty() {
                for item in types(frame.stack) {
                    depth +=
                        1 + u32::from(matches!(item[0], verification_type::LONG | verification_type::DOUBLE));
                }
                if types(frame.stack).any(is_out) {
                    return Some(out);
                }
            }
            if !frame.locals.is_empty() && types(frame.locals).any(is_out) {
                return Some(out);
            }
            if let Some(max) = max {
                if depth > max {
                    return Some(Reason::BadMaxStack);
                }
                self.known.push((frame.pc as u32, depth));
            }
        }
        None
    }

    /// Goes through the code once; `follows`: notes the depths at targets of branches.
    fn pass<'w>(
        &'w mut self,
        code: &[u8],
        max: u32,
        pool: &'w ConstantPool<'w>,
        follows: bool,
        scan: &mut CodeScan,
    ) -> (Result<(), Reason>, Verdict) {
        let walk = Walk {
            known: &self.known,
            next: self.known.first().map_or(usize::MAX, |at| at.0 as usize),
            room: max as i32,
            most: max as i32,
            max: max as i32,
            pool,
            effects: &mut self.effects,
            reached: follows.then_some(&mut self.reached),
            needs_frames: false,
            refusal: None,
            is_over: false,
        };
        let (scanned, mut walk) = scan.decode_with(code, walk);
        // A subroutine need not return.
        let is_jsr = |pc: usize| {
            matches!(code[pc], opcode::JSR | opcode::JSR_W)
                && pc + usize::from(INFO[usize::from(code[pc])].length) == code.len()
        };
        let falls_off =
            walk.most != UNREACHED && !scan.branches.last().is_some_and(|pc| is_jsr(*pc as usize));
        if scanned.is_ok() && falls_off {
            walk.refuse(Reason::BadCode);
        }
        let Walk { refusal, needs_frames, .. } = walk;
        (scanned, Verdict { refusal, needs_frames })
    }
}

/// What a pass has found.
struct Verdict {
    refusal: Option<Reason>,
    /// The verifier asks for a frame somewhere: at the target of a branch, or behind the end of a flow.
    needs_frames: bool,
}

/// [`most`](Walk::most) where nothing is known to lead.
const UNREACHED: i32 = i32::MAX / 2;

/// One pass over a method.
struct Walk<'w> {
    /// From the next one on.
    known: &'w [(u32, u32)],
    /// Its pc.
    next: usize,
    /// Slots that are still free on the stack.
    room: i32,
    /// The room of an empty stack, from which nothing can be taken; [`UNREACHED`]: the room says nothing.
    most: i32,
    max: i32,
    pool: &'w ConstantPool<'w>,
    effects: &'w mut [u64],
    /// Where the depths at targets of branches are noted, if they are.
    reached: Option<&'w mut Vec<(u32, u32)>>,
    needs_frames: bool,
    refusal: Option<Reason>,
    /// There is a refusal, or something that is refused before and after.
    is_over: bool,
}

impl Walk<'_> {
    /// The first fault counts.
    #[inline(always)]
    fn refuse(&mut self, reason: Reason) {
        if !self.is_over {
            self.refusal = Some(reason);
        }
        self.is_over = true;
    }

    /// The next instruction begins at `pc`.
    fn arrive(&mut self, pc: usize) {
        while let Some((&(at, depth), rest)) = self.known.split_first()
            && at as usize <= pc
        {
            if at as usize == pc {
                (self.room, self.most) = (self.max - depth as i32, self.max);
            }
            self.known = rest;
        }
        self.next = self.known.first().map_or(usize::MAX, |at| at.0 as usize);
    }

    #[inline(always)]
    fn take_and_put(&mut self, pops: u32, pushes: u32, member: u64) {
        self.room = left(self.room, self.most, pops, pushes, member);
        if self.room < 0 {
            self.refuse(Reason::BadMaxStack);
        }
    }
}

/// The room on the stack behind an instruction, of which `member` says what the member that it names takes and puts.
#[inline(always)]
fn left(room: i32, most: i32, pops: u32, pushes: u32, member: u64) -> i32 {
    // Where nothing leads, it stays too much to matter: a code array has less than 65,536 instructions, and none puts
    // more than two.
    (room + (pops + member as u32) as i32).min(most) - (pushes + (member >> 32) as u32) as i32
}

/// What a member takes from the stack and puts onto it: a method its parameters and its result, a field what it holds,
/// if it is set or got. Many have the same descriptor, for which it is kept as well.
#[inline(never)]
fn member(pool: &ConstantPool<'_>, effects: &mut [u64], index: u16) -> u64 {
    let effect = of_descriptor(pool, effects, index).unwrap_or(NONE);
    effects[usize::from(index)] = effect;
    effect
}

fn of_descriptor(pool: &ConstantPool<'_>, effects: &mut [u64], index: u16) -> Option<u64> {
    let descriptor = pool.descriptor_of(index)?;
    let known = effects.get_mut(usize::from(descriptor))?;
    if *known == UNKNOWN {
        let text = pool.utf8(descriptor).ok()?;
        let slots = match text.first() {
            Some(b'(') => method_slots(text),
            _ => field_slots(text).map(|(width, _)| (width, width)),
        };
        *known = slots.map_or(NONE, |(pops, pushes)| moves(pops, pushes));
    }
    Some(*known)
}

impl Follow for Walk<'_> {
    #[inline(never)]
    fn plain(&mut self, code: &[u8], mut pc: usize, marks: &mut [u8]) -> usize {
        while !self.is_over && pc < code.len() {
            if self.next <= pc {
                self.arrive(pc);
            }
            let (effects, most, next) = (&*self.effects, self.most, self.next);
            let (mut room, mut unknown) = (self.room, None);
            while pc < next
                && let Some(&[op, a, b]) = code.get(pc..pc + 3)
            {
                let info = &INFO[usize::from(op)];
                let behind = pc + usize::from(info.length);
                if info.class != Class::Plain || behind > code.len() {
                    break;
                }
                let index = info.index([a, b]);
                let Some(known) = effects.get(usize::from(index)) else { break };
                let effect = known & info.member_mask;
                if effect & IS_NO_EFFECT != 0 {
                    unknown = (*known == UNKNOWN).then_some(index);
                    break;
                }
                let left = left(room, most, u32::from(info.pops), u32::from(info.pushes), effect);
                if left < 0 {
                    break;
                }
                room = left;
                marks[behind] = START;
                pc = behind;
            }
            self.room = room;
            match unknown {
                Some(index) => _ = member(self.pool, self.effects, index),
                None if pc < next => return pc,
                None => {}
            }
        }
        ().plain(code, pc, marks)
    }

    #[inline(always)]
    fn step(&mut self, _: usize, info: &Info, more: u8, index: u16) {
        let Some(&known) = self.effects.get(usize::from(index)) else {
            return self.refuse(Reason::BadConstantIndex);
        };
        let mut effect = known & info.member_mask;
        if effect & IS_NO_EFFECT != 0 {
            // What nobody asks for is not looked up.
            let asked = known == UNKNOWN && !self.is_over;
            let found = if asked { member(self.pool, self.effects, index) } else { known };
            if found & IS_NO_EFFECT != 0 {
                // No field and no method: refused before and after.
                self.is_over = true;
                return;
            }
            effect = found & info.member_mask;
        }
        self.take_and_put(u32::from(info.pops) + u32::from(more), u32::from(info.pushes), effect);
    }

    #[inline(always)]
    fn jumps(&mut self, code: &[u8], pc: usize, length: usize, info: &Info) {
        if self.is_over {
            return;
        }
        let op = code[pc];
        self.needs_frames |= match OPERANDS[usize::from(op)] {
            Operands::None => pc + length < code.len(),
            Operands::Wide => false,
            _ => true,
        };
        let (mut ends, mut slots) = (opcode::is_end_of_flow(op), (info.pops, info.pushes));
        if op == opcode::WIDE {
            let widened = code[pc + 1];
            ends = widened == opcode::RET;
            slots = (POPS[usize::from(widened)], PUSHES[usize::from(widened)]);
        }
        let before = self.room;
        self.take_and_put(u32::from(slots.0), u32::from(slots.1), 0);
        if let Some(reached) = self.reached.as_deref_mut()
            && self.most != UNREACHED
        {
            reach(reached, code, pc, (self.max - self.room) as u32);
        }
        if matches!(op, opcode::JSR | opcode::JSR_W) {
            // The subroutine takes its return address away.
            self.room = before;
        }
        if ends {
            (self.room, self.most) = (UNREACHED, UNREACHED);
        }
    }
}

/// Notes how deep the stack is at the targets of the branch or switch at `pc`.
#[inline(never)]
fn reach(reached: &mut Vec<(u32, u32)>, code: &[u8], pc: usize, depth: u32) {
    reached.extend(targets(code, pc).filter_map(|target| u32::try_from(target).ok()).map(|pc| (pc, depth)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_file::Attributes;
    use crate::class_file::exception_table::ExceptionTable;
    use crate::code::testing::Assembly;

    /// Of a method without frames in a class file of version 49, with two slots.
    fn refusal(text: &str) -> Option<Reason> {
        refusal_of(&Assembly::of(text))
    }

    fn refusal_of(assembly: &Assembly) -> Option<Reason> {
        judged(assembly).0
    }

    /// What comes of it, and how many members and descriptors were looked up that are some.
    fn judged(assembly: &Assembly) -> (Option<Reason>, usize) {
        let class = assembly.class();
        let pool = Assembly::pool(&class);
        let code = CodeAttribute {
            offset: 0,
            max_stack: 2,
            max_locals: 0,
            code_offset: 0,
            code: &assembly.code,
            exception_table: ExceptionTable::new(&[]),
            attributes: Attributes::new(&[], 0, 0),
        };
        let mut depth = StackDepth::default();
        depth.begin_class(&pool);
        let (_, refusal) = depth.judge(&code, None, 49, &pool, &mut CodeScan::default());
        (refusal, depth.effects.iter().filter(|effect| ![UNKNOWN, NONE].contains(effect)).count())
    }

    #[test]
    fn nothing_is_concluded_from_behind_a_member_that_is_none() {
        let around = |member: &str| format!("l: iconst_0; pop; {member}; iconst_0; iconst_0; goto l");
        assert_eq!(refusal(&around("invokestatic A.m:()V")), Some(Reason::BadMaxStack));
        assert_eq!(refusal(&around("invokestatic A.m:(v)V")), None);
        assert_eq!(refusal("invokestatic A.m:(v)V; iconst_0; iconst_0; iconst_0"), None);
        assert_eq!(refusal("nop; iconst_0; iconst_0; iconst_0; return"), Some(Reason::BadMaxStack));
    }

    #[test]
    fn a_field_has_no_parameters_whatever_its_descriptor() {
        let around = |access: &str| refusal(&format!("iconst_0; {access}; iconst_0; iconst_0; return"));
        assert_eq!(around("getstatic A.m:(I)V"), Some(Reason::BadMaxStack));
        assert_eq!(around("getfield A.m:(II)V"), None);
        assert_eq!(around("putfield A.m:(I)I"), None);
        assert_eq!(around("invokestatic A.m:(I)V"), None);
    }

    #[test]
    fn members_behind_one_that_is_none_are_not_looked_up() {
        let looked_up = |text: &str| judged(&Assembly::of(text)).1;
        assert_eq!(looked_up("invokestatic A.m:()V; getstatic A.f:J; pop2; return"), 4);
        assert_eq!(looked_up("invokestatic A.m:(v)V; getstatic A.f:J; pop2; return"), 0);
    }

    #[test]
    fn code_that_nothing_leads_to_has_no_depth() {
        assert_eq!(refusal("return; iconst_0; iconst_0; iconst_0; return"), None);
        // Nor is it counted down until it overflows.
        let call = format!("invokestatic A.m:({})V", "J".repeat(30_000));
        let mut assembly = Assembly::of(&call);
        assembly.code = [&[opcode::RETURN], &assembly.code.repeat(20_000)[..], &[opcode::RETURN]].concat();
        assert_eq!(refusal_of(&assembly), None);
    }
}
