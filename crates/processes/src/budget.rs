//! `--budget PERCENT`: keeps what recording takes below a part of the program's running time.
//!
//! 1. Look at the profile as it grows: what recording took since the last look, by method ([`Advice::between`]).
//! 2. If that is more than the budget, the fewest methods are excluded that bring it back, in one request (`ctl PID exclude`): the program
//!    stops for one retransformation. What is recorded stays exact, and the profile names what is not, and since when.
//! 3. Wait, and look again: twice as long after each look at which there was nothing to do, and longer after each request.

use crate::ctl;
use crate::process_stat::ProcessStat;
use crate::profiles::Recorded;
use anyhow::Result;
use instrument_analysis::advice::{Advice, Spent};
use instrument_analysis::arcs::Arcs;
use instrument_analysis::session::{Request, Session};
use instrument_messages::Listener;
use instrument_names::printable::printable;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The shortest time between two looks, and the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The program may use the processors for so many times as long as a look took, before the next.
const LOOKING: u32 = 10;
/// So much of the budget is aimed at: a program does not do the same at all times.
const AIM: f64 = 0.8;
/// How soon the end of the recording is noticed.
const SOON: Duration = Duration::from_millis(50);

/// Which processes are watched.
#[derive(Debug, Clone, Copy)]
pub enum Watched<'a> {
    /// Those that the agent writes into this file, and the process that was started itself.
    Run(&'a Path, Option<u32>),
    /// One, by its id or the path of its socket.
    One(&'a str),
}

impl Watched<'_> {
    fn targets(self) -> Vec<String> {
        match self {
            Watched::Run(file, java) => Recorded::read(file, java).ids().map(|id| id.to_string()).collect(),
            Watched::One(target) => vec![target.to_owned()],
        }
    }
}

/// What recording took of the running time, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Share {
    Known(f64),
    /// An estimate: the calibration says more than there was, or nearly all of it.
    Most(f64),
}

impl Share {
    fn percent(self) -> f64 {
        match self {
            Share::Known(percent) | Share::Most(percent) => percent,
        }
    }

    /// What it is a part of.
    fn of(self) -> &'static str {
        match self {
            Share::Known(_) => " of the running time",
            Share::Most(_) => "",
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Share::Known(percent) => write!(f, "{percent:.1} %"),
            Share::Most(_) => f.write_str("most of the time (how much is not known)"),
        }
    }
}

/// A process, as far as the budget goes.
#[derive(Debug)]
struct Program {
    /// None: it is not known yet.
    profile: Option<PathBuf>,
    /// At the last look.
    spent: Option<Spent>,
    next: Instant,
    pause: Duration,
    /// Requests, and the methods that they excluded.
    requests: u32,
    excluded: u64,
    /// What recording took before the first request, and at the last look.
    before: Option<Share>,
    now: Option<Share>,
    /// Nothing more can be excluded.
    at_its_end: bool,
    /// Why nothing is known of what recording takes.
    unknown: Option<String>,
}

impl Program {
    fn new() -> Program {
        Program {
            profile: None,
            spent: None,
            next: Instant::now() + PAUSE,
            pause: PAUSE,
            requests: 0,
            excluded: 0,
            before: None,
            now: None,
            at_its_end: false,
            unknown: None,
        }
    }

    /// One look, and what follows from it. It may be too early for it: then nothing is known.
    fn look(&mut self, target: &str, percent: f64) -> Result<()> {
        let profile = match &self.profile {
            Some(profile) => profile.clone(),
            None => {
                let Some(profile) = ctl::profile(target)? else { return Ok(()) };
                self.profile.insert(profile).clone()
            }
        };
        let session = Session::read(&Request { files: vec![profile], ..Request::default() })?;
        let arcs = Arcs::new(&session.model);
        let cpu_ns = target.parse().ok().and_then(ProcessStat::of).map(|stat| stat.cpu_ns);
        let spent = match Spent::of(&session, &arcs, cpu_ns) {
            Ok(spent) => spent,
            Err(error) => {
                self.unknown = Some(error.to_string());
                return Ok(());
            }
        };
        let earlier = self.spent.take();
        let spent = self.spent.insert(spent);
        let Some(earlier) = earlier else { return Ok(()) };
        let advice = Advice::between(&session, &arcs, AIM * percent, &earlier, spent);
        if advice.running_ns <= 0.0 {
            return Ok(());
        }
        let recording = advice.recorded.percent;
        let share = if advice.is_estimate { Share::Most(recording) } else { Share::Known(recording) };
        self.now = Some(share);
        if recording <= percent || advice.leave_out.is_empty() {
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
            self.at_its_end = recording > percent;
            return Ok(());
        }
        self.before.get_or_insert(share);
        let patterns = advice.leave_out.into_iter().map(|one| one.pattern).collect();
        self.excluded += ctl::exclude(target, patterns)?.methods;
        self.requests += 1;
        self.pause = (PAUSE * (1 + self.requests / 2)).min(LONGEST_PAUSE);
        // What was recorded up to the request is no longer of interest.
        self.spent = None;
        Ok(())
    }

