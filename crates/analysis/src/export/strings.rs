//! The string table of pprof's message and of those that come from it.

use std::collections::HashMap;

/// Texts by index; that of the empty one is 0, as these formats demand.
pub(super) struct Strings {
    indexes: HashMap<String, usize>,
    pub(super) all: Vec<String>,
}

impl Strings {
    pub(super) fn new() -> Strings {
        let mut strings = Strings { indexes: HashMap::new(), all: Vec::new() };
        strings.index("");
        strings
    }

    /// The index of a text, which is added if it is new.
    pub(super) fn index(&mut self, text: &str) -> usize {
        if let Some(&index) = self.indexes.get(text) {
            return index;
        }
        let index = self.all.len();
        self.indexes.insert(text.to_owned(), index);
        self.all.push(text.to_owned());
        index
    }
}
