//! `instrument gate`: baselines and budgets over exact figures; see `instrument_analysis::gate`.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result, anyhow};
use instrument_analysis::gate::baseline::{MOST_CONTEXTS, moved_once};
use instrument_analysis::gate::check::{comparable, counted};
use instrument_analysis::gate::conditions::Refusal;
use instrument_analysis::gate::file::GateFile;
use instrument_analysis::gate::open::{lines, open as open_run};
use instrument_analysis::gate::print::{self, Format};
use instrument_analysis::gate::unsettled::Unsettled;
use instrument_analysis::gate::{Baseline, Outcome, Run, check, sarif};
use instrument_analysis::session::lookup::{self, Given};
use instrument_artifacts::outputs::Outputs;
use instrument_artifacts::sources::{self, Sources};
use instrument_messages::{Listener, usage};
use std::collections::{BTreeSet, HashSet};

/// Runs from which it is seen what moves.
const FEW_RUNS: u64 = 3;

/// Performance tests that do not flake: compare exact figures of runs with a baseline, and with budgets
///
/// A gate is a text file: what several runs of one build had in common (calls, allocations and bytes of each method and each context), and budgets that you write into it. Times are never compared.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Learn a baseline from several runs of one build
    ///
    /// What was the same in all runs is judged by `check`; what moved is listed with its reason and is not. Budgets that the file has already stay.
    Learn {
        /// Profiles, each of a run of the same build with the same input
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
        /// Where to write
        #[arg(short, long, value_name = "GATE")]
        output: PathBuf,
        /// Keep so many contexts at most, the outermost ones; methods are all kept
        #[arg(long, value_name = "N", default_value_t = MOST_CONTEXTS)]
        contexts: usize,
        /// Only what happened within the boundary of this name, such as a test (`instrument.api.Boundary`); the process may still run
        #[arg(long, value_name = "NAME")]
        boundary: Option<String>,
    },
    /// Compare runs with a gate; exit code 0: nothing grew and every budget is kept, 1: not so, 4: the runs cannot be compared
    ///
    /// Of several runs of one build all must have grown, so that chance is no finding.
    Check {
        /// The gate
        #[arg(value_name = "GATE")]
        gate: PathBuf,
        /// Profiles
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
        /// How to print what was found
        #[arg(long, value_enum, default_value_t = Form::Text, value_name = "FORMAT")]
        format: Form,
        /// Write it to a file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// sarif: directories in which the source files are looked for, as com/acme/Shop.java below one of them
        ///
        /// Without it, those are taken that builds usually have below the working directory: src/main/java and its like, of every module.
        #[arg(long, value_name = "PATH")]
        source_path: Option<OsString>,
        /// Only what happened within the boundary of this name, such as a test (`instrument.api.Boundary`); the process may still run
        #[arg(long, value_name = "NAME")]
        boundary: Option<String>,
    },
    /// Take the figures of these runs as right from now on; methods whose counts vary stay ignored
    Bless {
        /// The gate; it is replaced
        #[arg(value_name = "GATE")]
        gate: PathBuf,
        /// Profiles
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
        /// Keep so many contexts at most
        #[arg(long, value_name = "N", default_value_t = MOST_CONTEXTS)]
        contexts: usize,
        /// Only what happened within the boundary of this name, such as a test (`instrument.api.Boundary`); the process may still run
        #[arg(long, value_name = "NAME")]
        boundary: Option<String>,
    },
}

/// How an outcome is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people
    Text,
    /// For a pull request
    Markdown,
    /// One document
    Json,
    /// JUnit XML, for a build server
    Junit,
    /// SARIF 2.1.0, for a code host: each finding at a line of the sources
    Sarif,
}

pub(crate) fn run(opts: Opts, talk: &Talk) -> Result<Exit> {
    match opts.action {
        Action::Learn { runs, output, contexts, boundary } => {
            learn(&Runs::new(runs, boundary), &output, contexts, talk)
        }
        Action::Check { gate, runs, format, output, source_path, boundary } => {
            if source_path.is_some() && format != Form::Sarif {
                return Err(usage("--source-path goes with --format sarif"));
            }
            let print = Print { form: format, output, source_path };
            judge(&gate, &Runs::new(runs, boundary), &print, talk)
        }
        Action::Bless { gate, runs, contexts, boundary } => {
            bless(&gate, &Runs::new(runs, boundary), contexts, talk)
        }
    }
}

/// How an outcome is printed, and where.
struct Print {
    form: Form,
    output: Option<PathBuf>,
    source_path: Option<OsString>,
}

