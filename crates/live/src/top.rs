//! Hot methods and threads on a terminal, as a program goes on. Reading a profile takes its time, so a thread of its own does it, and keys are
//! answered meanwhile.

mod screen;
mod state;
#[cfg(test)]
mod tests;

use anyhow::{Context, Result};
use instrument_analysis::moment::Moment;
use instrument_analysis::session::{Request, Session};
use ratatui::crossterm::event::{self, Event, KeyEventKind};
pub use state::Sort;
use state::State;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

/// A key is answered after no more than this.
const SOON: Duration = Duration::from_millis(50);

/// What is watched, and how.
#[derive(Debug)]
pub struct Watch<'a> {
    /// Which profile, and what of it.
    pub request: Request,
    /// Which figures; none: the usual ones.
    pub resource: Option<&'a str>,
    /// The order of rows.
    pub sort: Sort,
    /// Time between two refreshes.
    pub interval: Duration,
    /// Whether there are colours.
    pub is_coloured: bool,
    /// Set when it is to end.
    pub ended: &'a AtomicBool,
}

impl Watch<'_> {
    /// Shows the screen until the user has seen enough.
    ///
    /// # Errors
    /// A profile that cannot be read, or has no figures; a terminal that cannot be used.
    pub fn run(self) -> Result<()> {
        // What is wrong is said before the screen is taken.
        let first = moment(&self.request, self.resource)?;
        let (asked, asks) = channel();
        let (answers, answered) = channel();
        let request = self.request;
        std::thread::spawn(move || read(&request, &asks, &answers));
        let mut state = State::new(first, self.sort, self.interval);
        let mut terminal = ratatui::try_init().context("the terminal cannot be used")?;
        let shown = show(&mut terminal, &mut state, self.is_coloured, &asked, &answered, self.ended);
        ratatui::try_restore().context("the terminal cannot be given back")?;
        shown
    }
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
