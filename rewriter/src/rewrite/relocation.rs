//! Puts the insertions into a code array and knows afterwards where every old pc went.
//!
//! Steps:
//! 1. Copy the code from one point of change to the next and emit what is inserted there (the order at one pc is drawn
//!    at [`Place`](crate::code::edits::Place)). Switches are emitted anew: their padding depends on where they stand.
//! 2. Patch every branch and switch offset.
//! 3. If a two-byte offset no longer reaches: `goto` and `jsr` become `goto_w` and `jsr_w`; a conditional
//!    branch goes to a trampoline, a `goto_w` that stands where control does not fall through, or where a
//!    `goto` around it leads to a frame that is there, so that the only frame it needs is a copy of its
//!    target's. Then start again at 1. Every round lengthens at least one branch, so the rounds end.

mod emission;

pub(crate) use emission::{Point, Trampoline};

use super::Reason;
use crate::class_file::instruction::{Switch, i2, i4};
use crate::class_file::opcode;
use crate::class_file::stack_map_table::Frames;
use crate::code::code_scan::CodeScan;
use crate::code::edits::{Edits, Way};
use emission::{Emission, NOWHERE, PlacedDetour};

/// The longest code array (JVMS 4.7.3): its length must be less than 65,536.
const MAX_CODE: usize = 65_535;
/// A trampoline stands at most this far from its branch, so that later rounds cannot push it out of reach.
const TRAMPOLINE_REACH: usize = 24_000;

/// Marks the places of points in [`Relocation::moved`].
const POINT: u32 = 1 << 31;

/// The map from old to new pcs of one method; a buffer that is used for one method after the other.
#[derive(Debug, Default)]
pub(crate) struct Relocation {
    points: Vec<Point>,
    /// By old pc up to the end of the code: the new pc, or a point's position in `points` with [`POINT`].
    moved: Vec<u32>,
    /// New minus old behind the code.
    shift: i32,
    widened: Vec<u32>,
    trampolines: Vec<Trampoline>,
    detours: Vec<PlacedDetour>,
    /// Position of every emitted switch: (old pc, new pc).
    switches: Vec<(u32, u32)>,
    /// Branches that did not reach in the last round.
    overflow: Vec<u32>,
}

impl Relocation {
    /// Appends the new code array to `out`.
    ///
    /// # Errors
    /// The code would be too long, a branch leads into the middle of an instruction, or no place for a
    /// trampoline was found.
    pub(crate) fn apply(
        &mut self,
        code: &[u8],
        scan: &CodeScan,
        edits: &Edits,
        has_frames: bool,
        frames: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        self.widened.clear();
        self.trampolines.clear();
        let start = out.len();
        loop {
            out.truncate(start);
            self.emit(code, scan, edits, start, out);
            if out.len() - start > MAX_CODE {
                return Err(Reason::MethodTooLarge);
            }
            self.patch(code, scan, &mut out[start..])?;
            if self.overflow.is_empty() {
                return Ok(());
            }
            self.lengthen(code, scan, has_frames, frames)?;
        }
    }

    fn emit(&mut self, code: &[u8], scan: &CodeScan, edits: &Edits, start: usize, out: &mut Vec<u8>) {
        self.points.clear();
        self.switches.clear();
        self.detours.clear();
        for entry in edits.first.iter().chain(&edits.entry) {
            entry.append_to(out);
        }
        self.shift = (out.len() - start) as i32;
        self.moved.clear();
        let mut emission = Emission {
            insertions: &edits.insertions,
            detours: edits.detours.iter().peekable(),
            switches: scan.switches.iter().peekable(),
            widened: self.widened.iter().peekable(),
            trampolines: self.trampolines.iter_mut().peekable(),
            out,
            start,
            to_target: Vec::new(),
        };
        let mut copied = 0usize;
        let mut other = emission.next_other();
        loop {
            let pc = emission.insertions.first().map_or(NOWHERE, |insertion| insertion.pc).min(other);
            if pc == NOWHERE {
                break;
            }
            emission.out.extend_from_slice(&code[copied..pc as usize]);
            copied = pc as usize;
            let point = emission.in_front_of(pc, scan, &mut self.detours);
            if emission.switches.next_if(|&&at| at == pc).is_some() {
                self.switches.push((pc, point.instruction));
                copied = emit_switch(code, pc as usize, start, emission.out);
            } else if emission.widened.next_if(|&&at| at == pc).is_some() {
                let wide = if code[pc as usize] == opcode::GOTO { opcode::GOTO_W } else { opcode::JSR_W };
                emission.out.extend_from_slice(&[wide, 0, 0, 0, 0]);
                copied += 3;
            }
            push_moved(&mut self.moved, pc, self.shift);
            self.moved.push(self.points.len() as u32 | POINT);
            self.shift = emission.position() as i32 - copied as i32;
            self.points.push(point);
            if pc == other {
                other = emission.next_other();
            }
        }
        push_moved(&mut self.moved, code.len() as u32 + 1, self.shift);
        emission.out.extend_from_slice(&code[copied..]);
    }

