//! Which tree is wanted of several processes.

use super::paths::Way;

/// Which tree is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct View {
    /// Of this party alone: without what it did for others. None: all of them, below a virtual root.
    pub root: Option<usize>,
    /// What it did for others is told, by client; what others did for it is not.
    pub is_server: bool,
    /// Calls that the runtime makes for itself are where they were made.
    pub internals: bool,
}

impl View {
    /// Whether it is the tree of one process, with what others did for it.
    pub(super) fn is_of_client(&self) -> bool {
        self.root.is_some() && !self.is_server
    }

    /// Whether a call is one that the runtime makes for itself, and such are not shown.
    pub(super) fn folds(&self, way: &Way) -> bool {
        way.is_internal && !self.internals
    }
}

/// The party that makes calls and serves none for others, but for those of the runtime's own; the first of those that
/// serve least if all do. None: there are no parties.
pub fn client(numbers: &super::Numbers) -> Option<usize> {
    let rank = |party: &usize| {
        let (made, served) = numbers.own[*party];
        (made == 0, numbers.made[*party] == 0, served)
    };
    (0..numbers.own.len()).min_by_key(rank)
}
