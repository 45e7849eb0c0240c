//! The processes of a dataset as one: the sums over their contexts, and the profile that has these.
//!
//! | module | |
//! |---|---|
//! | [`table`] | the files of a table, and the columns in them |
//! | [`processes`] | which processes are chosen, each once |
//! | [`sums`] | figures added up by thread and context |
//! | [`profile`] | the sums as a profile, which every report reads |
//!
//! A context is the same in every process ([`crate::context_key`]), so a sum over processes is one over equal keys. All figures that are
//! added up are whole numbers, so the sum does not depend on the order. The only others are the squares of times and the variances of estimates: they are
//! added in the order of the processes.

mod processes;
mod profile;
mod sums;
mod table;

use std::io::{Seek, Write};
use std::path::Path;

use crate::session::{Error, Message};

/// Which processes of a dataset are meant; what is not given chooses nothing.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// The label `service`.
    pub service: Option<String>,
    /// The label `build`.
    pub build: Option<String>,
    /// Recording began on this day or later: `2026-11-24`, UTC.
    pub since: Option<String>,
    /// Recording began on this day or earlier.
    pub until: Option<String>,
}

/// What a profile of many processes has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summed {
    /// Processes, each once.
    pub processes: u64,
    /// Contexts, in whatever thread.
    pub contexts: u64,
    pub calls: u64,
    /// What is to be said of it.
    pub messages: Vec<Message>,
}

/// Writes the sum over the chosen processes of a dataset as a profile.
///
/// # Errors
/// A file that cannot be read or is no table of a dataset; no process that is chosen; processes whose figures cannot be added up; an output
/// that cannot be written.
pub fn write_profile<W: Write + Seek>(dataset: &Path, chosen: &Chosen, out: W) -> Result<Summed, Error> {
    let processes = processes::Processes::read(dataset, chosen)?;
    let sums = sums::Sums::read(dataset, &processes)?;
    profile::write(&processes, &sums, out)
}
