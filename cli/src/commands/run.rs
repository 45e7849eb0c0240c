//! `instrument run -- java ..`: a program as it is, with the agent, which rewrites its classes as they load.
//!
//! 1. Resolve the settings as `rewrite` does, and find the agent's library ([`agent`]).
//! 2. Start the command with the library as an option of `java`: right behind that word; or, if the command is something else (a script), in
//!    `JAVA_TOOL_OPTIONS`, which every virtual machine it starts will obey.
//!    With `--twice` it ran before, with nothing rewritten ([`twice`]).
//! 3. Wait; pass signals on that were sent to us alone.
//! 4. Say where the profiles are, print the report that was asked for, and end as the command did.

pub(crate) mod agent;
pub(crate) mod recording;
pub(crate) mod report;
pub(crate) mod twice;

use crate::commands::run::agent::Agent;
use crate::commands::run::report::Report;
use crate::commands::run::twice::First;
use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_analysis::report::text::quantity;
use instrument_control::run::PROCESSES;
use instrument_control::word::{Remote, Transform};
use instrument_messages::{Listener, usage};
use instrument_names::word::Word;
use instrument_processes::budget::{Budget, Watched};
use instrument_processes::launch::{
    Ended, asked_to_end, command, exit_code, is_java, signals, temporary_file, wait,
};
use instrument_processes::profiles::{
    Recorded, Replaced, directory_of, made_no_remote_calls, no_remote_calls, profiles_since, seal, unmatched,
};
use instrument_processes::rules::RunProbes;
use instrument_processes::subclasses;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::SystemTime;
use std::{fs, io};
use tempfile::NamedTempFile;

/// Run a program and rewrite its classes as they load
///
/// Nothing is written but the profile: NAME-PID.iprof in the working directory, or where --out says. Options come from the command line, from
/// INSTRUMENT_* in the environment, from instrument.toml, in this order. The exit code is the program's; 128 + N after signal N.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Where the profile goes: a file, or a directory
    ///
    /// A profile of a program that has ended is replaced.
    #[arg(short, long, value_name = "PATH", env = "INSTRUMENT_OUT", hide_env_values = true)]
    out: Option<PathBuf>,

    /// Print a report when the program has ended: report, view, xprof, xtree, xarc, stats, threads, monitors, heap or advise
    ///
    /// Options of that command may follow: --report 'xtree --depth 5'. It goes to standard output, after what the program has
    /// written there.
    #[arg(id = "printed", long = "report", value_name = "COMMAND")]
    printed: Option<String>,

    /// Show the profile in a browser when the program has ended: the same as --report view
    #[arg(hide_short_help = true, long, conflicts_with_all = ["printed", "report_to"])]
    view: bool,

    /// Where that report goes instead of standard output
    #[arg(hide_short_help = true, long, value_name = "FILE", requires = "printed")]
    report_to: Option<PathBuf>,

    /// Do not record the Java programs that the program starts
    ///
    /// Without it they are recorded as well, each with a profile of its own: they find the agent in JAVA_TOOL_OPTIONS, and say so in a
    /// line on standard error.
    #[arg(long)]
    no_children: bool,

    /// Record nothing until `instrument attach PID` or `instrument ctl PID start` asks for it
    ///
    /// The agent is there, no class is rewritten, and the program is as fast as without. `ctl PID start` begins a recording with the
    /// options that are given here, `attach PID` one with its own options; `ctl PID stop` ends it. So the JVM prints no warning of an
    /// agent that is loaded later, and need not be allowed to load one.
    #[arg(long, conflicts_with_all = ["early", "budget"])]
    armed: bool,

    /// Rewrite only what the roots can call, as far as call sites, overrides and lambdas tell
    ///
    /// As of `instrument attach --subgraph`, from the start: all other methods keep their own code and cost nothing. What is far from what was
    /// called so far follows within moments of its first call. Needs --root METHOD.
    #[arg(hide_short_help = true, long, conflicts_with_all = ["early", "probes"])]
    subgraph: bool,

    /// Run the program twice: once with nothing rewritten for its times, and once recorded for its counts
    ///
    /// So the times have nothing of the recording in them, not even what probes keep the compiler from doing. Everything that the program
    /// does happens twice, one run after the other: it must be able to take its ports again, and to meet the files and databases that it has
    /// changed. Both runs get the same standard input (of a terminal each its own); what the first one writes to standard output is
    /// left out, and the exit code is that of the second one. A run that is interrupted is the last one.
    #[arg(hide_short_help = true, long, conflicts_with_all = ["armed", "probes", "budget"])]
    twice: bool,

    /// Insert calls of your own methods, where rules in this file say
    ///
    /// The book has the rules (chapter "Probes of your own"). The methods are looked for on the class path of the command, and the rules are
    /// tried on all classes there before the program starts. Nothing else is recorded, unless --transform asks for it.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    probes: Option<PathBuf>,

    /// Archives and directories with more classes of the program for --probes and --subclasses-of, separated as in a class path
    ///
    /// For a script whose class path is not known, and for what other class loaders load.
    #[arg(hide_short_help = true, long, value_name = "PATH")]
    class_path: Option<OsString>,

    #[command(flatten)]
    agent: agent::Opts,

    /// The program: java and its arguments, or a script that starts java
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND", help_heading = "Arguments")]
    command: Vec<OsString>,
}

