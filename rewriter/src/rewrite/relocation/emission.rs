//! What stands in front of an instruction of the new code: insertions, detours and trampolines, in the order drawn at
//! [`Place`].

use crate::class_file::opcode;
use crate::code::code_scan::CodeScan;
use crate::code::edits::{Detour, Insertion, Place, Snippet, Way};
use std::iter::Peekable;
use std::slice::{Iter, IterMut};

/// An old pc at which something was inserted or resized, and where its parts went.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Where the instruction in front of the old pc ends, with everything that belongs to it.
    pub(super) end: u32,
    /// Where exceptions of the landing and of the detours go, if the handler there catches any; else as `target`.
    pub(crate) pad: u32,
    /// Where the exception table leads for a handler there.
    pub(crate) landing: u32,
    /// Where branches to the old pc arrive.
    pub(crate) target: u32,
    /// The instruction itself.
    pub(super) instruction: u32,
}

/// A `goto_w` on behalf of the conditional branch at `branch`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trampoline {
    pub(super) at: u32,
    pub(super) branch: u32,
    /// Old pc of the branch's target.
    pub(crate) target: u32,
    /// New pc of the `goto_w`.
    pub(crate) position: u32,
}

impl Trampoline {
    /// New pc behind the `goto_w`.
    pub(crate) fn end(&self) -> u32 {
        self.position + 5
    }
}

/// Behind all pcs.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Where a [`Detour`] went.
#[derive(Debug, Clone)]
pub(super) struct PlacedDetour {
    pub(super) pc: u32,
    pub(super) way: Way,
    pub(super) position: u32,
}

/// What is still to be emitted, and where.
pub(super) struct Emission<'e> {
    pub(super) insertions: &'e [Insertion],
    pub(super) detours: Peekable<Iter<'e, Detour>>,
    pub(super) switches: Peekable<Iter<'e, u32>>,
    pub(super) widened: Peekable<Iter<'e, u32>>,
    pub(super) trampolines: Peekable<IterMut<'e, Trampoline>>,
    pub(super) out: &'e mut Vec<u8>,
    /// Where the new code array begins in `out`.
    pub(super) start: usize,
    /// Places in `out` of the `goto`s that lead to the target of the point in work.
    pub(super) to_target: Vec<usize>,
}

impl Emission<'_> {
    /// The new pc.
    pub(super) fn position(&self) -> u32 {
        (self.out.len() - self.start) as u32
    }

    /// Emits everything that stands in front of the instruction at `pc`: the point without its shift.
    pub(super) fn in_front_of(&mut self, pc: u32, scan: &CodeScan, placed: &mut Vec<PlacedDetour>) -> Point {
        let bounces = self.trampolines.peek().is_some_and(|trampoline| trampoline.at == pc);
        let detours = self.detours.peek().is_some_and(|detour| detour.pc == pc);
        let before = self.insertions.first().is_none_or(|next| next.place == Place::Before || next.pc != pc);
        if !bounces && !detours && before {
            // Most points: nothing stands apart from the instruction.
            let at = self.position();
            self.insert(pc, Place::Before);
            return Point { end: at, pad: at, landing: at, target: at, instruction: self.position() };
        }
        self.insert(pc, Place::AfterPrevious);
        let end = self.position();
        let mut has_pad = false;
        while self.next_insertion(pc, Place::Pad).is_some() {
            has_pad = true;
        }
        let lands = self.insertions.first().is_some_and(|next| next.pc == pc && next.place == Place::Landing);
        let falls = scan.falls_into(pc as usize) || (pc == 0 && detours);
        if (lands || bounces || detours) && falls {
            self.goto_target();
        }
        let pad = self.position();
        if has_pad {
            self.goto_target();
        }
        while let Some(trampoline) = self.trampolines.next_if(|trampoline| trampoline.at == pc) {
            trampoline.position = (self.out.len() - self.start) as u32;
            self.out.extend_from_slice(&[opcode::GOTO_W, 0, 0, 0, 0]);
        }
        let is_thrown_to = self.detours(pc, lands, placed);
        let landing = self.position();
        if is_thrown_to && !lands {
            // C1 compiles no method in which a handler is reached by a branch, too.
            self.out.push(opcode::NOP);
        }
        self.insert(pc, Place::Landing);
        let target = self.position();
        for at in self.to_target.drain(..) {
            // A few snippets at most: always in reach of two bytes, see TRAMPOLINES_PER_PLACE.
            let offset = (target as usize + self.start - at) as u16;
            self.out[at + 1..at + 3].copy_from_slice(&offset.to_be_bytes());
        }
        self.insert(pc, Place::Before);
        let pad = if has_pad { pad } else { target };
        Point { end, pad, landing, target, instruction: self.position() }
    }

    /// Where something is emitted next that is no insertion.
    pub(super) fn next_other(&mut self) -> u32 {
        (self.switches.peek().map_or(NOWHERE, |pc| **pc))
            .min(self.widened.peek().map_or(NOWHERE, |pc| **pc))
            .min(self.trampolines.peek().map_or(NOWHERE, |trampoline| trampoline.at))
            .min(self.detours.peek().map_or(NOWHERE, |detour| detour.pc))
    }

    fn next_insertion(&mut self, pc: u32, place: Place) -> Option<Snippet> {
        let (next, rest) = self.insertions.split_first()?;
        (next.pc == pc && next.place == place).then(|| {
            self.insertions = rest;
            next.snippet
        })
    }

    fn insert(&mut self, pc: u32, place: Place) {
        while let Some(snippet) = self.next_insertion(pc, place) {
            snippet.append_to(self.out);
        }
    }

    fn goto_target(&mut self) {
        self.to_target.push(self.out.len());
        self.out.extend_from_slice(&[opcode::GOTO, 0, 0]);
    }

    /// Emits the detours at `pc`; whether exceptions take one.
    fn detours(&mut self, pc: u32, lands: bool, placed: &mut Vec<PlacedDetour>) -> bool {
        let mut is_thrown_to = false;
        while let Some(Detour { way, snippet, .. }) = self.detours.next_if(|detour| detour.pc == pc) {
            placed.push(PlacedDetour { pc, way: way.clone(), position: self.position() });
            snippet.append_to(self.out);
            let more = self.detours.peek().is_some_and(|detour| detour.pc == pc);
            if matches!(way, Way::Exceptions(_)) {
                is_thrown_to = true;
                let landing = self.insertions.iter();
                landing
                    .take_while(|next| next.pc == pc && next.place == Place::Landing)
                    .for_each(|next| next.snippet.append_to(self.out));
            }
            if more || lands || is_thrown_to {
                self.goto_target();
            }
        }
        is_thrown_to
    }
}
