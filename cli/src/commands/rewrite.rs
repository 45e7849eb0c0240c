//! `instrument rewrite`, the default command: inputs to outputs, with ids, an account and a summary.

use crate::io::exit::Exit;
use crate::io::progress::Progress;
use crate::io::talk::Talk;
use crate::options::command_line::meant_as;
use crate::options::settings;
use anyhow::Result;
use instrument_artifacts::engine;
use instrument_artifacts::input::Job;
use instrument_artifacts::launcher::Launcher;
use instrument_artifacts::rewrite::{self, Engine, Request, Rewritten};
use instrument_artifacts::settings::Settings;
use instrument_artifacts::unit::UnitKind;
use instrument_control::word::{Record, Transform};
use instrument_messages::{Listener, number, usage};
use instrument_rewriter::account::Tally;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Rewrite archives, class files and directories (the default command)
///
/// Without -o, X.jar becomes X-instrumented.jar beside it. Options come from the command line, from INSTRUMENT_* in the environment, from
/// instrument.toml, in this order.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// Jars, wars, ears, class files, directories
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Where to write; a directory if there are several inputs
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Replace the inputs
    #[arg(long, conflicts_with = "output")]
    in_place: bool,

    /// Leave an input that was instrumented before as it is, and succeed
    ///
    /// With -o it is copied, so that the output is there; else nothing is written for it. With which options it was instrumented is not
    /// compared.
    #[arg(long)]
    if_needed: bool,

    /// Let `java -jar` record all remote calls (--transform rmi) without the native agent, under the JDK in this directory; repeatable
    ///
    /// Stubs are dynamic proxies, which have no class file: only the JDK's own classes can tell of the calls that they make. The jar gets a
    /// Launcher-Agent-Class, which redefines these classes when the program starts. Their new bytes are made now, for exactly the JDKs (9 or
    /// later; 11, 17, 21 and 25 are tested) that are named; under any other the program says that calls are missing. The JVM may print a
    /// warning that it shares less class data. `instrument jdk-patch` does the same for programs that are not started with -jar.
    #[arg(long, value_name = "JAVA_HOME")]
    launcher_agent: Vec<PathBuf>,

    /// Check the outputs as the JVM would (see `verify`): what their inputs do not have is a fault, exit code 1
    #[arg(long)]
    verify: bool,

    /// Insert calls of static methods of your own, where the rules in this file say; nothing else, unless --transform asks for it
    ///
    /// A rule says in which methods (patterns, annotations, supertypes), where (entry, return, throw, calls, fields, new objects, lines) which
    /// public static method is called with what. Its class is looked for in the inputs and on --class-path; the types of what is passed are
    /// checked. The outputs are checked as with --verify. The program needs the class when it runs.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    probes: Option<PathBuf>,

    /// Archives and directories with more classes for --probes and --verify, separated as in a class path
    #[arg(hide_short_help = true, long, value_name = "PATH")]
    class_path: Option<std::ffi::OsString>,

    /// Print a summary as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: settings::Opts,
}

/// The `--json` summary.
#[derive(Serialize)]
struct Summary<'a> {
    outputs: Vec<OutputSummary>,
    /// Inputs that were instrumented before (`--if-needed`).
    left: Vec<String>,
    #[serde(flatten)]
    tally: &'a Tally,
    ids: IdSummary,
    /// What was in effect, wherever it came from.
    options: &'a Settings,
}

#[derive(Serialize)]
struct OutputSummary {
    input: String,
    output: String,
}

#[derive(Serialize)]
struct IdSummary {
    file: Option<String>,
    new: usize,
    total: usize,
}

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    run_with(opts, talk, engine::run)
}

