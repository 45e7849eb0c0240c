//! `instrument run -- java ..`: a program as it is, with the agent, which rewrites its classes as they load.
//!
//! 1. Resolve the settings as `rewrite` does, and find the agent's library ([`agent`]).
//! 2. Start the command with the library as an option of `java`: right behind that word; or, if the command is something else (a script), in
//!    `JAVA_TOOL_OPTIONS`, which every virtual machine it starts will obey.
//! 3. Wait; pass signals on that were sent to us alone.
//! 4. Say where the profiles are, print the report that was asked for, and end as the command did.

pub(crate) mod agent;
pub(crate) mod budget;
pub(crate) mod class_path;
pub(crate) mod probes;
pub(crate) mod profiles;
pub(crate) mod recording;
pub(crate) mod report;

use crate::commands::run::budget::{Budget, Watched};
use crate::commands::run::probes::RunProbes;
use crate::commands::run::profiles::{Recorded, Replaced, directory_of, profiles_since, unmatched};
use crate::commands::run::report::Report;
use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_analysis::report::text::quantity;
use instrument_control::run::{FOR_CHILDREN, PROCESSES, TOOL_OPTIONS};
use instrument_control::word::Transform;
use instrument_messages::{Listener, usage};
use instrument_trace::Profile;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::{Origin, WithOrigin};
use signal_hook::low_level::siginfo::{Cause, Sent};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::SystemTime;

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

    /// Insert calls of your own methods, where rules in this file say
    ///
    /// The book has the rules (chapter "Probes of your own"). The methods are looked for on the class path of the command, and the rules are
    /// tried on all classes there before the program starts. Nothing else is recorded, unless --transform asks for it.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    probes: Option<PathBuf>,

    /// Archives and directories with more classes of the program for --probes, separated as in a class path
    ///
    /// For a script whose class path is not known, and for what other class loaders load.
    #[arg(hide_short_help = true, long, value_name = "PATH", requires = "probes")]
    class_path: Option<OsString>,

    #[command(flatten)]
    agent: agent::Opts,

    /// The program: java and its arguments, or a script that starts java
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND", help_heading = "Arguments")]
    command: Vec<OsString>,
}

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    let words = opts.printed.as_deref().or(opts.view.then_some("view"));
    let report = words.map(|words| Report::new(words, opts.report_to.as_deref()));
    let report = report.transpose()?;
    let mut agent = opts.agent.resolve(opts.probes.is_some(), |name| std::env::var(name).ok(), talk)?;
    agent.armed = opts.armed;
    let prepare = |rules: &PathBuf| {
        let is_java = is_java(&opts.command[0]);
        RunProbes::prepare(rules, opts.class_path.as_ref(), &opts.command, is_java, &agent, talk)
    };
    let probes = opts.probes.as_ref().map(prepare).transpose()?;
    agent.probes = probes.as_ref().map(|probes| probes.path().to_owned());
    let options = agent.options(opts.out.as_deref())?;
    let mut argument = OsString::from("-agentpath:");
    argument.push(&agent.library);
    argument.push("=");
    argument.push(&options);
    let processes = tempfile::NamedTempFile::new().context("a file for the ids of processes")?;
    let (mut command, is_java) = command(&opts.command, &argument, opts.no_children)?;
    command.env(PROCESSES, processes.path());

    let directory = directory_of(opts.out.as_deref());
    fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
    let started = SystemTime::now();
    // Before the child is there: no signal may come between.
    let signals = SignalsInfo::<WithOrigin>::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])?;
    let replaced = opts.out.as_deref().map(Replaced::new).transpose()?.flatten();
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            if let Some(replaced) = replaced {
                replaced.restore();
            }
            return Err(error).with_context(|| opts.command[0].display().to_string());
        }
    };
    if let Some(replaced) = replaced {
        replaced.remove();
    }
    let pid = child.id();
    let mut budget = agent.budget.map(Budget::new);
    let ended = AtomicBool::new(false);
    let status = thread::scope(|scope| {
        if let Some(budget) = &mut budget {
            let (processes, ended) = (processes.path(), &ended);
            scope.spawn(move || {
                budget.keep(Watched::Run(processes, is_java.then_some(pid)), ended, talk);
            });
        }
        let status = wait(child, signals);
        ended.store(true, SeqCst);
        status
    })?;

    let recorded = Recorded::read(processes.path(), is_java.then_some(pid));
    let mut profiles = profiles_since(&directory, started, &recorded);
    profiles.sort();
    for profile in &profiles {
        let size = fs::metadata(profile).map(|file| quantity(file.len() as f64, "bytes"));
        let path = profile.strip_prefix(".").unwrap_or(profile).display();
        talk.note(format_args!("profile: {path}, {}", size.as_deref().unwrap_or("no longer there")));
    }
    for said in budget.iter().flat_map(Budget::said) {
        talk.note(format_args!("{said}"));
    }
    if profiles.is_empty() && agent.armed {
        talk.note(format_args!("nothing was recorded: nobody asked for it while the program ran"));
    } else if profiles.is_empty() && agent.settings.transforms == [Transform::Rmi] {
        talk.note(format_args!("no remote calls were recorded: {NO_REMOTE_CALLS}; {WITH_METHODS}"));
    } else if profiles.is_empty() && probes.is_some() && !agent.settings.records() {
        talk.note(format_args!(
            "nothing was recorded: --probes alone inserts its calls only; --transform method-events records calls, too"
        ));
    } else if profiles.is_empty() {
        talk.warn(format_args!("no profile was written to {}", directory.display()));
    } else if let Some(report) = report
        && let Err(error) = report.print(&profiles, talk)
    {
        talk.warn(format_args!("{error:#}"));
    }
    if agent.settings.transforms.contains(&Transform::Rmi)
        && !profiles.is_empty()
        && let Some(text) = no_remote_calls(&profiles, agent.settings.transforms == [Transform::Rmi])
    {
        talk.note(format_args!("{text}"));
    }
    let mut warnings = unmatched(&Recorded::unmatched(processes.path()), &profiles);
    if let Some(probes) = &probes {
        warnings.extend(probes.say(processes.path(), talk)?);
    }
    let exit = match exit_code(status) {
        0 => Exit::Done,
        code => Exit::Program(code),
    };
    Ok(with_warnings(&warnings, agent.settings.strict, exit, talk))
}

