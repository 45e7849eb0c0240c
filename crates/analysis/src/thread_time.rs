//! Thread time and its two parts: a sum over threads, of which some was waiting and the rest running.
//!
//! | | corrected for the cost of recording | as measured |
//! |---|---|---|
//! | all of it | `wall` | `wall-raw` |
//! | running | `running` | `running-raw` |
//! | waiting | `waiting` | `waiting-raw` |
//!
//! A model that has no corrected time has parts of the measured one, and none has both. Where times are samples of CPU time, there are
//! `running` and `waiting` and no whole: how long a thread waited for a processor, or in calls that are not recorded, is not known.

use crate::model::{Arcflow, Kind};

/// The columns of the table.
const NAMES: [[&str; 3]; 2] = [[WALL, RUNNING, WAITING], ["wall-raw", "running-raw", "waiting-raw"]];

/// The name of running time, corrected or from samples.
pub(crate) const RUNNING: &str = "running";
/// The name of thread time, corrected or from samples of threads that run and wait.
pub(crate) const WALL: &str = "wall";
/// The name of waiting time.
pub(crate) const WAITING: &str = "waiting";

/// Indices of resources of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadTime {
    /// All of it, if it is known.
    pub whole: Option<usize>,
    /// What was running, as far as is known.
    pub running: usize,
    pub waiting: usize,
}

impl ThreadTime {
    /// Where they are; none if it is not known when threads waited.
    pub fn of(model: &Arcflow) -> Option<ThreadTime> {
        let [running, waiting] = [RUNNING, WAITING].map(|name| model.resource(name));
        if is_sampled(model) {
            return Some(ThreadTime { whole: None, running: running?, waiting: waiting? });
        }
        NAMES.iter().find_map(|names| {
            let [Some(whole), Some(running), Some(waiting)] = names.map(|name| model.resource(name)) else {
                return None;
            };
            Some(ThreadTime { whole: Some(whole), running, waiting })
        })
    }
}

/// Whether running time is that of samples.
pub fn is_sampled(model: &Arcflow) -> bool {
    model.resource("samples").is_some() && model.resource(RUNNING).is_some()
}

/// Whether calls were counted: where only stacks were sampled, no context was ever seen to be entered. Without any context there were none.
pub fn counts_calls(model: &Arcflow) -> bool {
    let mut methods = model.nodes().iter().filter(|node| node.kind == Kind::Method).peekable();
    model.sampled_resource().is_none() || methods.peek().is_none() || methods.any(|node| node.n > 0)
}

/// The names of running and waiting time.
pub(crate) fn parts(corrected: bool) -> [&'static str; 2] {
    let [_, running, waiting] = NAMES[usize::from(!corrected)];
    [running, waiting]
}

/// The name of the whole that a resource of a model is a part of.
pub(crate) fn whole_of(model: &Arcflow, name: &str) -> Option<&'static str> {
    if is_sampled(model) {
        return None;
    }
    NAMES.iter().find(|names| names[1..].contains(&name)).map(|names| names[0])
}
