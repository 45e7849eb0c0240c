//! `instrument top`: hot methods and threads on a terminal, as the program goes on. Reading a profile takes its time, so a thread of its own
//! does it, and keys are answered meanwhile.

mod screen;
mod state;
#[cfg(test)]
mod tests;

use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use crate::io::exit::Exit;
use crate::io::talk::Color;
use anyhow::{Context, Result};
use instrument_analysis::moment::Moment;
use instrument_analysis::session::{Request, Session};
use instrument_messages::usage;
use instrument_processes::recorded;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signal_hook::consts::{SIGHUP, SIGTERM};
use state::{Sort, State};

/// A key is answered after no more than this.
const SOON: Duration = Duration::from_millis(50);

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
    #[arg(long, value_enum, default_value = "self")]
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
    // What is wrong is said before the screen is taken.
    let first = moment(&request, opts.resource.as_deref())?;
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, ended.clone())?;
    }
    let (asked, asks) = channel();
    let (answers, answered) = channel();
    std::thread::spawn(move || read(&request, &asks, &answers));
    let mut state = State::new(first, opts.sort, opts.interval);
    let mut terminal = ratatui::try_init().context("the terminal cannot be used")?;
    let shown = show(&mut terminal, &mut state, color.on_stdout(), &asked, &answered, &ended);
    ratatui::try_restore().context("the terminal cannot be given back")?;
    shown.map(|()| Exit::Done)
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

fn moment(request: &Request, resource: Option<&str>) -> Result<Moment> {
    Ok(Moment::of(&Session::read(request)?, resource)?)
}

/// Reads the profile as often as it is asked for, by the name of a resource. Ends with the one who asks.
fn read(request: &Request, asks: &Receiver<String>, answers: &Sender<Result<Moment>>) {
    while let Ok(resource) = asks.recv() {
        if answers.send(moment(request, Some(&resource))).is_err() {
            return;
        }
    }
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    state: &mut State,
    is_coloured: bool,
    asked: &Sender<String>,
    answered: &Receiver<Result<Moment>>,
    ended: &AtomicBool,
) -> Result<()> {
    let (mut last, mut is_waiting) = (Instant::now(), false);
    while !state.has_ended && !ended.load(SeqCst) {
        terminal.draw(|frame| screen::draw(frame, state, is_coloured))?;
        if let Ok(moment) = answered.try_recv() {
            is_waiting = false;
            match moment {
                Ok(moment) => state.take(moment, SystemTime::now()),
                // It may be written anew at this moment.
                Err(error) => state.problem = Some(format!("{error:#}")),
            }
        }
        let is_due = state.is_watching() && last.elapsed() >= state.interval;
        if !is_waiting && (is_due || state.wants_now) {
            (last, is_waiting, state.wants_now) = (Instant::now(), true, false);
            let _ = asked.send(state.resource.clone());
        }
        if event::poll(SOON)?
            && let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            state.key(key);
        }
    }
    Ok(())
}
