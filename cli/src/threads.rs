//! `instrument threads`: see `instrument_analysis::report::threads`.

use crate::exit::Exit;
use crate::subject::Subject;
use crate::talk::Talk;
use crate::view;
use anyhow::Result;
use instrument_analysis::report::threads;

/// Print one profile for each thread
///
/// The first routine of a thread has its name; its base is the time in which the thread was in no recorded method.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let subject = Subject::read(&opts.view.subject, true, talk)?;
    view::print(&opts.view.print, None, &subject, talk, |out, subject, _, options| {
        threads::write(out, &subject.model, options)
    })
}
