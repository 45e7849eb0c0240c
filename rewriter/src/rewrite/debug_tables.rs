//! LineNumberTable (JVMS 4.7.12), LocalVariableTable (4.7.13), LocalVariableTypeTable (4.7.14).
//!
//! A table that contradicts its own count is copied as it was: the JVM judges it as before. So it does a row that leads
//! out of the code or of the constant pool, both of which are longer now: it gets a pc or an index that neither can
//! have.

use super::relocation::Relocation;
use crate::code::constant_pool_appender::NO_INDEX;

/// A pc that lies in no code array: none is longer (JVMS 4.7.3).
const NOWHERE: u16 = u16::MAX;

/// Appends a LineNumberTable's `info`; `code_length` is that of the old code.
pub(crate) fn write_line_numbers(
    info: &[u8],
    code_length: usize,
    relocation: &Relocation,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(info);
    let rows = &mut out[start..];
    if rows.len() < 2 || rows.len() != 2 + 4 * usize::from(u16::from_be_bytes([rows[0], rows[1]])) {
        return;
    }
    for row in rows[2..].as_chunks_mut::<4>().0 {
        let pc = usize::from(u16::from_be_bytes([row[0], row[1]]));
        let moved = if pc < code_length { relocation.source(pc) as u16 } else { NOWHERE };
        row[..2].copy_from_slice(&moved.to_be_bytes());
    }
}

/// Appends the `info` of a LocalVariableTable or LocalVariableTypeTable: both have the same shape. `code_length` and
/// `pool_count` are those of the old class.
pub(crate) fn write_local_variables(
    info: &[u8],
    code_length: usize,
    pool_count: u16,
    relocation: &Relocation,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(info);
    let rows = &mut out[start..];
    if rows.len() < 2 || rows.len() != 2 + 10 * usize::from(u16::from_be_bytes([rows[0], rows[1]])) {
        return;
    }
    for row in rows[2..].as_chunks_mut::<10>().0 {
        let word = |at: usize| u16::from_be_bytes([row[at], row[at + 1]]);
        let [start, length, name, descriptor] = [0, 2, 4, 6].map(word);
        if start as usize >= code_length || start as usize + length as usize > code_length {
            row[..2].copy_from_slice(&NOWHERE.to_be_bytes());
        } else {
            write_range(row, relocation);
        }
        // Name and descriptor, or signature.
        if name >= pool_count || descriptor >= pool_count {
            row[4..6].copy_from_slice(&NO_INDEX.to_be_bytes());
        }
    }
}

/// Moves a `start_pc, length` pair at the front of `row`.
#[inline]
pub(crate) fn write_range<const WIDTH: usize>(row: &mut [u8; WIDTH], relocation: &Relocation) {
    let start = usize::from(u16::from_be_bytes([row[0], row[1]]));
    let length = usize::from(u16::from_be_bytes([row[2], row[3]]));
    let new_start = relocation.source(start);
    let new_end = relocation.end(start + length);
    let new_length = if length == 0 { 0 } else { new_end.saturating_sub(new_start) };
    row[..2].copy_from_slice(&(new_start as u16).to_be_bytes());
    row[2..4].copy_from_slice(&(new_length as u16).to_be_bytes());
}

#[cfg(test)]
mod tests;
