//! `instrument threads`: see `instrument_analysis::report::threads`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{session, view};
use anyhow::Result;
use instrument_analysis::report::threads;
use instrument_analysis::session::Request;

/// Print one profile for each thread
///
/// The first routine of a thread has its name; its base is the time in which the thread was in no recorded method.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let opts = &opts.view;
    let session = session::read(&Request { lifetimes: true, ..opts.session.request() }, talk)?;
    view::print(&opts.print, None, &session, opts.session.strict, talk, |out, session, _, options| {
        threads::write(out, &session.model, options)
    })
}
