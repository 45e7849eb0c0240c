//! `instrument xarc`: see `instrument_analysis::report::xarc`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{own, view};
use anyhow::Result;
use instrument_analysis::report::{Options, xarc};

/// Print every method with its callers and callees: why it consumes
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    #[command(flatten)]
    own: own::Opts,
    /// Print at most N callers and N callees of a method; the others are summed up in one line
    #[arg(long, value_name = "N")]
    arcs: Option<usize>,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    view::run(&opts.view, &opts.own, None, talk, |out, session, arcs, options| {
        xarc::write(out, &session.model, arcs, &Options { arcs: opts.arcs, ..*options })
    })
}
