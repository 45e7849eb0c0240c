//! `instrument rewrite`, the default command: inputs to outputs, with ids, an account and a summary.
//!
//! 1. Resolve the settings, decide on all outputs, find the files: whatever can be refused is refused before anything is written.
//! 2. Lock and read the shared id file, if there is one.
//! 3. Let the [`engine`] rewrite; its outputs are staged beside their targets.
//! 4. Append the new ids and wait until they are on disk: an output never has ids that the file does not know.
//! 5. Rename the outputs into place, and say what was done.

mod staging;

use crate::commands::verify::Judge;
use crate::io::exit::{Exit, usage};
use crate::io::output::Outputs;
use crate::io::talk::Talk;
use crate::io::words::number;
use crate::options::settings::{self, Settings};
use crate::rewriting::engine::{self, Sink};
use crate::rewriting::id_file::IdFile;
use crate::rewriting::input::{self, Job};
use crate::rewriting::launcher::Launcher;
use crate::rewriting::probes::{Probes, Subject};
use crate::rewriting::tree::Tree;
use crate::rewriting::unit::{FileKind, InputFile, Unit, UnitKind};
use anyhow::{Context, Result};
use instrument_control::run::RuleOutcome;
use instrument_control::word::{Record, Transform};
use instrument_names::id_map::IdMap;
use instrument_rewriter::account::{ProbeRecord, Tally};
use serde::Serialize;
use staging::Staging;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

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

/// [`engine::run`], or what a test puts in its place.
type Engine = fn(&[Unit], &Settings, &mut IdMap, &mut dyn Sink) -> Result<Tally>;

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    run_with(opts, talk, engine::run)
}

fn run_with(opts: Opts, talk: &Talk, engine: Engine) -> Result<Exit> {
    let mut settings = Settings::resolve(opts.settings, opts.probes.is_some(), talk)?;
    if settings.record == Record::Off {
        // It is said to the program when it runs, and to this command only because both read the same environment.
        talk.note(format_args!("record=off is about a run: the program will record, unless it is started with INSTRUMENT_RECORD=off"));
        settings.record = Record::Tree;
    }
    if !opts.launcher_agent.is_empty() && !settings.transforms.contains(&Transform::Rmi) {
        return Err(usage(
            "--launcher-agent is for remote calls, and rmi is not among the transforms; add --transform method-events,rmi",
        ));
    }
    settings.launcher = Launcher::of(&opts.launcher_agent)?;
    let jobs = input::plan(&opts.inputs, opts.output.as_deref(), opts.in_place, opts.if_needed)?;
    check_side_files(&settings, &jobs)?;
    let (left, jobs): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.left);
    let (units, trees) = find_files(&jobs)?;

    let (mut id_file, mut ids) = match &settings.ids {
        Some(path) => IdFile::open(path, talk).map(|(file, map)| (Some(file), map))?,
        None => (None, IdMap::new()),
    };
    let known_ids = ids.len();
    if !jobs.is_empty() {
        engine::restrict_to_subclasses(&units, &mut settings)?;
    }

    // Before an input is replaced.
    let verifies = (opts.verify || opts.probes.is_some()) && !jobs.is_empty();
    let mut judge =
        verifies.then(|| Judge::open(std::env::var_os("JAVA_HOME").map(PathBuf::from), talk)).transpose()?;
    let class_path = opts.class_path.iter().flat_map(std::env::split_paths);
    let class_path: Vec<String> = class_path.map(|path| path.display().to_string()).collect();
    let probes = match (&opts.probes, &mut judge) {
        (Some(file), Some(judge)) => {
            Some(Probes::open(file, Subject::Inputs(&units), &class_path, judge.jdk())?)
        }
        _ => None,
    };
    settings.own_calls = probes.as_ref().map(|probes| probes.rules() as _);
    if let Some(judge) = &mut judge {
        judge.class_path = class_path;
    }
    let names = |path: fn(&Job) -> &PathBuf| {
        jobs.iter().map(|job| path(job).display().to_string()).collect::<Vec<_>>()
    };
    let originals = judge.as_ref().map(|judge| judge.all(&names(|job| &job.source))).transpose()?;

    let mut staging = Staging::new(&jobs, &units, &settings, talk)?;
    staging.record_what_is_not_followed(&trees)?;
    let mut rewritten = engine(&units, &settings, &mut ids, &mut staging)?;
    if let Some(probes) = &probes {
        rewritten.unmatched += account_for_probes(probes, &mut staging, talk)?;
    }
    let (mut outputs, mut tally) = staging.finish(&trees, &settings)?;
    tally.add(&rewritten);
    if let Some(file) = &mut id_file {
        file.append(&ids)?;
    }
    left.iter().try_for_each(|job| copy(job, &mut outputs))?;
    outputs.commit()?;

    for job in &left {
        let copied = if job.in_place() { "" } else { " and copied" };
        talk.note(format_args!("{}: already instrumented; left as it is{copied}", job.input.display()));
    }
    for job in &jobs {
        talk.note(format_args!("{} -> {}", job.input.display(), job.output.display()));
    }
    if !jobs.is_empty() {
        say_what_was_done(&tally, &settings, talk);
    }
    let homeless = |job: &&Job| job.kind == UnitKind::ClassFile && settings.ids.is_none();
    let needs_ids = settings.records() || probes.as_ref().is_some_and(Probes::pass_ids);
    if needs_ids
        && tally.methods.rewritten > 0
        && let Some(job) = jobs.iter().find(homeless)
    {
        talk.warn(format_args!(
            "{}: a class file cannot contain its id map; --ids FILE keeps it",
            job.input.display()
        ));
    }
    if opts.json {
        let output = |job: &Job| OutputSummary {
            input: job.input.display().to_string(),
            output: job.output.display().to_string(),
        };
        let summary = Summary {
            outputs: jobs.iter().map(output).collect(),
            left: left.iter().map(|job| job.input.display().to_string()).collect(),
            tally: &tally,
            ids: IdSummary {
                file: settings.ids.as_ref().map(|path| path.display().to_string()),
                new: ids.len() - known_ids,
                total: ids.len(),
            },
            options: &settings,
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", serde_json::to_string(&summary)?)?;
    }
    if let (Some(judge), Some(originals)) = (judge, originals)
        && judge.outputs(&names(|job| &job.target), &originals, talk)? > 0
    {
        return Ok(Exit::Negative);
    }
    Ok(if settings.strict && tally.skipped() + tally.unmatched > 0 { Exit::Partial } else { Exit::Done })
}