fn run_with(opts: Opts, talk: &Talk, engine: Engine) -> Result<Exit> {
    let mut settings = settings::resolve(opts.settings, opts.probes.is_some(), talk)?;
    if settings.record == Record::Off {
        // It is said to the program when it runs, and to this command only because both read the same environment.
        talk.note(format_args!("record=off is about a run: the program will record, unless it is started with INSTRUMENT_RECORD=off"));
        settings.record = Record::Tree;
    }
    if settings.record == Record::Samples {
        return Err(usage(
            "--record samples rewrites nothing: start the program with `instrument run --record samples -- java ..`, or use `instrument attach`",
        ));
    }
    if !opts.launcher_agent.is_empty() && !settings.transforms.contains(&Transform::Rmi) {
        return Err(usage(
            "--launcher-agent is for remote calls, and rmi is not among the transforms; add --transform method-events,rmi",
        ));
    }
    settings.launcher = Launcher::of(&opts.launcher_agent)?;
    let class_path = opts.class_path.iter().flat_map(std::env::split_paths);
    let request = Request {
        inputs: &opts.inputs,
        output: opts.output.as_deref(),
        in_place: opts.in_place,
        if_needed: opts.if_needed,
        verify: opts.verify,
        probes: opts.probes.as_deref(),
        class_path: class_path.map(|path| path.display().to_string()).collect(),
        java_home: std::env::var_os("JAVA_HOME").map(PathBuf::from),
        meant_as: &meant_as,
    };
    let progress = |total| -> rewrite::Progress {
        let bar = Progress::new(total, talk);
        Box::new(move |bytes, name| bar.advance(bytes, name))
    };
    let (done, settings) = rewrite::run(request, settings, engine, &progress, talk)?;
    say_outcome(&done, &settings, talk);
    if opts.json {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&Summary::of(&done, &settings))?)?;
    }
    if done.verify(talk)? > 0 {
        return Ok(Exit::Negative);
    }
    let tally = &done.tally;
    Ok(if settings.strict && tally.skipped() + tally.unmatched > 0 { Exit::Partial } else { Exit::Done })
}

impl<'a> Summary<'a> {
    fn of(done: &'a Rewritten, settings: &'a Settings) -> Summary<'a> {
        let output = |job: &Job| OutputSummary {
            input: job.input.display().to_string(),
            output: job.output.display().to_string(),
        };
        Summary {
            outputs: done.jobs.iter().map(output).collect(),
            left: done.left.iter().map(|job| job.input.display().to_string()).collect(),
            tally: &done.tally,
            ids: IdSummary {
                file: settings.ids.as_ref().map(|path| path.display().to_string()),
                new: done.ids - done.known_ids,
                total: done.ids,
            },
            options: settings,
        }
    }
}

fn say_outcome(done: &Rewritten, settings: &Settings, talk: &Talk) {
    let Rewritten { jobs, left, tally, .. } = done;
    for job in left {
        let copied = if job.in_place() { "" } else { " and copied" };
        talk.note(format_args!("{}: already instrumented; left as it is{copied}", job.input.display()));
    }
    for job in jobs {
        talk.note(format_args!("{} -> {}", job.input.display(), job.output.display()));
    }
    if !jobs.is_empty() {
        say_tally(tally, settings, talk);
    }
    for remark in done.remarks() {
        talk.warn(format_args!("{remark}"));
    }
    let homeless = |job: &&Job| job.kind == UnitKind::ClassFile && settings.ids.is_none();
    if done.needs_ids
        && tally.methods.rewritten > 0
        && let Some(job) = jobs.iter().find(homeless)
    {
        talk.warn(format_args!(
            "{}: a class file cannot contain its id map; --ids FILE keeps it",
            job.input.display()
        ));
    }
}

fn say_tally(tally: &Tally, settings: &Settings, talk: &Talk) {
    let (classes, methods) = (&tally.classes, &tally.methods);
    talk.note(format_args!(
        "{} of {} rewritten; {} unchanged, {} excluded",
        number(methods.rewritten, "method"),
        number(classes.rewritten, "class"),
        number(classes.unchanged, "class"),
        classes.excluded
    ));
    let filters = settings.filters();
    if methods.rewritten == 0 && classes.excluded + methods.excluded > 0 && !filters.is_empty() {
        talk.warn(format_args!("nothing was rewritten: {filters} leaves no method with code"));
    }
    if tally.skipped() > 0 {
        talk.warn(format_args!(
            "skipped: {}, {}; --verbose or --account FILE says which and why",
            number(classes.skipped, "class"),
            number(methods.skipped, "method")
        ));
    }
}

#[cfg(test)]
mod tests;
