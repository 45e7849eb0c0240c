//! Profiles of several processes: which remote call made here is which one served there, without clocks (seed 000).
//!
//! | module | |
//! |---|---|
//! | [`processes`] | profiles opened, each process once, with their calls matched, and what is made of them |
//! | [`calls`] | what is kept of every remote call, a few bytes each |
//! | [`matching`] | made and served calls find each other |
//! | [`keys`] | requests by HTTP do |
//! | [`numbers`] | how many did, and why the others did not |
//! | [`offsets`] | by how much their clocks differ, for display |
//! | [`services`] | calls added up by who made them, who served them, and the method |
//! | [`waterfalls`] | the slowest outermost calls, each with all that was called within |
//! | [`nesting`] | which call was made within which, and what calls are called, for exports |
//! | [`view`] | the execution tree over all processes, or of one with all that was done for it |
//!
//! Clocks of different processes are never compared to match calls or to make the tree.

pub mod calls;
mod connections;
mod keys;
mod leftovers;
pub mod matching;
pub mod nesting;
pub mod numbers;
pub mod offsets;
mod parts;
mod paths;
mod places;
pub mod processes;
mod receivers;
pub mod services;
mod sites;
mod spans;
mod tree;
pub mod view;
pub mod waterfalls;

use instrument_trace::{Error, Profile, RemoteCall, Source};

use crate::hash::HashMap;
use crate::load::Loaded;
use crate::model::{Arcflow, Kind, NodeId};
use calls::Numbering;
use paths::Paths;

pub use calls::{MatchState, MatchedBy, Matching, Peer, Reason, Rows};
pub use matching::match_calls;
pub use nesting::{Nesting, Root};
pub use numbers::Numbers;
pub use offsets::Offsets;
pub use paths::Stages;
pub use processes::{Calls, Processes};
pub use tree::{Merged, is_between};
pub use view::View;

/// The times of the calls between processes, by client and server.
pub type AllStages = std::collections::BTreeMap<(usize, usize), Stages>;

/// A profile to be merged with others.
#[derive(Debug, Clone, Copy)]
pub struct Party<'a, S> {
    pub profile: &'a Profile,
    /// What it was read from.
    pub source: &'a S,
}

impl<S: Source> Party<'_, S> {
    /// Whether records of it may be missing: it was cut, damaged, or could not record everything.
    pub fn is_incomplete(&self) -> bool {
        let profile = self.profile;
        profile.is_cut
            || !profile.damage.is_empty()
            || profile.dropped > 0
            || profile.threads.iter().any(|thread| thread.stopped || thread.dropped > 0)
    }

    /// Visits its calls with their rows.
    ///
    /// # Errors
    /// When the source fails, or has other calls than when they were matched.
    pub(crate) fn visit(
        &self,
        mut rows: Numbering,
        mut visit: impl FnMut(u32, &RemoteCall),
    ) -> Result<(), Error> {
        self.profile.visit_remote_calls(self.source, |call| {
            if let Some(row) = rows.next(call.kind) {
                visit(row, call);
            }
        })?;
        rows.finish(self.profile)
    }

    /// How much is in it, to be compared with that of a copy: remote calls, soundness, calls of methods, the last
    /// moment.
    pub(crate) fn fullness(&self) -> Result<(u64, bool, u64, u64), Error> {
        let profile = self.profile;
        let mut calls = 0;
        profile.visit_remote_calls(self.source, |_| calls += 1)?;
        let mut entries = 0u64;
        for thread in &profile.threads {
            let nodes = thread.tree.iter().flat_map(|tree| &tree.nodes).map(|node| node.entries);
            let methods = thread.methods.values().map(|method| method.entries);
            entries = nodes.chain(methods).fold(entries, u64::saturating_add);
        }
        Ok((calls, profile.damage.is_empty(), entries, profile.beat_clock))
    }

    /// Whether recording was paused: then calls are missing from a whole profile.
    pub fn was_paused(&self) -> bool {
        !self.profile.pauses.is_empty()
    }
}

/// For each party the index of another one of the same process that has more, if there is one: a copy of the same file,
/// or one of another moment.
///
/// # Errors
/// When a source fails.
pub fn fuller_copies<S: Source>(parties: &[Party<'_, S>]) -> Result<Vec<Option<usize>>, Error> {
    let key = |of: &Party<'_, S>| {
        let profile = of.profile;
        (profile.nonce != 0).then_some((profile.nonce, profile.pid, profile.start_ms))
    };
    let mut copies: HashMap<_, Vec<usize>> = HashMap::default();
    for (at, party) in parties.iter().enumerate() {
        if let Some(key) = key(party) {
            copies.entry(key).or_default().push(at);
        }
    }
    let mut fuller = vec![None; parties.len()];
    for copies in copies.into_values().filter(|copies| copies.len() > 1) {
        let mut best = (parties[copies[0]].fullness()?, copies[0]);
        for &at in &copies[1..] {
            let fullness = parties[at].fullness()?;
            if fullness > best.0 {
                best = (fullness, at);
            }
        }
        for at in copies.into_iter().filter(|&at| at != best.1) {
            fuller[at] = Some(best.1);
        }
    }
    Ok(fuller)
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
    tree_of_at_most(tree::MOST_NODES, parties, matching, loaded, labels, view)
}

/// As [`tree`]; where it has more nodes than `most`, what was served is one node each.
///
/// # Errors
/// When a source fails.
pub fn tree_of_at_most<S: Source>(
    most: usize,
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
    Ok(tree::emit(model, &loaded.contexts, &processes, &paths, labels, view, most))
}
