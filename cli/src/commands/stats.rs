//! `instrument stats`: see `instrument_analysis::report::stats`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{own, view};
use anyhow::Result;
use instrument_analysis::report::stats;

/// Print the calls of every method: number, total, shortest, longest, average, standard deviation
///
/// Times are as measured, with all that was called; `exact` is the average without the cost of the probes, `error` the standard
/// error of a total that is an estimate because only some calls were timed.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    view::run(&opts.view, &own::Opts::default(), None, talk, |out, session, _, options| {
        stats::write(out, &session.model, &session.calls, options)
    })
}
