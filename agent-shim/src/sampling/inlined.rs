//! Which instructions of a compiled method are a probe that was compiled into it. HotSpot tells with each method where the code of which inlined methods
//! lies (`jvmticmlr.h`): a row for each piece of code, by the address of its last instruction.

use crate::jvmti::Environment;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ops::Range;

const INLINE_INFO: c_int = 2;

/// `jvmtiCompiledMethodLoadRecordHeader`.
#[repr(C)]
struct Header {
    kind: c_int,
    version: [c_int; 2],
    next: *const Header,
}

/// `jvmtiCompiledMethodLoadInlineRecord`.
#[repr(C)]
struct Inlined {
    header: Header,
    count: c_int,
    rows: *const Row,
}

/// `PCStackInfo`: the methods whose code this is, innermost first.
#[repr(C)]
struct Row {
    address: usize,
    count: c_int,
    methods: *const *mut c_void,
    bytecodes: *const c_int,
}

/// The pieces of a compiled method that are probes, as offsets from its beginning.
///
/// # Safety
/// `info` is what the callback was given, and `jvmti` its environment.
pub(super) unsafe fn probes(
    jvmti: Environment,
    (start, bytes): (usize, usize),
    info: *const c_void,
) -> Vec<Range<usize>> {
    let mut known: HashMap<usize, bool> = HashMap::new();
    let mut is_ours =
        |method: *mut c_void| *known.entry(method as usize).or_insert_with(|| super::is_ours(jvmti, method));
    let mut rows = Vec::new();
    let mut header = info.cast::<Header>();
    // SAFETY: records are chained up to null; their kind tells what they are, and arrays are as long as they say.
    unsafe {
        while let Some(record) = header.as_ref() {
            if record.kind == INLINE_INFO {
                let inlined = &*header.cast::<Inlined>();
                for row in pieces(inlined.rows, inlined.count) {
                    let is_probe = pieces(row.methods, row.count).iter().any(|&method| is_ours(method));
                    rows.push((row.address.saturating_sub(start), is_probe));
                }
            }
            header = record.next;
        }
    }
    ranges(rows, bytes)
}

/// An array of the virtual machine's.
///
/// # Safety
/// It has so many elements.
unsafe fn pieces<'a, T>(first: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: see above.
        Ok(count) if count > 0 && !first.is_null() => unsafe { std::slice::from_raw_parts(first, count) },
        _ => &[],
    }
}

/// Ranges from the last instructions of pieces, and whether these are probes.
fn ranges(mut rows: Vec<(usize, bool)>, bytes: usize) -> Vec<Range<usize>> {
    rows.sort_by_key(|(last, _)| *last);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut begin = 0;
    for (last, is_probe) in rows {
        let end = (last + 1).min(bytes);
        match ranges.last_mut() {
            _ if !is_probe || end <= begin => {}
            Some(before) if before.end == begin => before.end = end,
            _ => ranges.push(begin..end),
        }
        begin = begin.max(end);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_begins_behind_the_one_before_it() {
        let rows = vec![(40, true), (9, false), (20, true), (50, false), (70, true), (200, true)];
        assert_eq!(ranges(rows, 100), [10..41, 51..100]);
        assert!(ranges(vec![(5, false)], 100).is_empty() && ranges(Vec::new(), 100).is_empty());
    }
}