    /// Outcome of the budget, in a sentence; nothing if it was never looked at.
    fn said(&self, target: &str, percent: f64) -> Option<String> {
        let Some(now) = self.now else {
            let reason = self.unknown.as_ref()?;
            return Some(format!("process {target}: nothing was excluded: {}", printable(reason)));
        };
        let Some(before) = self.before else {
            return Some(format!("process {target}: recording took {now}{}; nothing was excluded", now.of()));
        };
        let of = before.of();
        let (methods, requests) = (self.excluded, self.requests);
        let steps = if requests == 1 { "one step".to_owned() } else { format!("{requests} steps") };
        let methods = if methods == 1 {
            "1 method that was".to_owned()
        } else {
            format!("{methods} methods that were")
        };
        let short = match self.at_its_end || now.percent() > percent {
            false => String::new(),
            true if self.at_its_end => {
                format!("; {percent} % cannot be kept: nothing more can be excluded")
            }
            true => "; the recording ended before more was excluded".to_owned(),
        };
        Some(format!(
            "process {target}: recording took {before}{of}, and {now} in the end, without {methods} excluded in {steps}{short}"
        ))
    }
}

/// A budget that is kept while a program runs.
#[derive(Debug)]
pub struct Budget {
    percent: f64,
    programs: BTreeMap<String, Program>,
}

impl Budget {
    /// None so far.
    pub fn new(percent: f64) -> Budget {
        Budget { percent, programs: BTreeMap::new() }
    }

    /// Watches until `ended` is set.
    pub fn keep(&mut self, watched: Watched<'_>, ended: &AtomicBool, listener: &dyn Listener) {
        while !ended.load(SeqCst) {
            for target in watched.targets() {
                let program = self.programs.entry(target.clone()).or_insert_with(Program::new);
                if ended.load(SeqCst) || Instant::now() < program.next {
                    continue;
                }
                let start = Instant::now();
                // The program begins or ends, or the profile is in the middle of a change.
                if let Err(error) = program.look(&target, self.percent) {
                    listener.detail(format_args!("--budget: process {target}: {error:#}"));
                }
                program.next = Instant::now() + program.pause.max(start.elapsed() * LOOKING);
            }
            sleep(SOON);
        }
    }

    /// Its outcome, a sentence for each process.
    pub fn said(&self) -> impl Iterator<Item = String> + '_ {
        self.programs.iter().filter_map(|(target, program)| program.said(target, self.percent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_it_is_said() {
        let mut program = Program::new();
        assert_eq!(program.said("7", 3.0), None);
        program.unknown = Some("it is not known".to_owned());
        assert_eq!(
            program.said("7", 3.0).as_deref(),
            Some("process 7: nothing was excluded: it is not known")
        );
        program.now = Some(Share::Known(2.04));
        assert_eq!(
            program.said("7", 3.0).as_deref(),
            Some("process 7: recording took 2.0 % of the running time; nothing was excluded")
        );
        (program.before, program.requests, program.excluded) = (Some(Share::Known(180.0)), 2, 41);
        let said = program.said("7", 3.0).unwrap();
        assert!(said.ends_with("without 41 methods that were excluded in 2 steps"), "{said}");
        program.before = Some(Share::Most(900.0));
        let said = program.said("7", 3.0).unwrap();
        assert!(said.contains("took most of the time (how much is not known), and 2.0 %"), "{said}");
        (program.now, program.at_its_end) = (Some(Share::Known(4.0)), true);
        assert!(
            program.said("7", 3.0).unwrap().ends_with("3 % cannot be kept: nothing more can be excluded")
        );
    }
}
