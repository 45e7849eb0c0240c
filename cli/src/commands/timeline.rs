//! `instrument timeline`: see `instrument_analysis::timeline`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{session, view};
use anyhow::Result;
use instrument_analysis::report::text::quantity;
use instrument_analysis::report::{Format, Options, xtree};
use instrument_analysis::timeline::{Timeline, moment};
use instrument_messages::usage;

/// Print what threads did in a window of time, from a trace
///
/// The contexts of every thread, with the calls that began in the window or were open when it began, and the time within it. Calls are cut at
/// both ends. Moments are counted from the start of the first process. Times are as measured: the cost of recording is part of them.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  instrument timeline --thread main --from 1.5s --to 1.6s app-4711.iprof")]
#[command(mut_arg("files", |files| files.help(session::PROFILES)))]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    /// Begin of the window, such as 1.5s, 250ms or 1234567ns [default: the start, or the last `ctl PID reset`]
    #[arg(long, value_name = "TIME", value_parser = time)]
    from: Option<u64>,
    /// End of the window: what happens at this moment is not in it [default: the end]
    #[arg(long, value_name = "TIME", value_parser = time)]
    to: Option<u64>,
    /// Print at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// --json: a list of contexts, each with the place of its caller in it; readers such as jq and Python refuse trees that are deep
    #[arg(long, requires = "json")]
    flat: bool,
}

fn time(text: &str) -> Result<u64, String> {
    moment::parse(text).ok_or_else(|| "not a time: give a number with ns, us, ms or s".to_owned())
}

/// Prints the window.
///
/// # Errors
/// A file that cannot be read or understood; there is no trace; an output that fails.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let of = &opts.view.session;
    if !of.request().is_everything() {
        return Err(usage("--since does not cut a trace: give --from and --to"));
    }
    let mut session = of.read_indexed_as(&of.request(), talk)?;
    let timeline = Timeline::of_session(&session, &of.request())?;
    let rows = timeline.traced(&session)?;
    let (from, to) = (opts.from.unwrap_or_else(|| timeline.counts_from()), opts.to.unwrap_or(timeline.end));
    let mut model = timeline.model(&session.profiles, &rows, (from, to))?;
    for kind in of.request().collapse {
        model = model.merged(kind);
    }
    if let Some(group) = of.request().group {
        model = model.grouped(group);
    }
    session.model = model;
    session.calls.clear();
    view::print(&opts.view.print, opts.depth, &session, of.strict, talk, |out, session, _, options| {
        if options.format == Format::Text {
            let [from, to, length] = [from, to, to.saturating_sub(from)].map(|ns| quantity(ns as f64, "ns"));
            writeln!(
                out,
                "from {from} to {to} ({length}), as measured: the cost of recording is included\n"
            )?;
        }
        xtree::write(out, &session.model, &Options { flat: opts.flat, ..*options })
    })
}
