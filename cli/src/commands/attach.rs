//! `instrument attach PID`: brings the agent into a program that runs, and records it from then on.
//!
//! 1. Resolve the settings as `run` does, find the process, and put the library where that can read it ([`instrument_processes::hand_over`]).
//! 2. Write the options into a file there, and have the virtual machine load the library ([`instrument_processes::attach`]).
//! 3. Read the agent's answer from that file: where the profile is, or why there is none.
//!
//!    A program that is armed has the library: instead of 2 and 3 it is asked, as `ctl PID start` does.
//! 4. With `--for`, `--calls`, `--top` or `--view`: wait until the time is over or the user has seen enough, end the recording as `ctl PID stop` does, and
//!    print the report that was asked for. With `--twice` stacks are sampled in between ([`twice`]).

mod target;
mod twice;

use crate::commands::run::agent::{self, Agent};
use crate::commands::run::report::Report;
use crate::commands::top;
use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_control::answer::Attached;
use instrument_control::keys;
use instrument_messages::{Listener, usage};
use instrument_processes::budget::{Budget, Watched};
use instrument_processes::ctl;
use instrument_processes::hand_over::Earlier;
use instrument_processes::jvm::{self, Kind, Process};
use instrument_processes::profiles::unmatched as nothing_fitted;
use instrument_processes::until::{Recording, Until};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{BufWriter, Write};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use target::{Target, limits};

/// Record a program that runs already
///
/// It needs no preparation and no JDK: any Java 11 to 25 of the same user, or of anybody if you are root. Without a PID the programs that
/// it can attach to are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Where the profile goes: a file, or a directory
    ///
    /// A profile of a recording that has ended is replaced.
    #[arg(short, long, value_name = "PATH", env = "INSTRUMENT_OUT", hide_env_values = true)]
    out: Option<PathBuf>,

    /// End the recording after this time, such as 30s or 5m
    ///
    /// The program runs on as it was before. An interrupt (Ctrl-C) ends it earlier. Without this option recording goes on until the program ends, or `instrument ctl PID stop`.
    #[arg(id = "duration", long = "for", value_name = "TIME", group = "until", value_parser = humantime::parse_duration)]
    duration: Option<Duration>,

    /// End the recording when N calls of the roots (--root) have ended
    #[arg(long, value_name = "N", group = "until")]
    calls: Option<NonZeroU64>,

    /// Show hot methods and threads on this terminal; q ends the recording
    ///
    /// The same as `instrument top PID`.
    #[arg(long, group = "until")]
    top: bool,

    /// Show the profile in a browser as it grows; Ctrl-C ends the recording
    ///
    /// The same as `instrument view PID`.
    #[arg(long, group = "until")]
    view: bool,

    /// Count calls for the first half of this time, and take times in the other, while nothing is rewritten
    ///
    /// In the second half stacks are sampled. So the times have nothing of the recording in them, not even what probes keep the compiler from
    /// doing. The program should do about the same all the time.
    #[arg(hide_short_help = true, long, value_name = "TIME", group = "until", conflicts_with = "budget", value_parser = humantime::parse_duration)]
    twice: Option<Duration>,

    /// Print a report when the recording has ended: report, view, xprof, xtree, xarc, stats, threads, monitors, heap or advise
    ///
    /// Options of that command may follow: --report 'xtree --depth 5'. It goes to standard output.
    #[arg(id = "printed", long = "report", value_name = "COMMAND", requires = "until")]
    printed: Option<String>,

    /// Where that report goes instead of standard output
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "printed")]
    report_to: Option<PathBuf>,

    /// Rewrite only what the roots can call, as far as call sites, overrides and lambdas tell
    ///
    /// All other methods keep their own code and cost nothing. Callbacks from the JDK (`run`, `compare`) are rewritten, too; what they call
    /// follows within moments of their first call. A call by reflection waits, the first time, until what it calls is rewritten.
    #[arg(long)]
    subgraph: bool,

    /// The longest time that the program may stand still for one batch of its classes [default: 200ms]
    ///
    /// If one class takes longer, nothing is recorded; if a batch does, the classes behind it stay as they are.
    #[arg(hide_short_help = true, long, value_name = "TIME", value_parser = humantime::parse_duration)]
    max_pause: Option<Duration>,

    /// Seconds that the program may take to load the agent
    #[arg(hide_short_help = true, long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    #[command(flatten)]
    agent: agent::Opts,

    /// Its process id; or its main class or jar, if no other program has that name
    #[arg(value_name = "PID|NAME", help_heading = "Arguments")]
    target: Option<String>,
}