    fn patch(&mut self, code: &[u8], scan: &CodeScan, new: &mut [u8]) -> Result<(), Reason> {
        self.overflow.clear();
        let mut overflow = std::mem::take(&mut self.overflow);
        let known = |target: i64| {
            usize::try_from(target).ok().filter(|pc| scan.is_instruction(*pc)).ok_or(Reason::BadCode)
        };
        for &pc in &scan.branches {
            let target = known(target(code, pc))?;
            let position = self.instruction(pc as usize);
            let mut destination = self.destination(pc, target as u32);
            let wide = new[position as usize] != code[pc as usize] || is_long(code[pc as usize]);
            if !wide {
                if !self.trampolines.is_empty()
                    && let Some(t) = self.trampolines.iter().find(|trampoline| trampoline.branch == pc)
                {
                    destination = t.position;
                }
                let at = position as usize + 1;
                match i16::try_from(i64::from(destination) - i64::from(position)) {
                    Ok(offset) => new[at..at + 2].copy_from_slice(&offset.to_be_bytes()),
                    Err(_) => overflow.push(pc),
                }
            } else {
                put_offset(new, position as usize + 1, position, destination);
            }
        }
        for &(pc, position) in &self.switches {
            let (Some(old), Some(switch)) =
                (Switch::at(code, pc as usize), Switch::at(new, position as usize))
            else {
                return Err(Reason::BadCode);
            };
            for (word, new_word) in old.offset_words().zip(switch.offset_words()) {
                let target = known(i64::from(pc) + i64::from(i4(code, word)))?;
                put_offset(new, new_word, position, self.destination(pc, target as u32));
            }
        }
        for trampoline in &self.trampolines {
            let destination = self.destination(trampoline.branch, trampoline.target);
            put_offset(new, trampoline.position as usize + 1, trampoline.position, destination);
        }
        self.overflow = overflow;
        Ok(())
    }

    /// Gives every branch that did not reach a longer form.
    fn lengthen(
        &mut self,
        code: &[u8],
        scan: &CodeScan,
        has_frames: bool,
        frames: Option<&[u8]>,
    ) -> Result<(), Reason> {
        let places = trampoline_places(scan, frames)?;
        for index in 0..self.overflow.len() {
            let pc = self.overflow[index];
            if !opcode::is_conditional_branch(code[pc as usize]) {
                self.widened.push(pc);
                continue;
            }
            if self.trampolines.iter().any(|trampoline| trampoline.branch == pc) {
                return Err(Reason::JumpOverflow);
            }
            let target = target(code, pc) as u32;
            let at = self.trampoline_place(pc as usize, &places, has_frames).ok_or(Reason::JumpOverflow)?;
            self.trampolines.push(Trampoline { at: at as u32, branch: pc, target, position: 0 });
        }
        self.widened.sort_unstable();
        self.trampolines.sort_unstable_by_key(|trampoline| (trampoline.at, trampoline.branch));
        Ok(())
    }

    /// The nearest of `places`. Classes without frames may also bounce right behind the branch, because a `goto` around
    /// the trampoline needs no frame there.
    fn trampoline_place(&self, branch: usize, places: &[usize], has_frames: bool) -> Option<usize> {
        /// Keeps the `goto` around them, and the landing behind them, in reach of two bytes.
        const TRAMPOLINES_PER_PLACE: usize = 2_000;
        let room = |at: usize| {
            self.trampolines.iter().filter(|t| t.at as usize == at).count() < TRAMPOLINES_PER_PLACE
        };
        // Outwards from the branch on both sides.
        let mut above = places.partition_point(|&at| at < branch);
        let mut below = above;
        loop {
            let down = below.checked_sub(1).map(|index| places[index]);
            let up = places.get(above).copied();
            let at = match (down, up) {
                (Some(down), Some(up)) if branch - down > up - branch => up,
                (Some(down), _) => down,
                (None, Some(up)) => up,
                (None, None) => break,
            };
            if at.abs_diff(branch) > TRAMPOLINE_REACH {
                break;
            }
            if room(at) {
                return Some(at);
            }
            if at < branch { below -= 1 } else { above += 1 }
        }
        (!has_frames).then_some(branch + 3)
    }

    /// Where the branch at `branch` arrives that leads to `target`.
    fn destination(&self, branch: u32, target: u32) -> u32 {
        if self.detours.is_empty() {
            return self.target(target as usize);
        }
        let takes = |detour: &&PlacedDetour| {
            detour.pc == target
                && matches!(&detour.way, Way::Branches(branches) if branches.contains(&branch))
        };
        match self.detours.iter().find(takes) {
            Some(detour) => detour.position,
            None => self.target(target as usize),
        }
    }