/// Why a command did not start.
pub(crate) fn cannot_start(command: &OsStr, error: io::Error) -> anyhow::Error {
    let name = command.display();
    if error.kind() != io::ErrorKind::NotFound {
        return anyhow::Error::new(error).context(name.to_string());
    }
    match command.as_encoded_bytes().contains(&b'/') {
        true if Path::new(command).exists() => {
            usage(format!("{name}: the interpreter that its first line names is not there"))
        }
        true => usage(format!("there is no file {name}")),
        false => usage(format!("there is no command {name} in the directories of PATH")),
    }
}

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let words = opts.printed.as_deref().or(opts.view.then_some("view"));
    let report = words.map(|words| Report::new(words, opts.report_to.as_deref()));
    let report = report.transpose()?;
    let mut agent = opts.agent.resolve(opts.probes.is_some(), |name| std::env::var(name).ok(), talk)?;
    agent.armed = opts.armed;
    agent.subgraph = opts.subgraph;
    agent.check_subgraph()?;
    agent.recording.check_machine()?;
    let directory = directory_of(opts.out.as_deref());
    let prepare = |rules: &PathBuf| {
        let is_java = is_java(&opts.command[0]);
        agent.check_probes()?;
        RunProbes::prepare(rules, opts.class_path.as_ref(), &opts.command, is_java, &directory, talk)
    };
    let probes = opts.probes.as_ref().map(prepare).transpose()?;
    agent.probes = probes.as_ref().map(|probes| probes.path().to_owned());
    let found =
        subclasses(&agent, &opts.command, (opts.class_path.as_ref(), probes.is_some()), &directory, talk)?;
    agent.subclasses = found.as_ref().map(|file| file.path().to_owned());
    let options = agent.options(opts.out.as_deref())?;
    fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
    // Before any child is there: no signal may come between.
    let mut signals = signals()?;
    let mut first = None;
    if opts.twice {
        match first_run(&agent, (&opts.command, opts.no_children), (opts.out.as_deref(), &directory), talk)? {
            Ok(run) => first = Some(run),
            Err(exit) => return Ok(exit),
        }
    }
    let argument = agent.agentpath(&options);
    let processes = temporary_file(&directory).context("a file for the ids of processes")?;
    let (mut command, is_java) = command(&opts.command, &argument, opts.no_children)?;
    command.env(PROCESSES, processes.path());
    if let Some(first) = &mut first {
        first.give(&mut command)?;
    }

    if first.is_some()
        && let Some(signal) = asked_to_end(&mut signals)
    {
        talk.note(format_args!("interrupted between the two runs: there is no second one, and no profile"));
        return Ok(exit_of(128 + signal as u8));
    }
    let started = SystemTime::now();
    let mut child = start(&mut command, &opts.command[0], opts.out.as_deref(), talk)?;
    if let Some(first) = &first {
        first.feed(&mut child);
    }
    let pid = child.id();
    let mut budget = agent.budget.map(Budget::new);
    let watched = Watched::Run(processes.path(), is_java.then_some(pid));
    let Ended { status, .. } = wait_within(budget.as_mut(), watched, || wait(child, signals), talk)?;
    let recorded = Recorded::read(processes.path(), is_java.then_some(pid));
    let mut profiles = profiles_since(&directory, started, &recorded);
    profiles.sort();
    if let Some(first) = &first {
        first.combine(&profiles, exit_code(status), talk);
    }
    // Nothing is written to them any more.
    profiles.iter().for_each(|profile| seal(profile));
    say_profiles(&profiles, talk);
    say_headers(&agent, &profiles, talk);
    for said in budget.iter().flat_map(Budget::said) {
        talk.note(format_args!("{said}"));
    }
    if profiles.is_empty() {
        say_why_there_are_none(&agent, probes.is_some(), &directory, talk);
    } else if let Some(report) = report
        && let Err(error) = report.print(&profiles, talk)
    {
        talk.warn(format_args!("{error:#}"));
    }
    say_missing_calls(&agent, &profiles, talk);
    let mut warnings = unmatched(&Recorded::unmatched(processes.path()), &profiles);
    if let Some(probes) = &probes {
        warnings.extend(probes.say(processes.path(), talk)?);
    }
    Ok(with_warnings(&warnings, agent.settings.strict, exit_of(exit_code(status)), talk))
}

/// The file of what `--subclasses-of` names, if it is given.
fn subclasses(
    agent: &Agent,
    command: &[OsString],
    (class_path, has_probes): (Option<&OsString>, bool),
    directory: &Path,
    talk: &Talk,
) -> Result<Option<NamedTempFile>> {
    let above = &agent.settings.subclasses_of;
    if above.is_empty() {
        return match class_path {
            Some(_) if !has_probes => Err(usage("--class-path goes with --probes and --subclasses-of")),
            _ => Ok(None),
        };
    }
    if agent.armed {
        return Err(usage("--subclasses-of: what --armed records is said later; leave out --armed"));
    }
    let is_java = is_java(&command[0]);
    subclasses::prepare(above, class_path, command, is_java, directory, talk).map(Some)
}

