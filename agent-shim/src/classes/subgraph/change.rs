//! Roots that are added and removed while the recording goes on: one retransformation for each request, and then the waves go on from there.

use super::waves::{follow_running, learn_entered, rewrite_changed};
use super::{Subgraph, lock, reflected};
use crate::jvmti::{Jni, Jvmti};
use crate::recording::agent::Agent;
use crate::recording::agent::Live;
use instrument_names::pattern::MethodQuery;
use std::collections::HashSet;
use std::time::Duration;

/// What one change took.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Classes that have the bytes again that they were loaded with.
    pub(crate) restored: usize,
    /// How long the virtual machine took to retransform all classes at once.
    pub(crate) time: Duration,
}

/// Rewrites the roots of these patterns and what is nearest to them.
pub(crate) fn add(
    agent: &Agent,
    live: &Live,
    subgraph: &Subgraph,
    (jvmti, jni): (Jvmti<'_>, Jni<'_>),
    patterns: Vec<MethodQuery>,
) -> Done {
    let _wave = lock(&subgraph.wave);
    learn_entered(agent, live, subgraph, jni);
    {
        let mut state = lock(&subgraph.state);
        let touched = state.graph.add_roots(patterns);
        state.changed.extend(touched);
        state.grow();
        state.hull = state.graph.hull();
    }
    let open = follow_running(agent, subgraph, jvmti, jni);
    let time = rewrite_changed(agent, live, subgraph, jvmti, jni).unwrap_or_default();
    open.tell(agent, live, jvmti, jni);
    let mut state = lock(&subgraph.state);
    if let Some(start) = state.start {
        // Calls before now may be missing, as those before any other wave.
        state.settled = start.elapsed();
    }
    Done { restored: 0, time }
}

/// Gives back what only the roots at these places in the list could call.
pub(crate) fn remove(
    agent: &Agent,
    live: &Live,
    subgraph: &Subgraph,
    (jvmti, jni): (Jvmti<'_>, Jni<'_>),
    places: &HashSet<usize>,
) -> Done {
    let _wave = lock(&subgraph.wave);
    // What was called by reflection beneath a root that goes is asked for anew.
    reflected::begin(jni);
    // What was entered decides what the other roots keep.
    learn_entered(agent, live, subgraph, jni);
    let bare = {
        let mut state = lock(&subgraph.state);
        let gone = state.graph.remove_roots(places);
        state.hull = state.graph.hull();
        let bare: Vec<Vec<u8>> = gone.iter().filter(|name| !state.graph.selects_of(name)).cloned().collect();
        state.changed.extend(gone);
        bare
    };
    let time = rewrite_changed(agent, live, subgraph, jvmti, jni).unwrap_or_default();
    Done { restored: agent.hook.were_rewritten(&bare), time }
}
