//! The reports: what they have in common.
//!
//! | module | |
//! |---|---|
//! | [`screen`] | what a newcomer wants to know, on one screen |
//! | [`summary`] | the same and how it was recorded: program, duration, hot methods, checks |
//! | [`counts`] | entries, exits and other ends of every method's calls, and whether they balance |
//! | [`xprof`] | every consumer with its calls, base and cum |
//! | [`xtree`] | every context, as the tree that it is |
//! | [`xarc`] | every consumer with its callers and callees |
//! | [`stats`] | every method's calls: total, shortest, longest, average, standard deviation (seed 000, table 1) |
//! | [`latency`] | percentiles of how long calls took, and what the slowest did that a typical one did not |
//! | [`threads`] | one profile for each thread (seed 003) |
//! | [`thread_list`] | threads and pools of threads, one row each |
//! | [`monitors`] | what threads waited for, and who had it (seed 004) |
//! | [`matching`] | which remote calls of several processes found their other side |
//! | [`remote`] | remote calls by client, server and method, and single ones with all that was called within |
//! | [`merged`] | the reports of several processes that call each other |
//! | [`heap`] | what was made, what is left of it, how long the rest lived, what leaks |
//! | [`diff`] | what changed between two models |
//! | [`advise`] | what the next recording can leave out, and what it will cost then |
//!
//! Text is for people: figures are scaled, what is below a share of the whole may be cut and is summed up then, `~` marks what cannot
//! be told from nothing, `+-` is what a figure may be off by, as a figure or in percent of it ([`crate::uncertainty`]). JSON and CSV are
//! for programs: keys are stable, figures are as measured, in the resource's unit. `base`, `cum` and `total` are lists in the
//! order of `resources`.

pub mod advise;
mod aligned;
mod columns;
pub mod counts;
pub mod diff;
mod document;
mod focus;
pub mod fold;
pub mod heap;
mod interval;
pub(crate) mod labels;
pub mod latency;
pub mod latency_diff;
pub mod latency_worst;
pub(crate) mod machine;
pub mod matching;
pub mod merged;
pub mod monitors;
pub mod print;
pub mod remote;
mod rows;
pub mod screen;
pub mod stats;
mod style;
pub mod summary;
pub use crate::text;
pub mod thread_list;
pub mod threads;
pub mod xarc;
pub mod xprof;
pub mod xtree;

pub use machine::{field, is_formula};

use crate::model::{Arcflow, Kind};
use crate::thread_time::ThreadTime;
use crate::uncertainty::accompanies;
use instrument_names::word::words;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Aligned, for people.
    #[default]
    Text,
    /// One document.
    Json,
    /// One table.
    Csv,
}

/// What text shows of base and cum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Show {
    /// The figures.
    Absolute,
    /// Percent of the whole, as in the figures of the paper.
    Percent,
    #[default]
    Both,
}

words! {
    /// What rows are sorted by; the largest first, names from A to Z.
    Sort {
        Base = "base": "What a consumer consumed itself",
        Cum = "cum": "The same with all that it called",
        Calls = "calls": "Calls",
        Name = "name": "Name",
    }
}

/// A question to a consumer.
pub type Select<'a> = &'a (dyn Fn(Kind, &str) -> bool + Sync);

/// What is printed, and how.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    pub format: Format,
    /// Names of the resources; none: for text running time if it is there, else the first; for machines all.
    pub resources: &'a [String],
    /// Figures of text.
    pub show: Show,
    /// Order; by default base for xprof, cum for the others.
    pub sort: Option<Sort>,
    /// At most this many rows (xtree: contexts, those with the largest cum).
    pub top: Option<usize>,
    /// xtree: at most this many levels.
    pub depth: Option<usize>,
    /// xarc: at most this many callers and this many callees of a consumer.
    pub arcs: Option<usize>,
    /// Cut what has less than this share of the cum of the whole, from 0 to 1.
    pub prune: f64,
    /// Columns of the terminal.
    pub width: Option<usize>,
    /// Text is coloured, with bars and tree lines.
    pub colour: bool,
    /// Text shows the source file and first line of methods.
    pub lines: bool,
    /// xtree: what is folded.
    pub fold: fold::Fold,
    /// xtree: as JSON a list of contexts, each with the place of its caller in it, and not one within the other.
    pub flat: bool,
    /// xtree: the methods that stand on top, with what they called; who called them is told above.
    pub focus: Option<Select<'a>>,
    /// xtree: with a focus, only those calls of its methods that are made within these, the outermost first, at any depth.
    pub within: &'a [Select<'a>],
    /// Only these consumers (xtree: with their callers and all that they called).
    pub select: Option<Select<'a>>,
}

/// A question that a model cannot answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no resource `{name}` here; there is {known}")]
pub struct UnknownResource {
    /// What was asked for.
    pub name: String,
    pub known: String,
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model cannot answer.
    #[error(transparent)]
    Resource(#[from] UnknownResource),
    /// Nothing can be looked at.
    #[error("no method fits the focus (--focus), or none of its calls is made within the others (--within)")]
    NoFocus,
    /// There is nothing to be consumed.
    #[error("there are no figures: nothing but counts was recorded; `instrument report` prints them")]
    NoResource,
    /// Samples of different events.
    #[error("the runs do not measure the same: samples of {0} and of {1}")]
    OtherSamples(String, String),
    /// There are no waits.
    #[error("threads were not recorded: that takes `instrument run --monitors`")]
    NoWaits,
    /// The output failed.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// The output failed as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl Error {
    /// Why the output failed, if it did.
    pub fn io_kind(&self) -> Option<std::io::ErrorKind> {
        match self {
            Error::Output(error) => Some(error.kind()),
            Error::Json(error) => error.io_error_kind(),
            Error::Resource(_)
            | Error::NoFocus
            | Error::NoResource
            | Error::OtherSamples(..)
            | Error::NoWaits => None,
        }
    }

    /// Whether the question is wrong, not the output.
    pub fn is_request(&self) -> bool {
        matches!(
            self,
            Error::Resource(_)
                | Error::NoFocus
                | Error::NoResource
                | Error::OtherSamples(..)
                | Error::NoWaits
        )
    }
}

impl Options<'_> {
    /// Indices of the resources to show.
    ///
    /// # Errors
    /// A name that the model does not have.
    pub fn resources(&self, model: &Arcflow) -> Result<Vec<usize>, UnknownResource> {
        let all = model.resources();
        let shown: Vec<usize> = (0..all.len()).filter(|&i| !accompanies(&all[i])).collect();
        if self.resources.is_empty() {
            return Ok(match self.format {
                Format::Text => {
                    let running = ThreadTime::of(model).map(|time| time.running);
                    let usual = running.or(shown.first().copied()).into_iter();
                    usual.chain(model.beside.iter().filter_map(|name| model.resource(name))).collect()
                }
                _ => shown,
            });
        }
        let find = |name: &String| {
            shown.iter().copied().find(|&i| all[i].name == *name).ok_or_else(|| {
                let known: Vec<_> = shown.iter().map(|&i| all[i].name.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                UnknownResource { name: name.clone(), known }
            })
        };
        let mut found = Vec::new();
        for name in self.resources {
            let index = find(name)?;
            if !found.contains(&index) {
                found.push(index);
            }
        }
        Ok(found)
    }

    fn wants(&self, kind: Kind, name: &str) -> bool {
        self.select.is_none_or(|select| select(kind, name))
    }
}
