//! `instrument top`: hot methods and threads on a terminal, as the program goes on.

use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::io::exit::Exit;
use crate::io::recorded;
use crate::io::talk::Color;
use crate::options::settings::words;
use anyhow::Result;
use instrument_analysis::session::Request;
use instrument_live::top::{Sort, Watch};
use instrument_messages::usage;
use signal_hook::consts::{SIGHUP, SIGTERM};

/// Watch hot methods and threads of a program on a terminal, as it goes on
///
/// Reads the profile again and again, and shows every method with its calls and its time, and what was added since the last refresh. Keys: s
/// self, t total, c calls, n name: the order; d: by what was added; Tab: threads; r: the next resource; /: only names with; Space: pause; ?:
/// all keys; q: quit. Of a program that has ended it shows what was recorded.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:\n  instrument top 4711\n  instrument top app-4711.iprof")]
pub(crate) struct Opts {
    /// A profile; or the id of a process that is recorded
    #[arg(value_name = "FILE|PID")]
    target: PathBuf,
    /// Time between two refreshes, such as 500ms or 5s
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    interval: Duration,
    /// Which figures: running, waiting, wall, allocations, .. [default: running, or the first]
    #[arg(long, short, value_name = "NAME")]
    resource: Option<String>,
    /// The order of rows
    #[arg(long, value_parser = words::<Sort>(), default_value = "self")]
    sort: Sort,
    /// Only threads, or pools of threads, of these names; `*` and `?` are wildcards
    #[arg(long, value_name = "NAME")]
    thread: Vec<String>,
}

/// Shows the screen until the user has seen enough.
///
/// # Errors
/// No terminal; a profile that cannot be read, or has no figures.
pub(crate) fn run(opts: &Opts, color: Color) -> Result<Exit> {
    let file = recorded::profile(&opts.target)?;
    check_terminal(&file)?;
    if opts.interval.is_zero() {
        return Err(usage("--interval: the time between two refreshes must be more than 0"));
    }
    let request = Request { files: vec![file], threads: opts.thread.clone(), ..Request::default() };
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, ended.clone())?;
    }
    let watch = Watch {
        request,
        resource: opts.resource.as_deref(),
        sort: opts.sort,
        interval: opts.interval,
        is_coloured: color.on_stdout(),
        ended: &ended,
    };
    watch.run().map(|()| Exit::Done)
}

/// Whether there is a terminal to show a target on.
///
/// # Errors
/// There is none.
pub(crate) fn check_terminal(target: &Path) -> Result<()> {
    if stdout().is_terminal() && stdin().is_terminal() {
        return Ok(());
    }
    let target = target.display();
    Err(usage(format!("top needs a terminal; `instrument xprof {target}` prints the same once")))
}
