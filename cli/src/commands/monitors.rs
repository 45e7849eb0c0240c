//! `instrument monitors`: see `instrument_analysis::report::monitors`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{own, session, view};
use anyhow::Result;
use clap::ValueEnum;
use instrument_analysis::report::monitors;
use instrument_analysis::session::{Request, thread_filter};

/// Print what threads waited for: by monitor, with who held it; by thread; and where in the program
///
/// Locks of java.util.concurrent are listed like monitors, by the class of their synchronizer: contended is a thread that parks for a
/// lock, waiting one that parks for a condition, semaphore, queue or anything else; each park counts once.
/// Of programs that ran under `instrument run --monitors`, or with the agent's option threads=on. Contended is the time to enter a
/// monitor that another thread had, waiting the time in Object.wait. What had not ended counts up to the end. The time to enter a
/// synchronized method is that of the method that calls it: a method is recorded from when it has the monitor. In other reports these
/// times are the resources `contended` and `object-wait`, and part of `waiting`.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("files", |files| files.help(session::PROFILES)))]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    #[command(flatten)]
    own: own::Opts,
    /// Rows of --csv
    #[arg(long, value_enum, default_value = "monitors", requires = "csv")]
    table: Table,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// One for each monitor
    Monitors,
    /// One for each thread
    Threads,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let request = Request { own: opts.own.patterns(), ..opts.view.session.request() };
    let session = session::read(&request, talk)?;
    let wanted = thread_filter(&opts.view.session.thread);
    let table = match opts.table {
        Table::Monitors => monitors::Table::Monitors,
        Table::Threads => monitors::Table::Threads,
    };
    let strict = opts.view.session.strict;
    view::print(&opts.view.print, None, &session, strict, talk, |out, session, _, options| {
        monitors::of_session(out, session, &wanted, table, options)
    })
}