impl Opts {
    fn until(&self) -> Option<Until> {
        let seen = |is_asked: bool, command| is_asked.then_some(Until::Seen(command));
        let called = self.calls.map(|times| Until::Called(times.get()));
        let half = self.twice.map(|time| time / 2);
        self.duration
            .or(half)
            .map(Until::Over)
            .or(called)
            .or(seen(self.top, "top"))
            .or(seen(self.view, "view"))
    }
}

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let Some(target) = &opts.target else { return list(talk) };
    let report = opts.printed.as_deref().map(|words| Report::new(words, opts.report_to.as_deref()));
    let report = report.transpose()?;
    let until = opts.until();
    let half = opts.twice.map(|time| time / 2);
    let mut agent = opts.agent.resolve(false, |_| None, talk)?;
    agent.subgraph = opts.subgraph;
    if !agent.settings.subclasses_of.is_empty() {
        return Err(usage(
            "--subclasses-of needs the class path of the program: start it with instrument run, or name its classes with --include",
        ));
    }
    check(&agent, (opts.twice, opts.calls), until.is_some())?;
    if opts.top {
        top::check_terminal(Path::new(target))?;
    }
    let socket = agent.recording.ctl().map(|path| path.display().to_string());
    let process = jvm::find(target)?;
    // In a container our working directory may be another one, or none.
    let is_shared = jvm::path_inside(&process, &std::env::current_dir()?).is_some();
    let elsewhere = (process.has_own_root() && !is_shared).then(|| Path::new("/tmp/"));
    let options = agent.options(opts.out.as_deref().or(elsewhere))?;
    let max_pause = opts.max_pause.unwrap_or(Duration::from_millis(keys::DEFAULT_MAX_PAUSE_MS));
    let is_tied = until.is_some();
    let limits = |lasts| limits(max_pause, lasts, is_tied);
    let lasts = until.as_ref().and_then(Until::time);
    let options = format!("{options},{}", limits(lasts));
    let interrupted = interrupts(until.is_some())?;
    let (pid, program) = (process.pid, process.program().unwrap_or("?"));
    let target = Target {
        process: &process,
        library: &agent.library,
        socket: socket.as_deref(),
        limit: Duration::from_secs(opts.timeout),
    };
    let of_before = match &opts.out {
        Some(out) => Earlier::move_aside(&process, &std::path::absolute(out)?)?,
        None => None,
    };
    let rewriting = talk.step(format_args!("process {pid} ({program}): the agent rewrites its classes"));
    let begun = target.begin(&options);
    drop(rewriting);
    if let Some(profile) = of_before {
        profile.settle(begun.is_ok());
    }
    let begun = begun?;
    let (attached, profile) = (&begun.attached, begun.profile(&process));
    let stops = until.is_none().then_some(socket.as_deref());
    say_begun(attached, (pid, program), &profile, stops, talk);
    let warned = |unmatched: &[(String, String)], profile: &Path| {
        let warnings = nothing_fitted(unmatched, &[profile.to_owned()]);
        with_warnings(&warnings, agent.settings.strict, Exit::Done, talk)
    };
    let Some(until) = until else {
        // Classes that load later may fit.
        return Ok(warned(&attached.unmatched, &profile));
    };
    if opts.calls.is_some() {
        say_that_none_may_come(&attached.unmatched, &profile, talk);
    }
    let asked = target.asked();
    wait(&until, (&process, &asked), (&profile, &interrupted), &agent, talk);
    let mut exit = Exit::Done;
    match ctl::stop(&asked) {
        Ok(stopped) => {
            talk.note(format_args!("{}", stopped.said));
            exit = warned(&stopped.unmatched, &profile);
        }
        Err(_) if !process.is_alive() => talk.note(format_args!("process {pid} has ended")),
        Err(error) => return Err(error),
    }
    if let Some(half) = half {
        let limits = limits(Some(half));
        // The counts are complete, and their report comes all the same.
        if let Err(error) = twice::take_times(&target, &profile, &interrupted, (half, &limits), talk) {
            talk.error(format_args!("{error:#}"));
            talk.warn(format_args!("{}: the times are those of the recorded part", profile.display()));
        }
    }
    if let Some(report) = report {
        report.print(&[profile], talk)?;
    }
    Ok(exit)
}

