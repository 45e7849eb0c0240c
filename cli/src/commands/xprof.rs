//! `instrument xprof`: see `instrument_analysis::report::xprof`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{own, view};
use anyhow::Result;
use instrument_analysis::report::xprof;

/// Print every method with its calls, what it consumed itself (base) and with all it called (cum)
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    #[command(flatten)]
    own: own::Opts,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    view::run(&opts.view, &opts.own, None, talk, |out, session, arcs, options| {
        xprof::write(out, &session.model, arcs, options)
    })
}
