//! Requests to a program that runs with the agent, over its private socket.
//!
//! The protocol is on the page of [`instrument_control::ctl`]. Here: which process is meant and where its socket is ([`place`]), one
//! request with its deadline ([`mod@ask`]), and answers as text for people ([`text`]).

mod ask;
pub mod changes;
mod place;
pub mod subgraph;
pub mod text;

use anyhow::{Context, Result, anyhow};
use ask::{LATER, SOON, ask};
use instrument_control::answer::{self, Answer, Selected, Status, read};
use instrument_control::ctl;
use instrument_messages::Listener;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// A program of the list: its status, or why it does not answer.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Program {
    /// It does.
    Answers(Box<Status>),
    /// It does not.
    Silent {
        /// Its process id, if its socket tells.
        pid: Option<u32>,
        error: String,
    },
}

impl Program {
    fn pid(&self) -> Option<u32> {
        match self {
            Program::Answers(status) => Some(status.pid),
            Program::Silent { pid, .. } => *pid,
        }
    }
}

/// The answer of a process, given by its id or the path of its socket, to a request.
///
/// # Errors
/// It does not answer in time, or refuses.
pub fn answer_of(target: &str, request: &ctl::Request) -> Result<Answer> {
    let limit = if matches!(request, ctl::Request::Status {}) { SOON } else { LATER };
    let stream = place::connect(target)?;
    ask(stream, request, limit)
        .and_then(|answer| Answer::of(request, answer).map_err(|reason| anyhow!("{reason}")))
        .with_context(|| format!("process {target}"))
}

/// Ends the recording of a process, given as `ctl` takes it, and says what became of its classes.
///
/// # Errors
/// It does not answer, or refuses.
pub fn stop(target: &str) -> Result<Stopped> {
    let answer = of(target, &ctl::Request::Stop {})?;
    let answer: answer::Stopped = read(answer).map_err(|reason| anyhow!("process {target}: {reason}"))?;
    Ok(Stopped { said: text::stopped(&answer), unmatched: answer.unmatched })
}

/// Excludes methods of a process from its recording.
///
/// # Errors
/// It does not answer, or refuses.
pub fn exclude(target: &str, methods: Vec<String>) -> Result<Selected> {
    read(of(target, &ctl::Request::Exclude { methods })?).map_err(|reason| anyhow!("{reason}"))
}

/// Where the profile of a process is; none: it was not begun.
///
/// # Errors
/// It does not answer, or refuses.
pub fn profile(target: &str) -> Result<Option<PathBuf>> {
    let status: Status = read(of(target, &ctl::Request::Status {})?).map_err(|reason| anyhow!("{reason}"))?;
    Ok(status.profile.map(PathBuf::from))
}

/// The answer of a process to a request.
fn of(target: &str, request: &ctl::Request) -> Result<serde_json::Value> {
    ask(place::connect(target)?, request, LATER).with_context(|| format!("process {target}"))
}

/// Whether a process, given as `ctl` takes it, is armed. One that cannot be asked is not.
pub fn is_armed(target: &str) -> bool {
    let answer = place::connect(target).and_then(|stream| ask(stream, &ctl::Request::Status {}, SOON));
    answer.is_ok_and(|answer| read::<Status>(answer).is_ok_and(|status| status.armed))
}

/// Begins a recording of a process that is armed, given as `ctl` takes it, with these options of the agent. The answer may take so long.
///
/// # Errors
/// It does not answer, or refuses.
pub fn start(target: &str, options: &str, limit: Duration) -> Result<answer::Attached> {
    let request = ctl::Request::Start { options: Some(options.to_owned()) };
    let answer = place::connect(target).and_then(|stream| ask(stream, &request, limit))?;
    read(answer).map_err(|reason| anyhow!("{reason}"))
}

/// What came of a recording that was ended.
pub struct Stopped {
    /// In a sentence.
    pub said: String,
    /// Patterns that nothing fitted, each with its option.
    pub unmatched: Vec<(String, String)>,
}

/// The programs of this user that can be asked, each with its status or, if it does not answer, with the reason. All are asked at the same
/// time.
pub fn programs(listener: &dyn Listener) -> Vec<Program> {
    let request = ctl::Request::Status {};
    let status = |path: &Path| {
        let answer = match place::open(path) {
            Ok(stream) => ask(stream, &request, SOON),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(place::no_answer(path)),
            Err(error) => {
                listener.detail(format_args!("{}: {error}", path.display()));
                return None;
            }
        };
        let status = answer.and_then(|answer| read::<Status>(answer).map_err(|reason| anyhow!("{reason}")));
        Some(match status {
            Ok(status) => Program::Answers(Box::new(status)),
            Err(error) => Program::Silent { pid: ctl::process_of(path), error: format!("{error:#}") },
        })
    };
    let sockets = place::sockets();
    let mut programs: Vec<Program> = thread::scope(|scope| {
        let asked: Vec<_> = sockets.iter().map(|path| scope.spawn(|| status(path))).collect();
        asked.into_iter().filter_map(|asked| asked.join().ok().flatten()).collect()
    });
    programs.sort_by_key(Program::pid);
    programs
}
