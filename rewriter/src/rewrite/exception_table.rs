//! Rewrites the exception table (JVMS 4.7.3).
//!
//! Order of the new rows:
//! 1. for every catch-any handler with a landing: landing -> handler, so that monitors are released and
//!    finally blocks run even if the probe in the landing fails;
//! 2. the old rows, in order; a row that covers its own handler is split around the landing;
//! 3. the ranges that lead to the unwind handler.
//!
//! A range is interrupted around trampolines: they cannot throw, and the frame of one, which is a copy of its
//! distant target's, need not fit the handler.

use super::SkipReason;
use super::code_scan::CodeScan;
use super::edits::Edits;
use super::relocation::Relocation;
use crate::class_file::exception_table::ExceptionTable;
use std::collections::BTreeSet;

/// Checks the rows against the code.
///
/// # Errors
/// [`SkipReason::BadExceptionTable`]: HotSpot rejects such a class.
pub(crate) fn check(table: ExceptionTable<'_>, scan: &CodeScan) -> Result<(), SkipReason> {
    for row in table.iter() {
        let sound = row.start_pc < row.end_pc
            && scan.is_instruction(usize::from(row.start_pc))
            && scan.is_boundary(usize::from(row.end_pc))
            && scan.is_instruction(usize::from(row.handler_pc));
        if !sound {
            return Err(SkipReason::BadExceptionTable);
        }
    }
    Ok(())
}

/// Appends the count and the new rows to `out`; notes in `moved` the new row of each old one, which type
/// annotations refer to.
///
/// # Errors
/// [`SkipReason::ExceptionTableFull`].
pub(crate) fn write(
    table: ExceptionTable<'_>,
    relocation: &Relocation,
    edits: &Edits,
    unwind_pc: u32,
    moved: &mut Vec<u16>,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let count_at = out.len();
    out.extend_from_slice(&[0, 0]);
    moved.clear();
    let mut rows = 0usize;
    let mut add = |out: &mut Vec<u8>, start: u32, end: u32, handler: u32, catch_type: u16| {
        let first = rows;
        let mut row = |start: u32, end: u32| {
            for pc in [start, end, handler] {
                out.extend_from_slice(&(pc as u16).to_be_bytes());
            }
            out.extend_from_slice(&catch_type.to_be_bytes());
            rows += 1;
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
    };
    let mut cursor = relocation.cursor();

    let mut shielded = BTreeSet::new();
    for row in table.iter().filter(|row| row.catch_type == 0) {
        let handler = usize::from(row.handler_pc);
        let (landing, target) = (cursor.landing(handler), cursor.target(handler));
        if landing != target && shielded.insert(row.handler_pc) {
            add(out, landing, target, target, 0);
        }
    }
    for row in table.iter() {
        let (start, end, handler) =
            (usize::from(row.start_pc), usize::from(row.end_pc), usize::from(row.handler_pc));
        let landing = cursor.landing(handler);
        let covers_itself = (start..end).contains(&handler) && landing != cursor.target(handler);
        let index = if covers_itself {
            let first = (start < handler)
                .then(|| (cursor.landing(start), cursor.end(handler)))
                .map(|(from, to)| add(out, from, to, landing, row.catch_type));
            let (from, to) = (cursor.target(handler), cursor.end(end));
            let second = add(out, from, to, landing, row.catch_type);
            first.unwrap_or(second)
        } else {
            let (from, to) = (cursor.landing(start), cursor.end(end));
            add(out, from, to, landing, row.catch_type)
        };
        moved.push(index as u16);
    }
    for &(start, end) in &edits.covered {
        let (from, to) = (cursor.end(start as usize), cursor.end(end as usize));
        if from < to {
            add(out, from, to, unwind_pc, 0);
        }
    }
    let count = u16::try_from(rows).map_err(|_| SkipReason::ExceptionTableFull)?;
    out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
    Ok(())
}

/// Whether at least one byte is covered by the ranges that lead to the unwind handler.
pub(crate) fn covers_anything(relocation: &Relocation, edits: &Edits) -> bool {
    let mut cursor = relocation.cursor();
    edits.covered.iter().any(|&(start, end)| cursor.end(start as usize) < cursor.end(end as usize))
}
