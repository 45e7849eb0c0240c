//! Which tree is wanted of several processes.

use super::paths::Way;

/// Which tree is wanted.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Of these parties alone: without what they did for others. Empty: all of them, below a virtual root.
    pub roots: Vec<usize>,
    /// What it did for others is told, by client; what others did for it is not. Of one root.
    pub is_server: bool,
    /// Calls that the runtime makes for itself are where they were made.
    pub internals: bool,
}

impl View {
    /// Whether all parties are shown with all that they did.
    pub(super) fn is_of_all(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether a party is one of the roots.
    pub(super) fn has(&self, party: usize) -> bool {
        self.is_of_all() || self.roots.contains(&party)
    }

    /// Whether it is the tree of some processes, with what others did for them.
    pub(super) fn is_of_client(&self) -> bool {
        !self.is_of_all() && !self.is_server
    }

    /// Whether a call is one that the runtime makes for itself, and such are not shown.
    pub(super) fn folds(&self, way: &Way) -> bool {
        way.is_internal && !self.internals
    }
}

/// The parties whose calls are no part of what another one asked for: there the execution begins. Who serves least
/// comes first: a server that hands work to other threads begins as well, but its clock is not the one that all are
/// compared with. None of them: the one that makes calls and serves none for others, but for those of the runtime's own; the first of those that serve least
/// if all do. Empty: there are no parties.
pub fn roots(numbers: &super::Numbers) -> Vec<usize> {
    let parties = 0..numbers.own.len();
    let mut begin: Vec<usize> = parties.clone().filter(|&party| numbers.outermost[party] > 0).collect();
    if !begin.is_empty() {
        begin.sort_by_key(|&party| numbers.own[party].1);
        return begin;
    }
    let rank = |party: &usize| {
        let (made, served) = numbers.own[*party];
        (made == 0, numbers.made[*party] == 0, served)
    };
    parties.min_by_key(rank).into_iter().collect()
}
