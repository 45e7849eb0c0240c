//! Rewrites the exception table (JVMS 4.7.3).
//!
//! Order of the new rows:
//! 1. for every catch-any handler with a landing: landing -> pad, which leads to the handler, so that monitors are
//!    released and finally blocks run even if the probe in the landing fails. Not to the handler itself, which the
//!    landing falls into: C1 compiles no method in which a handler is reached by normal flow, too;
//! 2. the old rows, in order; a row that covers its own handler is split around the landing, and one that exceptions of
//!    a code region take part in is split at the region's borders;
//! 3. the ranges that lead to the handlers of code regions and of remote calls;
//! 4. those handlers themselves: what they throw again goes to the next one that is of the whole method;
//! 5. the ranges that lead to the unwind handler, which covers those handlers, too.
//!
//! A range is interrupted around trampolines: they cannot throw, and the frame of one, which is a copy of its
//! distant target's, need not fit the handler.

use super::Reason;
use super::relocation::Relocation;
use crate::class_file::exception_table::{ExceptionEntry, ExceptionTable};
use crate::code::code_scan::CodeScan;
use crate::code::edits::Edits;
use std::collections::BTreeSet;

/// Checks the rows against the code.
///
/// # Errors
/// [`Reason::BadExceptionTable`]: HotSpot rejects such a class.
pub(crate) fn check(table: ExceptionTable<'_>, scan: &CodeScan) -> Result<(), Reason> {
    for row in table.iter() {
        let sound = row.start_pc < row.end_pc
            && scan.is_instruction(usize::from(row.start_pc))
            && scan.is_boundary(usize::from(row.end_pc))
            && scan.is_instruction(usize::from(row.handler_pc));
        if !sound {
            return Err(Reason::BadExceptionTable);
        }
    }
    Ok(())
}

/// Appends the count and the new rows to `out`; notes in `moved` the new row of each old one, which type
/// annotations refer to.
///
/// # Errors
/// [`Reason::ExceptionTableFull`].
pub(crate) fn write(
    table: ExceptionTable<'_>,
    relocation: &Relocation,
    edits: &Edits,
    region_pcs: &[u32],
    unwind_pc: u32,
    moved: &mut Vec<u16>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    moved.clear();
    let mut rows = Rows { relocation, out, count: 0 };
    rows.add_shields(table);
    for row in table.iter() {
        let handler = usize::from(row.handler_pc);
        let first = match relocation.exceptions_to(handler).next() {
            Some(_) => rows.add_in_pieces(row),
            None => rows.add_old(row),
        };
        moved.push(first as u16);
    }
    rows.add_handlers(edits, region_pcs, unwind_pc);
    let count = u16::try_from(rows.count).map_err(|_| Reason::ExceptionTableFull)?;
    out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
    Ok(())
}

/// The new rows so far.
struct Rows<'a> {
    relocation: &'a Relocation,
    out: &'a mut Vec<u8>,
    count: usize,
}