impl Print {
    /// Prints the outcome of a check of the gate at `path`.
    fn print(&self, outcome: &Outcome, path: &Path, runs: &[PathBuf], talk: &Talk) -> Result<()> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut text = Vec::new();
        let format = match self.form {
            Form::Text => Some(Format::Text),
            Form::Markdown => Some(Format::Markdown),
            Form::Json => Some(Format::Json),
            Form::Junit => Some(Format::Junit),
            Form::Sarif => None,
        };
        match format {
            Some(format) => print::write(&mut text, outcome, &name, format)?,
            None => self.sarif(&mut text, outcome, path, runs)?,
        }
        if let Some(output) = &self.output {
            let mut outputs = Outputs::default();
            outputs.file(output, None, &text)?;
            return outputs.commit();
        }
        let mut out = talk.results();
        out.write_all(&text)?;
        Ok(out.flush()?)
    }

    fn sarif(&self, out: &mut Vec<u8>, outcome: &Outcome, path: &Path, runs: &[PathBuf]) -> Result<()> {
        let here = std::env::current_dir()?;
        let top = sources::top(&here);
        let roots = self.source_path.iter().flat_map(std::env::split_paths).map(|root| here.join(root));
        let sources = match self.source_path {
            Some(_) => Sources::new(roots.collect()),
            None => Sources::usual(&here),
        };
        let lines = lines(runs)?;
        let line = |name: &str| {
            let (file, number) = lines.get(name)?;
            Some(sarif::Line { file: sources::address(&sources.find(file)?, top), number: *number })
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let gate = sources::address(&here.join(path), top);
        Ok(sarif::write(out, outcome, &sarif::Places { name: &name, gate, line: &line })?)
    }
}

/// Profiles, and which part of them is asked for.
struct Runs {
    paths: Vec<PathBuf>,
    boundary: Option<String>,
}

impl Runs {
    fn new(paths: Vec<PathBuf>, boundary: Option<String>) -> Runs {
        Runs { paths, boundary }
    }
}

/// Runs that can be judged, and all methods that were instrumented; or a run that cannot be, and why. Of several runs those may be without
/// the boundary that did something else.
fn read(given: &Runs, methods: &mut HashSet<String>) -> Result<Result<Vec<Run>, (PathBuf, Refusal)>> {
    let mut runs = Vec::with_capacity(given.paths.len());
    let mut elsewhere = None;
    for path in &given.paths {
        match open_run(path, given.boundary.as_deref())? {
            Ok(run) => {
                methods.extend(run.instrumented.iter().cloned());
                // Which classes were loaded before is no fact of a part.
                let instrumented = if given.boundary.is_some() { BTreeSet::new() } else { run.instrumented };
                runs.push(Run { instrumented, ..run });
            }
            Err(refusal @ Refusal::NoPart(_)) => elsewhere = Some((path.clone(), refusal)),
            Err(refusal) => return Ok(Err((path.clone(), refusal))),
        }
    }
    Ok(elsewhere.filter(|_| runs.is_empty()).map_or(Ok(runs), Err))
}

fn refused((path, refusal): &(PathBuf, Refusal), talk: &Talk) -> Exit {
    talk.error(format_args!("{}: cannot be judged: {refusal}", path.display()));
    Exit::Undetermined
}

