//! What tests of several modules need. Behind the feature `testing`.

use std::io;

use instrument_trace::{Error, Source};

use crate::export::timeline::{Thread, Timeline};
use crate::load::Loaded;
use crate::merge::{Matching, Merged, Party, View, tree_of};

/// [`crate::merge::tree`] with so many nodes, beyond which what was served is one node each.
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
    tree_of(parties, matching, loaded, labels, view, most)
}

/// Takes down what it is fed, as text.
#[derive(Debug, Default)]
pub struct Notes(pub String);

impl Timeline for Notes {
    fn thread(&mut self, thread: Thread<'_>) -> io::Result<()> {
        self.0 += &format!("[{} {}/{}]", thread.process, thread.process_name, thread.name);
        Ok(())
    }
    fn enter(&mut self, name: &str, at: u64) -> io::Result<()> {
        self.0 += &format!(" {at}>{name}");
        Ok(())
    }
    fn leave(&mut self, at: u64) -> io::Result<()> {
        self.0 += &format!(" {at}<");
        Ok(())
    }
    fn finish(&mut self) -> io::Result<()> {
        self.0 += " end";
        Ok(())
    }
}