impl Rows<'_> {
    /// Adds a range of new pcs, without its trampolines. Gives the number of its first row.
    fn add(&mut self, start: u32, end: u32, handler: u32, catch_type: u16) -> usize {
        let first = self.count;
        let relocation = self.relocation;
        let mut row = |start: u32, end: u32| {
            let row = [start as u16, end as u16, handler as u16, catch_type].map(u16::to_be_bytes);
            self.out.extend_from_slice(row.as_flattened());
            self.count += 1;
        };
        let mut from = start;
        for trampoline in relocation.trampolines() {
            if (from..end).contains(&trampoline.position) {
                if from < trampoline.position {
                    row(from, trampoline.position);
                }
                from = trampoline.end();
            }
        }
        if from < end {
            row(from, end);
        }
        first
    }

    /// Step 1: from landings to pads.
    fn add_shields(&mut self, table: ExceptionTable<'_>) {
        let relocation = self.relocation;
        let mut shielded = BTreeSet::new();
        for row in table.iter().filter(|row| row.catch_type == 0) {
            let handler = usize::from(row.handler_pc);
            let target = relocation.target(handler);
            let landing = relocation
                .exceptions_to(handler)
                .next()
                .map_or(relocation.landing(handler), |detour| detour.1);
            if landing != target && shielded.insert(row.handler_pc) {
                self.add(landing, target, relocation.pad(handler), 0);
            }
        }
    }

    /// Step 2, an old row. Gives the number of its first new one.
    fn add_old(&mut self, row: ExceptionEntry) -> usize {
        let relocation = self.relocation;
        let (start, end, handler) =
            (usize::from(row.start_pc), usize::from(row.end_pc), usize::from(row.handler_pc));
        let landing = relocation.landing(handler);
        let covers_itself = (start..end).contains(&handler) && landing != relocation.target(handler);
        if !covers_itself {
            return self.add(relocation.landing(start), relocation.end(end), landing, row.catch_type);
        }
        let first = (start < handler)
            .then(|| (relocation.landing(start), relocation.end(handler)))
            .map(|(from, to)| self.add(from, to, landing, row.catch_type));
        let second = self.add(relocation.target(handler), relocation.end(end), landing, row.catch_type);
        first.unwrap_or(second)
    }

    /// Step 2, an old row that exceptions of code regions take part in. Gives the number of its first new one.
    fn add_in_pieces(&mut self, row: ExceptionEntry) -> usize {
        let relocation = self.relocation;
        let (start, end, handler) =
            (usize::from(row.start_pc), usize::from(row.end_pc), usize::from(row.handler_pc));
        // What stands in front of the handler must not lead to itself.
        let (gap, behind) = match (start..end).contains(&handler) {
            true => (relocation.end(handler), relocation.target(handler)),
            false => (u32::MAX, u32::MAX),
        };
        let mut first = None;
        for (from, to, leads_to) in pieces(relocation, start, end, handler) {
            for (from, to) in [(from, to.min(gap)), (from.max(behind), to)] {
                if from < to {
                    let index = self.add(from, to, leads_to, row.catch_type);
                    first.get_or_insert(index);
                }
            }
        }
        first.unwrap_or_default()
    }

    /// Steps 3 to 5: what leads to the handlers of regions and remote calls, these handlers, and what leads to the
    /// unwind handler.
    fn add_handlers(&mut self, edits: &Edits, region_pcs: &[u32], unwind_pc: u32) {
        let relocation = self.relocation;
        for (handler, &pc) in edits.region_handlers.iter().zip(region_pcs) {
            for &(start, end) in &handler.ranges {
                let from = match Some(start) == handler.start {
                    true => relocation.instruction(start as usize),
                    false => relocation.end(start as usize),
                };
                self.add(from, relocation.end(end as usize), pc, 0);
            }
        }
        for (index, (&from, &to)) in region_pcs.iter().zip(region_pcs.iter().skip(1)).enumerate() {
            let outer =
                edits.region_handlers.iter().skip(index + 1).position(|handler| handler.start.is_none());
            if let Some(outer) = outer {
                self.add(from, to, region_pcs[index + 1 + outer], 0);
            }
        }
        for &(start, end) in &edits.covered {
            let (from, to) = (relocation.end(start as usize), relocation.end(end as usize));
            self.add(from, to, unwind_pc, 0);
        }
        if let (Some(&first), false) = (region_pcs.first(), edits.covered.is_empty()) {
            self.add(first, unwind_pc, unwind_pc, 0);
        }
    }
}

/// The parts of an old row that exceptions of code regions take part in, each with its handler: new pcs. Some are
/// empty. A part outside of a region ends in front of the region's first instruction; what is inserted there fails only
/// before the region has begun.
fn pieces(relocation: &Relocation, start: usize, end: usize, handler: usize) -> Vec<(u32, u32, u32)> {
    let landing = relocation.landing(handler);
    let mut regions: Vec<_> = relocation.exceptions_to(handler).collect();
    regions.sort_unstable();
    let mut pieces = Vec::new();
    let mut from = relocation.landing(start);
    for ((first, behind), detour) in regions {
        let (first, behind) = (first as usize, behind as usize);
        let (a, b) = (first.max(start), behind.min(end));
        if a >= b {
            continue;
        }
        // A row that begins within the region has no part in front of it.
        if a == first {
            let inside = relocation.instruction(a);
            pieces.push((from, inside, landing));
            from = inside;
        }
        let to = relocation.end(b);
        pieces.push((from, to, detour));
        from = to;
    }
    pieces.push((from, relocation.end(end), landing));
    pieces
}

/// Whether at least one byte is covered by the ranges that lead to the unwind handler.
pub(crate) fn covers_anything(relocation: &Relocation, edits: &Edits) -> bool {
    edits.covered.iter().any(|&(start, end)| relocation.end(start as usize) < relocation.end(end as usize))
}

#[cfg(test)]
mod tests;
