//! Thread time and its two parts: a sum over threads, of which some was waiting and the rest running.
//!
//! | | corrected for the cost of recording | as measured |
//! |---|---|---|
//! | all of it | `wall` | `wall-raw` |
//! | running | `running` | `running-raw` |
//! | waiting | `waiting` | `waiting-raw` |
//!
//! A model that has no corrected time has parts of the measured one, and none has both.

use crate::model::Arcflow;

/// The columns of the table.
const NAMES: [[&str; 3]; 2] = [["wall", "running", "waiting"], ["wall-raw", "running-raw", "waiting-raw"]];

/// Indices of resources of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadTime {
    /// All of it.
    pub whole: usize,
    /// What was running, as far as is known.
    pub running: usize,
    /// What was waiting.
    pub waiting: usize,
}

impl ThreadTime {
    /// Where they are; none if it is not known when threads waited.
    pub fn of(model: &Arcflow) -> Option<ThreadTime> {
        NAMES.iter().find_map(|names| {
            let [Some(whole), Some(running), Some(waiting)] = names.map(|name| model.resource(name)) else {
                return None;
            };
            Some(ThreadTime { whole, running, waiting })
        })
    }
}

/// The names of running and waiting time.
pub(crate) fn parts(corrected: bool) -> [&'static str; 2] {
    let [_, running, waiting] = NAMES[usize::from(!corrected)];
    [running, waiting]
}

/// The name of the whole that a resource is a part of.
pub(crate) fn whole_of(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|names| names[1..].contains(&name)).map(|names| names[0])
}
