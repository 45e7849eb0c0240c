//! Profiles of several processes: which remote call made here is which one served there, without clocks (seed 000).
//!
//! | module | |
//! |---|---|
//! | [`calls`] | what is kept of every remote call, a few bytes each |
//! | [`matching`] | made and served calls find each other |
//! | [`numbers`] | how many did, and why the others did not |
//! | [`offsets`] | by how much their clocks differ, for display |
//! | [`nesting`] | which call was made within which, and what calls are called, for exports |
//! | [`view`] | the execution tree over all processes, or of one with all that was done for it |
//!
//! Clocks of different processes are never compared to match calls or to make the tree.

pub mod calls;
mod connections;
mod leftovers;
pub mod matching;
pub mod nesting;
pub mod numbers;
pub mod offsets;
mod paths;
mod sites;
mod tree;
pub mod view;

use instrument_trace::{Profile, Source};

pub use calls::{Fate, How, Reason, Rows};
pub use matching::{Matching, match_calls};
pub use nesting::Nesting;
pub use numbers::Numbers;
pub use offsets::Offsets;
pub use paths::Stages;
pub use tree::Merged;
pub use view::View;

/// A profile to be merged with others.
#[derive(Debug, Clone, Copy)]
pub struct Party<'a, S> {
    /// The profile.
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

    /// Whether recording was paused: then calls are missing from a whole profile.
    pub fn was_paused(&self) -> bool {
        !self.profile.pauses.is_empty()
    }
}

/// For each profile the index of an earlier one of the same process, if there is one: a copy of the same file, or one of another moment.
pub fn same_process(profiles: &[&Profile]) -> Vec<Option<usize>> {
    let key =
        |profile: &Profile| (profile.nonce != 0).then_some((profile.nonce, profile.pid, profile.start_ms));
    let first = |(at, profile): (usize, &&Profile)| {
        let own = key(profile)?;
        profiles[..at].iter().position(|other| key(other) == Some(own))
    };
    profiles.iter().enumerate().map(first).collect()
}