const NO_REMOTE_CALLS: &str = "the program made none by RMI, and served none";
const WITH_METHODS: &str = "--transform method-events,rmi records calls of methods, too";

/// What is said if remote calls were to be recorded, and the program made and served none. `only_them`: nothing else was to be recorded.
fn no_remote_calls(profiles: &[PathBuf], only_them: bool) -> Option<String> {
    let files = profiles.iter().filter_map(|path| fs::File::open(path).ok());
    let mut profiles = files.filter_map(|file| Profile::open(&file).ok());
    if profiles.any(|profile| profile.remote_calls.iter().any(|part| part.length > 0)) {
        return None;
    }
    let more = if only_them { format!("; {WITH_METHODS}") } else { String::new() };
    Some(format!("no remote calls were recorded: {NO_REMOTE_CALLS}{more}"))
}

fn exit_code(status: ExitStatus) -> u8 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)) as u8
}

fn is_java(program: &OsStr) -> bool {
    Path::new(program).file_stem() == Some(OsStr::new("java"))
}

/// The command with the agent, and whether it is `java` itself.
fn command(words: &[OsString], argument: &OsStr, no_children: bool) -> Result<(Command, bool)> {
    let (program, rest) = words.split_first().ok_or_else(|| usage("there is no command to run"))?;
    let mut command = Command::new(program);
    let is_java = is_java(program);
    let before = std::env::var_os(TOOL_OPTIONS);
    if is_java {
        command.arg(argument);
    } else {
        command.env(TOOL_OPTIONS, tool_options(before.clone(), argument)?);
    }
    let for_children = if no_children { before.unwrap_or_default() } else { tool_options(before, argument)? };
    command.env(FOR_CHILDREN, for_children);
    command.args(rest);
    Ok((command, is_java))
}

/// The variable with one more option. The virtual machine splits it at blanks that are not quoted.
fn tool_options(before: Option<OsString>, argument: &OsStr) -> Result<OsString> {
    let argument = argument.to_str().ok_or_else(|| usage("the path of the agent is not UTF-8"))?;
    let quote = ['\'', '"'].into_iter().find(|quote| !argument.contains(*quote));
    let quote = quote.ok_or_else(|| usage("an option of the agent holds both kinds of quotes"))?;
    let mut options = before.unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    options.push(format!("{quote}{argument}{quote}"));
    Ok(options)
}

/// Waits for the child. What a process has sent to us is sent on; what a terminal sends, the child gets from it as well.
fn wait(mut child: Child, mut signals: SignalsInfo<WithOrigin>) -> Result<ExitStatus> {
    let handle = signals.handle();
    let pid = Pid::from_child(&child);
    let forwarder = std::thread::spawn(move || {
        for Origin { signal, cause, .. } in &mut signals {
            if matches!(cause, Cause::Sent(Sent::User | Sent::TKill | Sent::Queue))
                && let Some(signal) = Signal::from_named_raw(signal)
            {
                // It may have ended just now.
                let _ = kill_process(pid, signal);
            }
        }
    });
    let status = child.wait();
    handle.close();
    let _ = forwarder.join();
    Ok(status?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<&str> {
        command.get_args().map(|word| word.to_str().unwrap()).collect()
    }

    #[test]
    fn the_agent_comes_right_behind_java() {
        let given = ["/jdk/bin/java", "-jar", "a.jar", "-agentpath:x"].map(OsString::from);
        for (no_children, for_children) in [(false, "'-agentpath:a=b'"), (true, "")] {
            let (command, is_java) = command(&given, OsStr::new("-agentpath:a=b"), no_children).unwrap();
            assert!(is_java);
            assert_eq!(words(&command), ["-agentpath:a=b", "-jar", "a.jar", "-agentpath:x"]);
            let set: Vec<_> = command.get_envs().collect();
            assert_eq!(set, [(OsStr::new(FOR_CHILDREN), Some(OsStr::new(for_children)))]);
        }
    }

    #[test]
    fn anything_else_gets_it_from_the_environment() {
        let (command, is_java) =
            command(&["./start.sh".into()], OsStr::new("-agentpath:a b=c"), true).unwrap();
        assert!(!is_java);
        assert_eq!(words(&command), [""; 0]);
        let value = command.get_envs().find(|(name, _)| *name == TOOL_OPTIONS).unwrap().1;
        assert!(value.unwrap().to_str().unwrap().ends_with("'-agentpath:a b=c'"));
        let both = tool_options(Some("-Xmx1g".into()), OsStr::new("-agentpath:it's")).unwrap();
        assert_eq!(both, "-Xmx1g \"-agentpath:it's\"");
        assert!(tool_options(None, OsStr::new("'\"")).is_err());
    }
}