/// Says what became of each rule; returns how many fit nothing.
fn account_for_probes(probes: &Probes<'_>, staging: &mut Staging<'_>, talk: &Talk) -> Result<u64> {
    let outcomes = probes.outcomes()?;
    let file = probes.file();
    for RuleOutcome { rule, methods, places, left, .. } in &outcomes {
        staging.probe(&ProbeRecord { file, rule, places: *places, methods: *methods, left })?;
    }
    for warning in probes.say(&outcomes, talk)? {
        talk.warn(format_args!("{warning}"));
    }
    Ok(outcomes.iter().filter(|outcome| outcome.places == 0).count() as u64)
}

/// Stages a copy of an input that needs nothing, if its output is to be another file.
fn copy(job: &Job, outputs: &mut Outputs) -> Result<()> {
    if job.in_place() {
        return Ok(());
    }
    if let Some(directory) = job.target.parent() {
        outputs.create_directory(directory)?;
    }
    if job.kind == UnitKind::Directory {
        let root = outputs.tree(&job.target)?;
        return Tree::read(&job.source)?.copy_all(&job.source, &root);
    }
    let read = || -> Result<_> { Ok((fs::read(&job.source)?, job.source.metadata()?.permissions())) };
    let (bytes, permissions) = read().with_context(|| job.input.display().to_string())?;
    outputs.file(&job.target, Some(permissions), &bytes)
}

fn say_what_was_done(tally: &Tally, settings: &Settings, talk: &Talk) {
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
            "skipped: {}, {}; --verbose or --report says which and why",
            number(classes.skipped, "class"),
            number(methods.skipped, "method")
        ));
    }
}

/// The account and the id file must not be an input, an output, or each other.
fn check_side_files(settings: &Settings, jobs: &[Job]) -> Result<()> {
    let resolve = |path: &Path| {
        path.canonicalize().or_else(|_| {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            parent.canonicalize().map(|parent| parent.join(path.file_name().unwrap_or_default()))
        })
    };
    let mut taken = Vec::new();
    for (option, path) in [("--ids", &settings.ids), ("--report", &settings.report)] {
        let Some(path) = path else { continue };
        let resolved = resolve(path).with_context(|| format!("{option} {}", path.display()))?;
        if resolved.exists() && !resolved.is_file() {
            return Err(usage(format!("{option} {}: exists and is not a regular file", path.display())));
        }
        for job in jobs {
            let clash = |other: &Path| resolved == other || resolved.starts_with(other);
            if clash(&job.source) || clash(&job.target) {
                let (input, output) = (job.input.display(), job.output.display());
                return Err(usage(format!(
                    "{option} {}: is, or lies in, {input} or {output}",
                    path.display()
                )));
            }
        }
        if taken.contains(&resolved) {
            return Err(usage(format!("{option} {}: --ids and --report are the same file", path.display())));
        }
        taken.push(resolved);
    }
    Ok(())
}

/// The files of each job; the trees of those that are directories.
fn find_files(jobs: &[Job]) -> Result<(Vec<Unit>, Vec<Option<Tree>>)> {
    let mut units = Vec::with_capacity(jobs.len());
    let mut trees = Vec::with_capacity(jobs.len());
    for job in jobs {
        let label = job.input.display().to_string();
        let mut tree = None;
        let files = match job.kind {
            UnitKind::Directory => {
                let found = tree.insert(Tree::read(&job.source).with_context(|| label.clone())?);
                std::mem::take(&mut found.inputs)
            }
            UnitKind::Archive | UnitKind::ClassFile => {
                let kind =
                    if job.kind == UnitKind::Archive { FileKind::Archive } else { FileKind::ClassFile };
                let size = job.source.metadata().with_context(|| label.clone())?.len();
                vec![InputFile { path: job.source.clone(), entry: None, kind, size }]
            }
        };
        units.push(Unit { label, kind: job.kind, files });
        trees.push(tree);
    }
    Ok((units, trees))
}

#[cfg(test)]
mod tests;
