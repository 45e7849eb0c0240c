//! What the transforms ask to be inserted into one method.

/// A short run of injected instructions: at most `push id` (3 bytes), `invokestatic` (3), `athrow` (1).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Snippet {
    bytes: [u8; 8],
    length: u8,
}

impl Snippet {
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    pub(crate) fn with(mut self, bytes: &[u8]) -> Self {
        let start = usize::from(self.length);
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len() as u8;
        self
    }
}

/// Where a snippet stands relative to the boundary that its pc names. The order is the order in the code.
///
/// ```text
/// .. instruction in front of pc
///    AfterPrevious      reached only by falling through; branches to pc land behind it
///    (goto Target)      only in front of a landing, if the code in front falls through
///    Landing            reached only through the exception table: the handler's new start
/// Target:               where branches to pc arrive
///    Before             belongs to the instruction at pc; branches to pc pass through it
///    instruction at pc
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    AfterPrevious,
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
    /// In front of everything: no branch and no range reaches it.
    pub(crate) entry: Option<Snippet>,
    /// Sorted by pc and place before they are applied.
    pub(crate) insertions: Vec<Insertion>,
    /// A handler to append behind the code, and the old ranges that lead to it.
    pub(crate) unwind: Option<Snippet>,
    /// Half-open ranges of old pcs, ascending, that lead to the handler.
    pub(crate) covered: Vec<(u32, u32)>,
    /// Slots that the insertions need on top of what the method has on its stack.
    pub(crate) extra_stack: u16,
    /// The least `max_stack` that the insertions need.
    pub(crate) least_stack: u16,
    /// Allocation sites whose object cannot be handed to a probe.
    pub(crate) untracked_sites: u32,
}

impl Edits {
    pub(crate) fn clear(&mut self) {
        self.entry = None;
        self.unwind = None;
        self.insertions.clear();
        self.covered.clear();
        self.extra_stack = 0;
        self.least_stack = 0;
        self.untracked_sites = 0;
    }

    pub(crate) fn insert(&mut self, pc: u32, place: Place, snippet: Snippet) {
        self.insertions.push(Insertion { pc, place, snippet });
    }

    /// Notes that a snippet needs `extra` slots over whatever is on the stack.
    pub(crate) fn need_stack(&mut self, extra: u16) {
        self.extra_stack = self.extra_stack.max(extra);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entry.is_none() && self.insertions.is_empty()
    }

    pub(crate) fn sort(&mut self) {
        // Transforms work through the method in order, so this is close to sorted already.
        self.insertions.sort_by_key(|insertion| (insertion.pc, insertion.place));
    }
}