    /// New pcs of the detours on the way to `pc`, ascending.
    pub(crate) fn detours_at(&self, pc: usize) -> impl Iterator<Item = u32> + '_ {
        self.detours.iter().filter(move |detour| detour.pc as usize == pc).map(|detour| detour.position)
    }

    /// The ranges whose exceptions lead to `handler` over a detour, and its new pc.
    pub(crate) fn exceptions_to(&self, handler: usize) -> impl Iterator<Item = ((u32, u32), u32)> + '_ {
        self.detours.iter().filter(move |detour| detour.pc as usize == handler).filter_map(|detour| {
            match detour.way {
                Way::Exceptions(range) => Some((range, detour.position)),
                Way::Branches(_) => None,
            }
        })
    }

    /// The trampolines, in ascending order of their position.
    pub(crate) fn trampolines(&self) -> &[Trampoline] {
        &self.trampolines
    }

    /// What became of `pc`.
    #[inline]
    pub(crate) fn moved(&self, pc: usize) -> Moved<'_> {
        match self.moved.get(pc) {
            Some(&moved) if moved & POINT == 0 => Moved::Shifted(moved),
            Some(&moved) => Moved::Point(&self.points[(moved & !POINT) as usize]),
            None => Moved::Shifted((pc as u32).wrapping_add_signed(self.shift)),
        }
    }

    #[inline]
    fn look_up(&self, pc: usize, of_point: impl FnOnce(&Point) -> u32) -> u32 {
        match self.moved(pc) {
            Moved::Shifted(pc) => pc,
            Moved::Point(point) => of_point(point),
        }
    }

    /// Where the instruction in front of `pc` ends: the exclusive end of a range.
    #[inline]
    pub(crate) fn end(&self, pc: usize) -> u32 {
        self.look_up(pc, |point| point.end)
    }

    /// Where the exception table leads, and where a range begins that starts at `pc`.
    #[inline]
    pub(crate) fn landing(&self, pc: usize) -> u32 {
        self.look_up(pc, |point| point.landing)
    }

    /// Where exceptions of the landing and of the detours lead: in front of them, or where branches arrive.
    #[inline]
    pub(crate) fn pad(&self, pc: usize) -> u32 {
        self.look_up(pc, |point| point.pad)
    }

    /// Where branches arrive; what a frame describes.
    #[inline]
    pub(crate) fn target(&self, pc: usize) -> u32 {
        self.look_up(pc, |point| point.target)
    }

    /// The instruction itself.
    #[inline]
    pub(crate) fn instruction(&self, pc: usize) -> u32 {
        self.look_up(pc, |point| point.instruction)
    }

    /// As [`landing`](Self::landing) for tables that describe source code: pc 0 stays 0.
    #[inline]
    pub(crate) fn source(&self, pc: usize) -> u32 {
        if pc == 0 { 0 } else { self.landing(pc) }
    }
}

/// Notes the pcs in front of `pc`, which move by `shift`.
fn push_moved(moved: &mut Vec<u32>, pc: u32, shift: i32) {
    let from = moved.len() as u32;
    moved.extend((from..pc).map(|pc| pc.wrapping_add_signed(shift)));
}

/// Where trampolines can stand, ascending: boundaries that control does not fall into; and those that have a frame,
/// which is all that a `goto` around the trampolines needs.
fn trampoline_places(scan: &CodeScan, frames: Option<&[u8]>) -> Result<Vec<usize>, Reason> {
    let mut places: Vec<usize> = scan.boundaries().filter(|&at| at != 0 && !scan.falls_into(at)).collect();
    if let Some(info) = frames {
        let mut frames = Frames::new(info).map_err(|_| Reason::BadStackMap)?;
        while let Some(frame) = frames.next().map_err(|_| Reason::BadStackMap)? {
            if frame.pc != 0 && scan.is_instruction(frame.pc) {
                places.push(frame.pc);
            }
        }
        places.sort_unstable();
        places.dedup();
    }
    Ok(places)
}

/// Whether the offset of a branch has four bytes.
fn is_long(op: u8) -> bool {
    matches!(op, opcode::GOTO_W | opcode::JSR_W)
}

/// Where the branch at `pc` leads, which the scan has found.
fn target(code: &[u8], pc: u32) -> i64 {
    let at = pc as usize;
    let offset = if is_long(code[at]) { i4(code, at + 1) } else { i2(code, at + 1) };
    i64::from(pc) + i64::from(offset)
}

fn put_offset(new: &mut [u8], at: usize, from: u32, to: u32) {
    let offset = to as i32 - from as i32;
    new[at..at + 4].copy_from_slice(&offset.to_be_bytes());
}

/// Emits the switch at `pc` with the padding of its new place; returns the old pc behind it.
fn emit_switch(code: &[u8], pc: usize, start: usize, out: &mut Vec<u8>) -> usize {
    out.push(code[pc]);
    while !(out.len() - start).is_multiple_of(4) {
        out.push(0);
    }
    match Switch::at(code, pc) {
        Some(switch) => {
            out.extend_from_slice(&code[switch.words..switch.end]);
            switch.end
        }
        // The scan has decoded it, so it is there.
        None => pc + 1,
    }
}

/// What became of an old pc.
pub(crate) enum Moved<'a> {
    /// Nothing stands there but what stood there: its new pc.
    Shifted(u32),
    /// Something was inserted or resized.
    Point(&'a Point),
}

#[cfg(test)]
mod tests;