/// Refuses what does not go together. `has_end`: this command waits for the end of the recording.
fn check(agent: &Agent, (twice, calls): (Option<Duration>, Option<NonZeroU64>), has_end: bool) -> Result<()> {
    if let Some(time) = twice {
        agent.check_twice()?;
        if time < twice::SHORTEST {
            let least = humantime::format_duration(twice::SHORTEST);
            return Err(usage(format!(
                "--twice needs {least} at least: in a shorter time there are too few samples"
            )));
        }
    }
    if calls.is_some() && agent.settings.roots.is_empty() {
        return Err(usage("--calls counts calls of the roots: give --root METHOD"));
    }
    agent.check_subgraph()?;
    if agent.recording.is_early() {
        return Err(usage("--early is about the start of a program; this one runs already"));
    }
    if agent.budget.is_some() && !has_end {
        return Err(usage(
            "--budget is kept by this command as long as it runs: give --for, --calls, --top or --view",
        ));
    }
    if has_end && agent.recording.ctl() == Some(Path::new("off")) {
        return Err(usage(
            "--ctl off: the program could not be asked to stop the recording; leave out --for, --twice, --calls, --top and --view, or --ctl",
        ));
    }
    Ok(())
}

/// Set by the signals that end a command. Before anything is recorded: none may come between.
fn interrupts(has_end: bool) -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    if has_end {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The second one ends us.
            signal_hook::flag::register_conditional_default(signal, interrupted.clone())?;
            signal_hook::flag::register(signal, interrupted.clone())?;
        }
    }
    Ok(interrupted)
}

/// Says that it is recorded, and what that took. `stops`: the recording does not end by itself, and requests are answered there.
fn say_begun(
    attached: &Attached,
    (pid, program): (u32, &str),
    profile: &Path,
    stops: Option<Option<&str>>,
    talk: &Talk,
) {
    let how_to_stop = match stops {
        Some(socket) if socket != Some("off") => {
            format!("; `instrument ctl {} stop` ends it", socket.unwrap_or(&pid.to_string()))
        }
        _ => String::new(),
    };
    talk.note(format_args!("process {pid} ({program}) is recorded: {}{how_to_stop}", profile.display()));
    if let Some(said) = ctl::text::standstill(&attached.standstill) {
        talk.note(format_args!("{said}"));
    }
    if let Some(subgraph) = &attached.subgraph {
        ctl::subgraph::say(subgraph, talk);
    }
}

/// Whoever waits for calls must know at once that there may never be one.
fn say_that_none_may_come(unmatched: &[(String, String)], profile: &Path, talk: &Talk) {
    for text in nothing_fitted(unmatched, &[profile.to_owned()]) {
        talk.warn(format_args!("{text}; Ctrl-C ends the recording"));
    }
}

/// Waits until the recording is to end, and keeps its budget meanwhile. Whatever becomes of it, the recording ends.
fn wait(
    until: &Until,
    (process, asked): (&Process, &str),
    (profile, interrupted): (&Path, &AtomicBool),
    agent: &Agent,
    talk: &Talk,
) {
    let is_alive = || process.is_alive();
    let recording = Recording { profile, roots: &agent.settings.roots, interrupted, is_alive: &is_alive };
    let mut budget = agent.budget.map(Budget::new);
    let over = AtomicBool::new(false);
    let waited = thread::scope(|scope| {
        if let Some(budget) = &mut budget {
            scope.spawn(|| budget.keep(Watched::One(asked), &over, talk));
        }
        let waited = recording.wait(until);
        over.store(true, SeqCst);
        waited
    });
    if let Err(error) = waited {
        talk.error(format_args!("{error:#}"));
    }
    for said in budget.iter().flat_map(Budget::said) {
        talk.note(format_args!("{said}"));
    }
}

/// The programs that it can attach to.
fn list(talk: &Talk) -> Result<Exit> {
    let found = jvm::all();
    if found.is_empty() {
        talk.note(format_args!("no Java program of this user runs"));
        return Ok(Exit::Negative);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for process in &found {
        let kind = if process.kind() == Kind::OpenJ9 { "  (OpenJ9: not by attach)" } else { "" };
        writeln!(out, "{:>8}  {}{kind}", process.pid, process.program().unwrap_or("?"))?;
    }
    out.flush().context("standard output")?;
    Ok(Exit::Done)
}
