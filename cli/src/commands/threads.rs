//! `instrument threads`: see `instrument_analysis::report::threads`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{session, view};
use anyhow::Result;
use instrument_analysis::report::{thread_list, threads};
use instrument_analysis::session::Request;

/// Print one profile for each thread
///
/// The first routine of a thread has its name; its base is the time in which the thread was in no recorded method.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    /// Print one line for each thread or pool of threads: how many, elapsed time, figures, calls
    ///
    /// Elapsed is the time from the first event of the first thread to the last moment at which one of them was there. The figures are of
    /// recorded methods only.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let is_list = opts.list;
    let opts = &opts.view;
    if is_list {
        let session = opts.session.read(talk)?;
        let labels: Vec<_> = session.profiles.iter().map(|file| file.label()).collect();
        let files: Vec<_> = labels.iter().map(String::as_str).zip(&session.profiles).collect();
        let split = !opts.session.split.is_empty();
        return view::print(
            &opts.print,
            None,
            &session,
            opts.session.strict,
            talk,
            |out, session, _, options| thread_list::write(out, &session.model, &files, split, options),
        );
    }
    let session = session::read(&Request { lifetimes: true, ..opts.session.request() }, talk)?;
    view::print(&opts.print, None, &session, opts.session.strict, talk, |out, session, _, options| {
        threads::write(out, &session.model, options)
    })
}
