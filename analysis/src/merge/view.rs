//! Which tree is wanted of several processes.

use instrument_trace::{Error, Source};

use super::Party;
use super::matching::Matching;
use super::paths::{Paths, Way};
use super::tree::{Merged, emit};
use crate::load::Loaded;
use crate::model::{Arcflow, Kind, NodeId};

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
    /// Whether a call is one that the runtime makes for itself, and such are not shown.
    pub(super) fn folds(&self, way: &Way) -> bool {
        way.is_internal && !self.internals
    }
}

/// The party that makes calls and serves none for others, but for those of the runtime's own; the first of those that serve least if all do.
/// None: there are no parties.
pub fn client(numbers: &super::Numbers) -> Option<usize> {
    let rank = |party: &usize| {
        let (made, served) = numbers.own[*party];
        (made == 0, numbers.made[*party] == 0, served)
    };
    (0..numbers.own.len()).min_by_key(rank)
}

/// Builds the tree. `loaded` is of all parties in their order, with what was served under different links apart.
///
/// # Errors
/// When a source fails.
pub fn tree<S: Source>(
    parties: &[Party<'_, S>],
    matching: &Matching,
    loaded: &Loaded,
    labels: &[String],
    view: &View,
) -> Result<Merged, Error> {
    let model = &loaded.model;
    let paths = Paths::new(parties, matching, &loaded.places, model)?;
    let is_process = |&id: &NodeId| {
        let node = model.node(id);
        node.kind == Kind::Process && node.parent == Arcflow::ROOT
    };
    let processes: Vec<NodeId> = model.ids().filter(is_process).collect();
    Ok(emit(model, &processes, &paths, labels, view))
}
