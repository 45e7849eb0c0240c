//! What the transforms ask to be inserted into one method.

use super::Reason;
use crate::class_file::opcode::WIDE;

/// A short run of injected instructions: at most a call with five stack instructions on both sides.
///
/// It is one value of sixteen bytes, which a processor copies, extends and appends at once.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Snippet {
    /// The instructions, from the lowest byte on; in the highest byte their length.
    value: u128,
}

const LENGTH_SHIFT: u32 = 120;

impl Snippet {
    /// In bytes.
    pub(crate) fn length(self) -> usize {
        (self.value >> LENGTH_SHIFT) as usize
    }

    /// Appends the instructions to `out`.
    #[inline]
    pub(crate) fn append_to(self, out: &mut Vec<u8>) {
        let end = out.len() + self.length();
        out.extend_from_slice(&self.value.to_le_bytes());
        out.truncate(end);
    }

    /// Followed by `bytes`.
    ///
    /// # Panics
    /// There is [no room](Self::has_room).
    #[inline]
    pub(crate) fn with(self, bytes: &[u8]) -> Self {
        assert!(self.has_room(bytes.len()), "a snippet of more than fifteen bytes");
        let mut added = [0; 16];
        added[..bytes.len()].copy_from_slice(bytes);
        self.added(u128::from_le_bytes(added), bytes.len())
    }

    /// Followed by `next`, for which there must be room.
    #[inline]
    pub(crate) fn then(self, next: Self) -> Self {
        assert!(self.has_room(next.length()), "a snippet of more than fifteen bytes");
        self.added(next.value & ((1 << LENGTH_SHIFT) - 1), next.length())
    }

    #[inline]
    fn added(self, bytes: u128, length: usize) -> Self {
        Self { value: (self.value | bytes << (8 * self.length())) + ((length as u128) << LENGTH_SHIFT) }
    }

    /// Whether so many bytes more fit in.
    pub(crate) fn has_room(&self, length: usize) -> bool {
        self.length() + length <= 15
    }

    /// A load or store of a local variable.
    pub(crate) fn with_local(self, opcode: u8, index: u16) -> Self {
        match index.to_be_bytes() {
            [0, low] => self.with(&[opcode, low]),
            [high, low] => self.with(&[WIDE, opcode, high, low]),
        }
    }
}

/// Where a snippet stands relative to the boundary that its pc names. The order is the order in the code.
///
/// ```text
/// .. instruction in front of pc
///    AfterPrevious      reached only by falling through; branches to pc land behind it
///    (goto Target)      only in front of a landing or a detour, if the code in front falls through
///    (Pad: goto Target) reached only by exceptions of what stands between here and Target
///    Detours            reached only by some branches, then by some exceptions; see [`Detour`]. Each goes on at Target
///    Landing            reached only through the exception table: the handler's new start
/// Target:               where branches to pc arrive
///    Before             belongs to the instruction at pc; branches to pc pass through it
///    instruction at pc
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    AfterPrevious,
    /// Its snippet is empty: the `goto` is known only when the code is laid out.
    Pad,
    Landing,
    Before,
}

/// One insertion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Insertion {
    pub(crate) pc: u32,
    pub(crate) place: Place,
    pub(crate) snippet: Snippet,
}

