//! The ids of one run: what is numbered, what the current output carries, and what is looked out for.

use super::plan::LEFT;
use instrument_names::id_map::IdMap;
use instrument_names::pattern::MethodQuery;

/// One map of ids, and what was taken from it.
pub(super) struct Session<'a> {
    pub(super) ids: &'a mut IdMap,
    /// Patterns, and whether a method has matched.
    pub(super) watched: Vec<(MethodQuery, bool)>,
    /// Ids of the methods that matched one.
    pub(super) found: Vec<u32>,
    /// Ids that the current output carries.
    pub(super) used: Vec<u32>,
}

impl<'a> Session<'a> {
    pub(super) fn new(ids: &'a mut IdMap) -> Self {
        Self { ids, watched: Vec::new(), found: Vec::new(), used: Vec::new() }
    }

    /// The ids since the last output: sorted, each once.
    pub(super) fn take_used(&mut self) -> Vec<u32> {
        let mut used = std::mem::take(&mut self.used);
        used.sort_unstable();
        used.dedup();
        used
    }

    /// An output carries this id of a method, unless it is [`LEFT`].
    pub(super) fn use_id(&mut self, id: u32, class: &[u8], name: &[u8], descriptor: &[u8]) {
        if id == LEFT {
            return;
        }
        self.used.push(id);
        let mut found = false;
        for watched in &mut self.watched {
            let matches = watched.0.matches(class, name, descriptor);
            watched.1 |= matches;
            found |= matches;
        }
        if found {
            self.found.push(id);
        }
    }
}
