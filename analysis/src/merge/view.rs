//! Which tree is wanted of several processes.

use instrument_trace::{Error, Source};

use super::Party;
use super::matching::Matching;
use super::paths::Paths;
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

/// The party that makes calls and serves none, but for those of the runtime's own; the first that serves least if all do.
pub fn client(numbers: &super::Numbers) -> Option<usize> {
    let parties = 0..numbers.made.len();
    let serves =
        |party: usize| numbers.matched.keys().any(|&(client, server)| server == party && client != party);
    parties
        .clone()
        .find(|&party| numbers.made[party] > 0 && !serves(party))
        .or_else(|| parties.clone().next())
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
    let paths = Paths::new(parties, matching, &loaded.places)?;
    let model = &loaded.model;
    let is_process = |&id: &NodeId| {
        let node = model.node(id);
        node.kind == Kind::Process && node.parent == Arcflow::ROOT
    };
    let processes: Vec<NodeId> = model.ids().filter(is_process).collect();
    Ok(emit(model, &processes, &paths, labels, view))
}