/// All insertions of one method; a buffer that is used for one method after the other.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// In front of everything, the entry too: no branch and no range reaches it.
    pub(crate) first: Vec<Snippet>,
    /// In front of all but that: no branch and no range reaches it.
    pub(crate) entry: Option<Snippet>,
    /// Sorted by pc and place before they are applied.
    pub(crate) insertions: Vec<Insertion>,
    /// Sorted by pc and way before they are applied.
    pub(crate) detours: Vec<Detour>,
    pub(crate) region_handlers: Vec<RegionHandler>,
    /// A handler to append behind the code, its `athrow` by itself, and the old ranges that lead to it.
    pub(crate) unwind: Vec<Snippet>,
    /// Half-open ranges of old pcs, ascending, that lead to the handler.
    pub(crate) covered: Vec<(u32, u32)>,
    /// Slots that the insertions need on top of what the method has on its stack.
    pub(crate) extra_stack: u16,
    /// The least `max_stack` that the insertions need.
    pub(crate) least_stack: u16,
    /// Local variables behind the method's own that the insertions need, those that are kept first; of the others, no
    /// insertion expects what another one left there.
    pub(crate) extra_locals: u16,
    /// Of these, the first ones behind those that are kept: from in front of an instruction to behind it they keep
    /// their values.
    pub(crate) held_locals: u16,
    /// Local variables of ours that have a value everywhere in the method, so that every frame has them, too.
    pub(crate) kept: Vec<Counter>,
    /// What the ends of the method tell of the executed instructions; none: nothing.
    pub(crate) executed: Option<Executed>,
    /// For the account.
    pub(crate) sites: Sites,
}

/// A local variable behind the method's own that the entry sets and that keeps its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) index: u16,
    pub(crate) kept: Kept,
}

/// What is in such a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Int,
    Long,
    /// Index of the Class entry of the array's type.
    Array(u16),
}

impl Counter {
    pub(crate) fn is_long(self) -> bool {
        self.kept == Kept::Long
    }

    /// The local variables that it takes.
    pub(crate) fn slots(self) -> u16 {
        1 + u16::from(self.is_long())
    }
}

/// How many instructions a call has executed when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Executed {
    /// Always as many.
    Constant(u32),
    /// What is in the counter.
    Counter(Counter),
}

/// Code on the way to the instruction at `pc` that only some ways there lead over.
#[derive(Debug, Clone)]
pub(crate) struct Detour {
    pub(crate) pc: u32,
    pub(crate) way: Way,
    pub(crate) snippet: Snippet,
}

/// What leads over a [`Detour`]. Branches come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// The branches and switches at these pcs; it goes on where branches arrive.
    Branches(Vec<u32>),
    /// Exceptions from this half-open range; a copy of the landing follows.
    Exceptions((u32, u32)),
}

/// A handler to append behind the code for exceptions that nothing else in the method handles.
#[derive(Debug, Clone)]
pub(crate) struct RegionHandler {
    pub(crate) snippets: Vec<Snippet>,
    /// First pc of the region: what is inserted in front of its instruction is not covered. None: it is for the whole
    /// method.
    pub(crate) start: Option<u32>,
    /// Half-open ranges of old pcs, ascending, that lead to it.
    pub(crate) ranges: Vec<(u32, u32)>,
    /// Verification types of the local variables that it needs, which have these types in all of the ranges.
    pub(crate) locals: Vec<u8>,
}

/// How many call and allocation sites of one method were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sites {
    /// Allocations whose object cannot be handed to a probe.
    pub(crate) untracked: u32,
    /// Calls of a method `start()V`.
    pub(crate) starts: u32,
    /// Calls that hand over a wrapped task.
    pub(crate) hand_overs: u32,
    /// Calls that run a statement, or are told the text of one.
    pub(crate) statements: u32,
    /// Calls that make requests by HTTP, or serve them.
    pub(crate) requests: u32,
    /// Calls that open files.
    pub(crate) files: u32,
    /// Places that tell of remote calls.
    pub(crate) remote_calls: u32,
    /// Calls into libraries.
    pub(crate) library_calls: u32,
}