fn open(path: &Path) -> Result<GateFile> {
    if !path.exists() {
        let gate = path.display();
        return Err(usage(format!(
            "{gate}: no gate yet; `instrument gate learn -o {gate} RUN RUN RUN` writes it from three runs"
        )));
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    GateFile::parse(&text).with_context(|| path.display().to_string())
}

fn write(path: &Path, gate: &GateFile) -> Result<()> {
    let mut outputs = Outputs::default();
    outputs.file(path, None, gate.to_string().as_bytes())?;
    outputs.commit()
}

/// What was learned, and how many methods moved in one run only.
type Learned = (Baseline, usize);

/// What several runs have in common, or why they cannot be compared.
fn learned(given: &Runs, contexts: usize, known: &Unsettled) -> Result<Result<Learned, (PathBuf, Refusal)>> {
    let mut runs = match read(given, &mut HashSet::new())? {
        Ok(runs) => runs,
        Err(refused) => return Ok(Err(refused)),
    };
    // The labels of runs are their paths, by which a refusal is found again.
    runs.sort_by(|a, b| a.label.cmp(&b.label));
    let learned = Baseline::learn_more(&runs, contexts, known).map(|baseline| (baseline, moved_once(&runs)));
    Ok(learned.map_err(|refused| (PathBuf::from(refused.0), refused.1)))
}

fn learn(given: &Runs, output: &Path, contexts: usize, talk: &Talk) -> Result<Exit> {
    let mut gate = if output.exists() { open(output)? } else { GateFile::new() };
    let (baseline, once) = match learned(given, contexts, &Unsettled::default())? {
        Ok(learned) => learned,
        Err(refusal) => return Ok(refused(&refusal, talk)),
    };
    if baseline.runs < FEW_RUNS {
        let runs = if baseline.runs == 1 { "one run does" } else { "two runs do" };
        talk.caution(format_args!(
            "{runs} not show what moves from run to run: learn from {FEW_RUNS} or more, or `check` may find what is no fault"
        ));
    }
    say(&baseline, output, talk);
    if once > 0 {
        let methods = if once == 1 { "one method".into() } else { format!("{once} methods") };
        talk.note(format_args!(
            "{methods} moved in one of the runs only: there may be others that did not yet; learn from more runs to find them"
        ));
    }
    gate.baseline = Some(baseline);
    write(output, &gate)?;
    Ok(Exit::Done)
}

fn bless(path: &Path, given: &Runs, contexts: usize, talk: &Talk) -> Result<Exit> {
    let mut gate = open(path)?;
    let mut baseline = gate.baseline.take().unwrap_or_default();
    if baseline.methods.is_empty() {
        return Err(usage(format!(
            "{}: nothing was learned yet; use `instrument gate learn`",
            path.display()
        )));
    }
    let (new, _) = match learned(given, contexts, &baseline.unsettled)? {
        Ok(learned) => learned,
        Err(refusal) => return Ok(refused(&refusal, talk)),
    };
    if let Err(refusal) = new.conditions.comparable(&baseline.conditions, &path.display().to_string()) {
        return Ok(refused(&(given.paths[0].clone(), refusal), talk));
    }
    baseline.bless(new);
    say(&baseline, path, talk);
    gate.baseline = Some(baseline);
    write(path, &gate)?;
    Ok(Exit::Done)
}

/// What a baseline holds.
fn say(baseline: &Baseline, path: &Path, talk: &Talk) {
    let moving = baseline.methods.values().filter(|method| method.ranges[0].value().is_none()).count();
    let (stable, all) = baseline.stable_calls();
    let share = if all == 0 { 100.0 } else { (stable as f64 / all as f64 * 10_000.0).floor() / 100.0 };
    let (methods, runs) = (baseline.methods.len(), baseline.runs);
    let path = path.display();
    talk.note(format_args!("{runs} run{} -> {path}", if runs == 1 { "" } else { "s" }));
    talk.note(format_args!(
        "{} of {methods} methods never moved, with {share} % of the calls",
        methods - moving
    ));
    if let Some(levels) = baseline.levels.filter(|levels| *levels > 0) {
        talk.note(format_args!(
            "contexts of more than {levels} levels are left out; --contexts N keeps more"
        ));
    }
}

fn judge(path: &Path, given: &Runs, print: &Print, talk: &Talk) -> Result<Exit> {
    let gate = open(path)?;
    let mut methods = HashSet::new();
    let runs = match read(given, &mut methods)? {
        Ok(runs) => runs,
        Err(refusal) => return Ok(refused(&refusal, talk)),
    };
    if gate.baseline.is_none() && gate.budgets.is_empty() {
        return Err(usage(format!(
            "{}: it has no budget, and nothing was learned; use `instrument gate learn`",
            path.display()
        )));
    }
    for run in &runs {
        let of = path.display().to_string();
        if let Some(Err(refusal)) = gate.baseline.as_ref().map(|baseline| comparable(baseline, run, &of)) {
            return Ok(refused(&(PathBuf::from(&run.label), refusal), talk));
        }
        if let Err(refusal) = counted(&gate.budgets, run) {
            return Ok(refused(&(PathBuf::from(&run.label), refusal), talk));
        }
    }
    // A budget of nothing would be kept for ever. Of a part the classes may not be loaded yet: then nothing is what was to be.
    let names: HashSet<&str> = methods
        .iter()
        .map(String::as_str)
        .chain(runs.iter().flat_map(|run| run.names.iter().map(String::as_str)))
        .collect();
    let patterns = gate.budgets.iter().flat_map(|budget| {
        let both = [Some(&budget.method), budget.under.as_ref()];
        both.into_iter().flatten().map(move |pattern| (budget, pattern))
    });
    for (budget, pattern) in patterns {
        if !names.iter().any(|name| pattern.matches_name(name)) {
            let what = Given { name: "the budget", what: "method" };
            let message = lookup::nothing_fits(what, pattern.text(), &names);
            if given.boundary.is_none() || !budget.is_of_nothing() {
                return Err(anyhow!("{}: {message}", path.display()));
            }
            talk.caution(format_args!("{message}"));
        }
    }
    let outcome = check(gate.baseline.as_ref(), &gate.budgets, &runs);
    print.print(&outcome, path, &given.paths, talk)?;
    Ok(if outcome.passes() { Exit::Done } else { Exit::Negative })
}
