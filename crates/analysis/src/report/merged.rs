//! The reports of processes that call each other: which calls were matched, and the tree over all of them.

use std::io::Write;

use super::document::{Document, Member};
use super::{Error, Format, Options, matching, stats, xarc, xprof, xtree};
use crate::arcs::Arcs;
use crate::merge::{AllStages, Numbers, Offsets};
use crate::session::Session;
use instrument_names::word::words;

words! {
    /// What is printed.
    Report {
        Matching = "matching": "Which calls were matched, and why others were not",
        Services = "services": "Who called what of whom: calls, failures, and times at both ends",
        Calls = "calls": "The slowest single outermost calls, each with all calls that were made within it, at both ends",
        Xtree = "xtree": "Every context, as a tree",
        Xprof = "xprof": "Every consumer",
        Xarc = "xarc": "Every consumer with callers and callees",
        Stats = "stats": "Every method's calls, in all processes; with --process FILE those in its tree, of which no shortest and longest is known",
    }
}

/// What is known of the calls of several processes.
pub struct MatchedCalls<'a> {
    /// What the processes are called.
    pub labels: &'a [String],
    /// How many calls were matched.
    pub numbers: &'a Numbers,
    /// By which steps.
    pub stages: &'a AllStages,
    /// How their clocks compare.
    pub offsets: &'a Offsets,
}

impl MatchedCalls<'_> {
    /// Whether a report has no tree: it is about the matching alone, or a CSV table, of which there can be one only.
    pub fn is_alone(report: Option<Report>, format: Format) -> bool {
        report == Some(Report::Matching) || (report.is_none() && format == Format::Csv)
    }

    /// Writes which calls were matched.
    ///
    /// # Errors
    /// The output failed.
    pub fn write(&self, out: &mut dyn Write, format: Format) -> Result<(), Error> {
        matching::write(out, self.labels, self.numbers, self.stages, self.offsets, format)
    }

    /// Writes a report of the merged model; without a choice the matching, and the tree.
    ///
    /// # Errors
    /// The output failed.
    pub fn write_tree(
        &self,
        out: &mut dyn Write,
        report: Option<Report>,
        session: &Session,
        arcs: &Arcs,
        options: &Options<'_>,
    ) -> Result<(), Error> {
        let model = &session.model;
        match report {
            Some(Report::Xprof) => xprof::write(out, model, arcs, options),
            Some(Report::Xarc) => xarc::write(out, model, arcs, options),
            Some(Report::Stats) => stats::write(out, model, &session.calls, options),
            Some(_) => xtree::write(out, model, options),
            None if options.format == Format::Json => {
                let numbers = matching::json(self.labels, self.numbers, self.stages, self.offsets);
                xtree::with_document(model, options, |tree| {
                    let mut document = Document::default();
                    document.put("matching", numbers);
                    document.member("xtree", Member::Report(tree));
                    Ok(document.print(out)?)
                })?
            }
            None => {
                self.write(out, Format::Text)?;
                writeln!(out)?;
                xtree::write(out, model, options)
            }
        }
    }
}