impl Edits {
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.entry = None;
        self.unwind.clear();
        self.insertions.clear();
        self.detours.clear();
        self.region_handlers.clear();
        self.covered.clear();
        self.extra_stack = 0;
        self.least_stack = 0;
        self.extra_locals = 0;
        self.held_locals = 0;
        self.kept.clear();
        self.executed = None;
        self.sites = Sites::default();
    }

    pub(crate) fn insert(&mut self, pc: u32, place: Place, snippet: Snippet) {
        self.insertions.push(Insertion { pc, place, snippet });
    }

    /// Notes that a snippet needs `extra` slots over whatever is on the stack.
    pub(crate) fn need_stack(&mut self, extra: u16) {
        self.extra_stack = self.extra_stack.max(extra);
    }

    /// Notes that an insertion uses `extra` local variables behind the method's own and those that are kept.
    pub(crate) fn need_locals(&mut self, extra: u16) {
        self.extra_locals = self.extra_locals.max(self.counter_slots() + extra);
    }

    /// How many local variables behind the method's own are taken.
    pub(crate) fn counter_slots(&self) -> u16 {
        self.kept.iter().map(|counter| counter.slots()).sum()
    }

    /// A local variable of ours that every frame has, behind those that are there.
    ///
    /// # Errors
    /// There are too many local variables.
    pub(crate) fn keep(&mut self, max_locals: u16, kept: Kept) -> Result<Counter, Reason> {
        let index = max_locals.checked_add(self.counter_slots()).ok_or(Reason::MaxLocals)?;
        let counter = Counter { index, kept };
        self.kept.push(counter);
        self.need_locals(0);
        Ok(counter)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty()
            && self.entry.is_none()
            && self.insertions.is_empty()
            && self.detours.is_empty()
            && self.region_handlers.is_empty()
    }

    pub(crate) fn sort(&mut self) {
        // Transforms work through the method in order, so this is close to sorted already.
        self.insertions.sort_by_key(|insertion| (insertion.pc, insertion.place));
        self.detours.sort_by(|a, b| (a.pc, &a.way).cmp(&(b.pc, &b.way)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_holds_fifteen_bytes_and_the_shortest_load_of_a_local() {
        let snippet = Snippet::default().with(&[1, 2]).with_local(3, 255).with_local(4, 256);
        let bytes = |snippet: Snippet| {
            let mut out = vec![9];
            snippet.append_to(&mut out);
            out.split_off(1)
        };
        assert_eq!(bytes(snippet), [1, 2, 3, 255, WIDE, 4, 1, 0]);
        assert!(snippet.has_room(7) && !snippet.has_room(8));
        let full = snippet.with(&[5; 7]);
        assert!(full.has_room(0) && !full.has_room(1));
        assert_eq!(bytes(full), [1, 2, 3, 255, WIDE, 4, 1, 0, 5, 5, 5, 5, 5, 5, 5]);
        let two =
            Snippet::default().with(&[1]).then(Snippet::default().with(&[2, 3])).then(Snippet::default());
        assert_eq!(bytes(two), [1, 2, 3]);
    }

    #[test]
    fn locals_of_ours_lie_behind_the_methods_and_those_that_are_kept_come_first() {
        let mut edits = Edits::default();
        let kept = [Kept::Int, Kept::Long, Kept::Array(9), Kept::Long];
        let counters = kept.map(|kept| edits.keep(10, kept).unwrap());
        assert_eq!(counters.map(|counter| counter.index), [10, 11, 13, 14]);
        assert_eq!(counters.map(Counter::is_long), [false, true, false, true]);
        assert_eq!(counters.map(Counter::slots), [1, 2, 1, 2]);
        assert_eq!((edits.counter_slots(), edits.extra_locals), (6, 6));
        edits.need_locals(3);
        edits.need_locals(2);
        assert_eq!(edits.extra_locals, 9);
        edits.need_stack(4);
        edits.need_stack(2);
        assert_eq!(edits.extra_stack, 4);
        assert_eq!(edits.keep(u16::MAX - 6, Kept::Int).map(|counter| counter.index), Ok(u16::MAX));
        assert_eq!(edits.keep(u16::MAX - 6, Kept::Int), Err(Reason::MaxLocals));
        edits.clear();
        assert_eq!((edits.counter_slots(), edits.extra_locals, edits.extra_stack), (0, 0, 0));
    }
}