/// The kinds of remote calls that are recorded, and whether nothing else is.
fn remote_kinds(transforms: &[Transform]) -> (Vec<Remote>, bool) {
    let kinds = Remote::WORDS.iter().map(|(_, kind, _)| *kind);
    let kinds: Vec<Remote> = kinds.filter(|kind| transforms.contains(&kind.transform())).collect();
    let only_them = !kinds.is_empty() && kinds.len() == transforms.len();
    (kinds, only_them)
}

/// Whether requests were changed, where any were recorded.
fn say_headers(agent: &Agent, profiles: &[PathBuf], talk: &Talk) {
    let (remote, _) = remote_kinds(&agent.settings.transforms);
    let has_headers = remote.iter().any(|kind| *kind != Remote::Rmi);
    if has_headers && !profiles.is_empty() {
        talk.note(format_args!(
            "{}",
            match agent.settings.propagate {
                true =>
                    "requests, calls and messages without a traceparent header got one where they can \
                     have one (--propagate)",
                false =>
                    "no request, call or message was changed; --propagate adds a traceparent header where there is none",
            }
        ));
    }
}

/// Which kinds of remote calls the profiles have none of, though they were recorded.
fn say_missing_calls(agent: &Agent, profiles: &[PathBuf], talk: &Talk) {
    let (remote, only_remote) = remote_kinds(&agent.settings.transforms);
    if !remote.is_empty()
        && !profiles.is_empty()
        && let Some(text) = no_remote_calls(profiles, &remote, only_remote)
    {
        talk.note(format_args!("{text}"));
    }
}

/// The run in which nothing is recorded, or how this command ends without another one.
fn first_run(
    agent: &Agent,
    (command, no_children): (&[OsString], bool),
    (out, directory): (Option<&Path>, &Path),
    talk: &Talk,
) -> Result<Result<First, Exit>> {
    agent.check_twice()?;
    // What the second run refuses is refused before the program runs.
    let replaced = out.map(Replaced::new).transpose()?.flatten();
    replaced.into_iter().for_each(Replaced::restore);
    let run = First::run(agent, command, no_children, directory, talk)?;
    if run.was_asked {
        talk.note(format_args!("the first run was interrupted: there is no second one, and no profile"));
        return Ok(Err(exit_of(run.code())));
    }
    talk.note(format_args!("second run: calls are recorded"));
    Ok(Ok(run))
}

/// Starts the program. A profile that it replaces goes only if it does start.
fn start(command: &mut Command, program: &OsStr, out: Option<&Path>, talk: &Talk) -> Result<Child> {
    if talk.shows_progress() {
        match out {
            Some(out) => talk.note(format_args!("the profile goes to {}", out.display())),
            None => talk.note(format_args!("the profile goes to NAME-PID.iprof in this directory")),
        }
    }
    let replaced = out.map(Replaced::new).transpose()?.flatten();
    let child = command.spawn();
    if let Some(replaced) = replaced {
        match child {
            Ok(_) => replaced.remove(),
            Err(_) => replaced.restore(),
        }
    }
    child.map_err(|error| cannot_start(program, error))
}

/// Waits for the program, and keeps its budget meanwhile.
fn wait_within(
    budget: Option<&mut Budget>,
    watched: Watched<'_>,
    wait: impl FnOnce() -> Result<Ended>,
    talk: &Talk,
) -> Result<Ended> {
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        if let Some(budget) = budget {
            scope.spawn(|| budget.keep(watched, &ended, talk));
        }
        let status = wait();
        ended.store(true, SeqCst);
        status
    })
}

/// Where each profile is, and how large.
fn say_profiles(profiles: &[PathBuf], talk: &Talk) {
    for profile in profiles {
        let size = fs::metadata(profile).map(|file| quantity(file.len() as f64, "bytes"));
        let path = profile.strip_prefix(".").unwrap_or(profile).display();
        talk.note(format_args!("profile: {path}, {}", size.as_deref().unwrap_or("no longer there")));
    }
}

/// Why there is no profile, as far as that is known.
fn say_why_there_are_none(agent: &Agent, has_probes: bool, directory: &Path, talk: &Talk) {
    if agent.armed {
        talk.note(format_args!("nothing was recorded: no recording was started while the program ran"));
    } else if let (remote, true) = remote_kinds(&agent.settings.transforms) {
        talk.note(format_args!("{}", made_no_remote_calls(&remote, true)));
    } else if has_probes && !agent.settings.records() {
        talk.note(format_args!(
            "nothing was recorded: --probes alone inserts its calls only; --transform method-events records calls, too"
        ));
    } else {
        talk.warn(format_args!("no profile was written to {}", directory.display()));
    }
}

fn exit_of(code: u8) -> Exit {
    if code == 0 { Exit::Done } else { Exit::Program(code) }
}
