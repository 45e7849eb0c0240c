//! Object ids as tags, and what else a tag carries while a dump is made.
//!
//! | bits | |
//! |---|---|
//! | 0-39 | number of the object: the heap profiler's, or one that is given to answer requests, or ours |
//! | 39 | with bit 40: the number is ours |
//! | 40 | the number is not the heap profiler's. Bits 0-40, times [`ALIGNMENT`], are the id in the file |
//! | 41-61 | of a class: its index + 1. Of an array: its length + 1, which is not told again when its elements come; all ones: see the table |
//! | 62 | the walk has met the object: its record is in the file, or will be |

use std::collections::HashMap;

const NUMBER: i64 = (1 << 40) - 1;
const OTHERS: i64 = 1 << 40;
const OURS: i64 = OTHERS | 1 << 39;
const ID: i64 = OTHERS | NUMBER;
const CODE_SHIFT: u32 = 41;
const CODE: i64 = (1 << 21) - 1;
const MET: i64 = 1 << 62;

/// What nothing that JVMTI reports leads to, until it gets a number.
pub(super) const LEFT_OVER: i64 = OTHERS | NUMBER;
/// The array that the walk of those begins with.
pub(super) const START: i64 = MET | OTHERS | (NUMBER - 1);

/// Ids in the file are multiples of it, as the addresses of a virtual machine's own dumps are: some readers count on it.
pub(super) const ALIGNMENT: u64 = 8;

/// The tag of an object that a search for [holders](super::holders) has numbered, from 1. No number of the heap profiler's is in it.
pub(super) fn of_walked(number: u32) -> i64 {
    MET | OURS | i64::from(number)
}

/// That number; none: the tag is another's.
pub(super) fn walked(tag: i64) -> Option<u32> {
    let is_walked = tag & (MET | OURS) == MET | OURS && !has_length(tag);
    if is_walked { u32::try_from(tag & (NUMBER >> 1)).ok().filter(|number| *number > 0) } else { None }
}

/// The id in the file.
pub(super) fn id(tag: i64) -> u64 {
    (tag & ID) as u64 * ALIGNMENT
}

/// Whether the walk has met the object.
pub(super) fn is_met(tag: i64) -> bool {
    tag & MET != 0
}

/// The index of a class, of its tag.
pub(super) fn class_index(tag: i64) -> Option<usize> {
    usize::try_from(tag >> CODE_SHIFT & CODE).ok()?.checked_sub(1)
}

/// Whether the object is an array, of the tag of one that is no class.
pub(super) fn has_length(tag: i64) -> bool {
    tag >> CODE_SHIFT & CODE != 0
}

/// What the heap profiler knows an object by.
pub(super) fn tracked(id: u64) -> Option<u64> {
    Some(id / ALIGNMENT).filter(|number| *number < OTHERS as u64)
}

/// The tag that is to stay when the dump is done; 0: none.
pub(super) fn restored(tag: i64) -> i64 {
    if tag & OURS == OURS { 0 } else { tag & ID }
}

/// Gives numbers to objects that have none.
#[derive(Debug, Default)]
pub(super) struct Tags {
    last: i64,
    /// Lengths that do not fit into a tag. There are few: such an array has 4 MB or more.
    long_arrays: HashMap<u64, u32>,
}

impl Tags {
    /// The last id that was given; the next one is greater.
    pub(super) fn given(&self) -> u64 {
        id(OURS | self.last)
    }

    /// The tag of an object that is met, or has been: with its number, if it has one. None: there are no more.
    pub(super) fn visit(&mut self, tag: i64, length: Option<u32>) -> Option<i64> {
        let code = match length.map(|length| i64::from(length) + 1) {
            None => 0,
            Some(code) => code.min(CODE),
        };
        let tag = self.numbered(tag)? | code << CODE_SHIFT | MET;
        if let Some(length) = length.filter(|_| code == CODE) {
            self.long_arrays.insert(id(tag), length);
        }
        Some(tag)
    }

    /// A number for an object that has none, which the walk has still to meet.
    pub(super) fn number(&mut self) -> i64 {
        self.numbered(0).unwrap_or(0)
    }

    /// The tag of a class. None: there are too many.
    pub(super) fn class(&mut self, tag: i64, index: usize) -> Option<i64> {
        let code = i64::try_from(index + 1).ok().filter(|code| *code < CODE)?;
        Some(self.numbered(tag)? | code << CODE_SHIFT | MET)
    }

    /// The length of an array, of its tag.
    pub(super) fn length(&self, tag: i64) -> u32 {
        match tag >> CODE_SHIFT & CODE {
            CODE => self.long_arrays.get(&id(tag)).copied().unwrap_or(0),
            code => (code - 1).max(0) as u32,
        }
    }

    fn numbered(&mut self, tag: i64) -> Option<i64> {
        let known = tag & ID;
        if known != 0 && known != LEFT_OVER {
            return Some(known);
        }
        self.last += 1;
        (self.last < (NUMBER >> 1) - 1).then_some(OURS | self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_carries_what_the_walk_needs_and_leaves_the_profilers_number() {
        let mut tags = Tags::default();
        let ours = tags.visit(0, None).unwrap();
        assert_eq!((id(ours), tracked(id(ours)), restored(ours)), (((3 << 39) + 1) * 8, None, 0));
        let theirs = tags.visit(77, Some(5)).unwrap();
        assert_eq!((id(theirs), tracked(id(theirs)), restored(theirs)), (77 * 8, Some(77), 77));
        assert!(is_met(ours) && is_met(theirs) && !is_met(77) && !is_met(LEFT_OVER) && is_met(START));
        assert_eq!((tags.length(theirs), tags.length(ours)), (5, 0));
        let asked = tags.visit((1 << 40) + 5, None).unwrap();
        assert_eq!(
            (id(asked), tracked(id(asked)), restored(asked)),
            (((1 << 40) + 5) * 8, None, (1 << 40) + 5)
        );
        assert_eq!(tags.given(), id(ours));
        for length in [0, 1, (1 << 21) - 3, (1 << 21) - 2, (1 << 21) - 1, i32::MAX as u32] {
            let tag = tags.visit(0, Some(length)).unwrap();
            assert!(tag > 0);
            assert_eq!(tags.length(tag), length);
        }
        assert_eq!(tags.long_arrays.len(), 3);
        assert_eq!(class_index(tags.class(77, 4).unwrap()), Some(4));
        assert_eq!((class_index(0), class_index(77)), (None, None));
        assert_eq!(tags.class(0, 1 << 21), None);
        assert_ne!(id(tags.visit(LEFT_OVER, None).unwrap()), id(LEFT_OVER));
        assert_eq!((restored(LEFT_OVER), restored(START)), (0, 0));
        assert_eq!(walked(of_walked(u32::MAX)), Some(u32::MAX));
        assert_eq!((tracked(id(of_walked(7))), class_index(of_walked(7))), (None, None));
        assert_eq!((walked(0), walked(77), walked(tags.class(0, 4).unwrap())), (None, None, None));
    }
}
