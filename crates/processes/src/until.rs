//! When a recording by `attach` ends.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use instrument_analysis::session::lookup::{Methods, method_names};
use instrument_analysis::session::{Request, Session};
use rustix::process::{Pid, Signal, kill_process};

/// An interrupt is answered after no more than this.
const SOON: Duration = Duration::from_millis(50);
/// Of the time between two looks at a growing profile, reading it takes no more than one part in so many.
const READING: u32 = 10;

pub enum Until {
    /// So much later.
    Over(Duration),
    /// When the roots have been called so often, and the calls have ended.
    Called(u64),
    /// When the user ends this command, which shows the profile.
    Seen(&'static str),
}

impl Until {
    /// How long it lasts, if that is known.
    pub fn time(&self) -> Option<Duration> {
        match self {
            Until::Over(time) => Some(*time),
            _ => None,
        }
    }
}

/// A recording that goes on.
pub struct Recording<'a> {
    pub profile: &'a Path,
    /// Patterns of its root methods.
    pub roots: &'a [String],
    /// Somebody wants us to end.
    pub interrupted: &'a AtomicBool,
    /// Whether the program still runs.
    pub is_alive: &'a dyn Fn() -> bool,
}

impl Recording<'_> {
    /// Waits until it is to end: then, or at an interrupt, or with the program.
    ///
    /// # Errors
    /// A command that cannot be started; patterns that cannot be read.
    pub fn wait(&self, until: &Until) -> Result<()> {
        match until {
            Until::Over(duration) => {
                self.pause(*duration);
                Ok(())
            }
            Until::Called(times) => self.look_until(|session| Ok(self.calls(session)? >= *times)),
            Until::Seen(command) => {
                // A page of nothing cannot be shown.
                if *command == "view" {
                    self.look_until(|session| Ok(session.recorded > 0.0))?;
                }
                self.show(command)
            }
        }
    }

    fn goes_on(&self) -> bool {
        !self.interrupted.load(SeqCst) && (self.is_alive)()
    }

    fn pause(&self, duration: Duration) {
        let end = Instant::now() + duration;
        while Instant::now() < end && self.goes_on() {
            sleep(end.saturating_duration_since(Instant::now()).min(SOON));
        }
    }

    /// Reads the profile again and again until it is as it has to be. It may be in the middle of a change, and unreadable for that moment.
    fn look_until(&self, is_it: impl Fn(&Session) -> Result<bool>) -> Result<()> {
        while self.goes_on() {
            let begin = Instant::now();
            let request = Request { files: vec![self.profile.to_owned()], ..Request::default() };
            if let Ok(session) = Session::read(&request)
                && is_it(&session)?
            {
                break;
            }
            self.pause((begin.elapsed() * READING).max(SOON));
        }
        Ok(())
    }

    /// Calls of the roots, as far as they have ended.
    fn calls(&self, session: &Session) -> Result<u64> {
        let methods = Methods::new("--root", self.roots, &method_names(&session.model))?;
        Ok(session.calls.iter().filter(|(name, _)| methods.fits(name)).map(|(_, calls)| calls.ended).sum())
    }

    /// Runs one of our own commands on the profile until the user ends it, or we are to end.
    fn show(&self, command: &str) -> Result<()> {
        let own = std::env::current_exe()?;
        let mut child = Command::new(own).arg(command).arg("--").arg(self.profile).spawn()?;
        while child.try_wait()?.is_none() {
            if self.interrupted.load(SeqCst) {
                // It gives the terminal back.
                kill_process(Pid::from_child(&child), Signal::TERM)?;
                child.wait()?;
                break;
            }
            sleep(SOON);
        }
        Ok(())
    }
}
