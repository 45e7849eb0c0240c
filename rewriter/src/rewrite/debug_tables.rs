//! LineNumberTable (JVMS 4.7.12), LocalVariableTable (4.7.13), LocalVariableTypeTable (4.7.14).
//!
//! A table that contradicts its own count is copied as it was: the JVM judges it as before.

use super::relocation::Relocation;

/// Appends a LineNumberTable's `info`.
pub(crate) fn write_line_numbers(info: &[u8], relocation: &Relocation, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(info);
    let rows = &mut out[start..];
    if rows.len() < 2 || rows.len() != 2 + 4 * usize::from(u16::from_be_bytes([rows[0], rows[1]])) {
        return;
    }
    let mut cursor = relocation.cursor();
    for row in rows[2..].chunks_exact_mut(4) {
        let pc = usize::from(u16::from_be_bytes([row[0], row[1]]));
        row[..2].copy_from_slice(&(cursor.source(pc) as u16).to_be_bytes());
    }
}

/// Appends the `info` of a LocalVariableTable or LocalVariableTypeTable: both have the same shape.
pub(crate) fn write_local_variables(info: &[u8], relocation: &Relocation, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(info);
    let rows = &mut out[start..];
    if rows.len() < 2 || rows.len() != 2 + 10 * usize::from(u16::from_be_bytes([rows[0], rows[1]])) {
        return;
    }
    for row in rows[2..].chunks_exact_mut(10) {
        write_range(row, relocation);
    }
}

/// Moves a `start_pc, length` pair at the front of `row`.
pub(crate) fn write_range(row: &mut [u8], relocation: &Relocation) {
    let start = usize::from(u16::from_be_bytes([row[0], row[1]]));
    let length = usize::from(u16::from_be_bytes([row[2], row[3]]));
    let mut cursor = relocation.cursor();
    let new_start = cursor.source(start);
    let new_end = cursor.end(start + length);
    let new_length = if length == 0 { 0 } else { new_end.saturating_sub(new_start) };
    row[..2].copy_from_slice(&(new_start as u16).to_be_bytes());
    row[2..4].copy_from_slice(&(new_length as u16).to_be_bytes());
}
