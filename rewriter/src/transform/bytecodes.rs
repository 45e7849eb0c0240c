//! `bytecodes`: how many instructions every call executes, exactly, also when an exception leaves a block in its
//! middle.
//!
//! | where | code |
//! |---|---|
//! | entry | the counter, a local variable of ours behind the method's own, gets the length of the first segment |
//! | in front of every other segment | its length is added to the counter |
//! | in front of every xRETURN | push ID; the counter; `methodExit`, in the place of that of `method-events` |
//! | catch-any handler behind the code | push ID; the counter; `methodUnwind`, the same; `athrow` |
//! | in a constructor, in front of every segment that ends before `super()` has returned | push ID; its length; `pending`: no handler can tell of it when `super()` throws |
//!
//! A *segment* is a run of instructions that is entered at its first one only and of which only the last can throw or
//! branch: whoever executes the first begins to execute the last. An instruction counts when its execution begins, as
//! for the JVMTI event single step. Instructions that are inserted do not count.
//!
//! The counter is an `int` where every instruction runs once at most, and a `long` where control can go back. A method
//! of one segment needs none: its length is a constant. Linkage errors are exceptions as others are. Not counted is
//! what a call executed that was still open when recording ended: a call tells when it ends.

use super::method_events::{PcRange, constructor_calls};
use super::{MethodSite, Transform};
use crate::class_file::instruction::{Instructions, targets};
use crate::class_file::opcode;
use crate::code::Reason;
use crate::code::edits::{Counter, Edits, Executed, Kept, Place, Snippet};
use crate::code::hooks::Hook;
use crate::executions::may_leave;

/// The transform; it has no options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytecodes;

/// Instructions of which whoever executes the first begins to execute the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    pc: u32,
    /// pc of its last instruction.
    last: u32,
    /// The number of instructions.
    length: u32,
}

impl Transform for Bytecodes {
    fn concerns(&self, site: &MethodSite<'_>) -> bool {
        site.request.transforms.bytecodes && site.request.transforms.method_events
    }

    fn plan(&self, site: &mut MethodSite<'_>, edits: &mut Edits) -> Result<(), Reason> {
        let leaders = Leaders::of(site);
        let segments = segments(site, &leaders)?;
        let initialized = if site.is_constructor { constructor_calls(site)?.1 } else { Vec::new() };
        let is_constructor = site.is_constructor;
        let is_early = |segment: &Segment| {
            is_constructor && !within(&initialized, segment.pc) && !within(&initialized, segment.last)
        };
        let (early, counted): (Vec<Segment>, Vec<Segment>) = segments.iter().partition(|s| is_early(s));

        edits.need_stack(2);
        for segment in &early {
            let id = site.push_id()?;
            let length = site.push(segment.length)?;
            let call = site.call(Hook::CountedPending, id.then(length))?;
            edits.insert(segment.pc, Place::Before, call);
        }
        let executed = match counted[..] {
            [] => return Ok(()),
            [only] if !leaders.is_entered_again(only.pc) => Executed::Constant(only.length),
            _ => {
                let kept = if leaders.goes_back { Kept::Long } else { Kept::Int };
                let counter = edits.keep(site.code.max_locals, kept)?;
                Executed::Counter(counter)
            }
        };
        if let Executed::Counter(counter) = executed {
            edits.need_stack(if counter.is_long() { 4 } else { 2 });
            let first = segments[0];
            let sets = !leaders.is_entered_again(first.pc) && !is_early(&first);
            let start = site.push(if sets { first.length } else { 0 })?;
            let wide: &[u8] = if counter.is_long() { &[opcode::I2L] } else { &[] };
            let store = if counter.is_long() { opcode::LSTORE } else { opcode::ISTORE };
            edits.entry = Some(start.with(wide).with_local(store, counter.index));
            edits.least_stack = edits.least_stack.max(2);
            for segment in counted.iter().skip(usize::from(sets)) {
                add(site, edits, counter, segment)?;
            }
        }
        edits.executed = Some(executed);
        // The exception, the id, and a long.
        edits.least_stack = edits.least_stack.max(4);
        Ok(())
    }
}

/// Adds the length of a segment in front of it.
fn add(
    site: &mut MethodSite<'_>,
    edits: &mut Edits,
    counter: Counter,
    segment: &Segment,
) -> Result<(), Reason> {
    let index = counter.index;
    if counter.is_long() {
        let length = site.push(segment.length)?.with(&[opcode::I2L]);
        let load = Snippet::default().with_local(opcode::LLOAD, index);
        let sum = load.then(length).with(&[opcode::LADD]).with_local(opcode::LSTORE, index);
        edits.insert(segment.pc, Place::Before, sum);
        return Ok(());
    }
    let mut rest = segment.length;
    while rest > 0 {
        let part = rest.min(i16::MAX as u32);
        let [high, low] = index.to_be_bytes();
        let snippet = match (high, part) {
            (0, 0..=127) => Snippet::default().with(&[opcode::IINC, low, part as u8]),
            _ => {
                let [a, b] = (part as u16).to_be_bytes();
                Snippet::default().with(&[opcode::WIDE, opcode::IINC, high, low, a, b])
            }
        };
        edits.insert(segment.pc, Place::Before, snippet);
        rest -= part;
    }
    Ok(())
}

fn within(ranges: &[PcRange], pc: u32) -> bool {
    ranges.iter().any(|&(start, end)| (start..end).contains(&pc))
}

/// The instructions that are entered otherwise than from the one in front of them.
struct Leaders {
    /// Ascending.
    pcs: Vec<u32>,
    /// Some instruction may run twice in one call.
    goes_back: bool,
}

impl Leaders {
    fn of(site: &MethodSite<'_>) -> Leaders {
        let mut leaders = Leaders { pcs: Vec::new(), goes_back: site.scan.subroutines };
        for &from in site.scan.branches.iter().chain(&site.scan.switches) {
            // A branch to elsewhere than an instruction is refused when it is moved.
            for target in targets(site.code.code, from as usize).filter_map(|pc| u32::try_from(pc).ok()) {
                leaders.pcs.push(target);
                leaders.goes_back |= target <= from;
            }
        }
        for row in site.code.exception_table.iter() {
            leaders.pcs.push(u32::from(row.handler_pc));
            leaders.goes_back |= row.handler_pc < row.end_pc;
        }
        leaders.pcs.sort_unstable();
        leaders.pcs.dedup();
        leaders
    }

    fn is_entered_again(&self, pc: u32) -> bool {
        self.pcs.binary_search(&pc).is_ok()
    }
}

/// The segments in their order, which has no gaps.
fn segments(site: &MethodSite<'_>, leaders: &Leaders) -> Result<Vec<Segment>, Reason> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut ahead = leaders.pcs.iter().copied().peekable();
    let mut ended = true;
    for instruction in Instructions::new(site.code.code) {
        let instruction = instruction.map_err(|_| Reason::BadCode)?;
        let pc = instruction.pc as u32;
        while ahead.next_if(|&leader| leader <= pc).is_some_and(|leader| leader == pc) {
            ended = true;
        }
        match segments.last_mut().filter(|_| !ended) {
            Some(segment) => {
                segment.length += 1;
                segment.last = pc;
            }
            None => segments.push(Segment { pc, last: pc, length: 1 }),
        }
        ended = may_leave(site.pool, instruction.bytes);
    }
    Ok(segments)
}
