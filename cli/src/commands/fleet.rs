//! `instrument fleet`: questions to a dataset of many profiles, which DuckDB answers. The questions are the files of `fleet/sql`. A profile of
//! all processes together is written without it.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::settings::words;
use anyhow::{Context, Result, anyhow, bail};
use instrument_analysis::fleet::{self, Chosen, Summed};
use instrument_artifacts::outputs::Outputs;
use instrument_messages::{Listener, usage};
use instrument_names::printable::printable;
use instrument_names::word::words;

words! {
    /// A question.
    Question {
        Xprof = "xprof": "Every method: calls, own time, and time with all that it called",
        Xtree = "xtree": "The calling context tree over all processes",
        Xarc = "xarc": "Callers and callees of every method",
        Stats = "stats": "Calls of each method: shortest, longest, average, deviation",
        Balance = "balance": "How the calls of each method ended, and whether every call is accounted for",
        Invariants = "invariants": "Equations between the figures that do not hold: none, if all is well",
        Top = "top": "The methods that took most, of each build",
        Diff = "diff": "What changed between two builds, with errors",
        Callers = "callers": "Where the callers of a method changed between two builds",
        Growth = "growth": "What one call of a caller calls more often than before (N+1)",
        Never = "never": "Methods that were there and never called",
        Remote = "remote": "Remote calls: who called what of whom",
        Profile = "profile": "Write all processes that are chosen as one profile (--output), for every report, the viewer and the gate",
    }
}

impl Question {
    /// The files of `fleet/sql` that answer it, behind the one that opens the dataset.
    fn sql(self) -> &'static [&'static str] {
        const ARCS: &str = include_str!("../../../fleet/sql/xarc.sql");
        match self {
            Question::Xprof => &[include_str!("../../../fleet/sql/xprof.sql")],
            Question::Xtree => &[include_str!("../../../fleet/sql/xtree.sql")],
            Question::Xarc => &[ARCS],
            Question::Stats => &[include_str!("../../../fleet/sql/stats.sql")],
            Question::Balance => &[include_str!("../../../fleet/sql/balance.sql")],
            Question::Invariants => &[ARCS, include_str!("../../../fleet/sql/invariants.sql")],
            Question::Top => &[include_str!("../../../fleet/sql/top_methods.sql")],
            Question::Diff => &[include_str!("../../../fleet/sql/diff.sql")],
            Question::Callers => &[include_str!("../../../fleet/sql/callers_changed.sql")],
            Question::Growth => &[include_str!("../../../fleet/sql/n_plus_one.sql")],
            Question::Never => &[include_str!("../../../fleet/sql/never_called.sql")],
            Question::Remote => &[include_str!("../../../fleet/sql/remote_calls.sql")],
            Question::Profile => &[],
        }
    }

    fn compares(self) -> bool {
        matches!(self, Question::Diff | Question::Callers | Question::Growth)
    }
}

/// What opens the dataset.
const DATASET: &str = include_str!("../../../fleet/sql/dataset.sql");

/// Rows that are printed as text unless asked for otherwise.
const TOP: usize = 20;

/// Ask a dataset of many profiles: what takes the time, in which build, and what changed
///
/// A dataset is what `instrument export --format parquet -o DIR FILE..` writes. The answer is computed by DuckDB, whose command must be
/// installed (duckdb.org); --sql prints what it is asked, for any other program with DuckDB in it. Times are in ns.
///
/// `profile` needs no DuckDB: it adds up the contexts of all processes that are chosen, and writes them as one profile that all other commands
/// read. Times in it are without the cost of recording if that is known of every process.
///
/// For example: instrument fleet diff profiles/ --before 1.2 --after 1.3
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    /// What to ask
    #[arg(value_parser = words::<Question>(), value_name = "QUESTION")]
    question: Question,
    /// The dataset
    #[arg(value_name = "DIR")]
    dataset: PathBuf,
    /// Only processes of this service
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// Only processes of this build
    #[arg(long, value_name = "NAME", conflicts_with_all = ["before", "after"])]
    build: Option<String>,
    /// Only processes that began on this day or later (UTC)
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    since: Option<String>,
    /// Only processes that began on this day or earlier (UTC)
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    until: Option<String>,
    /// diff, callers, growth: the build to compare with
    #[arg(long, value_name = "BUILD")]
    before: Option<String>,
    /// diff, callers, growth: the build to look at
    #[arg(long, value_name = "BUILD")]
    after: Option<String>,
    /// Only methods whose name contains this text
    #[arg(long, value_name = "TEXT")]
    method: Option<String>,
    /// Print only the first N rows; top: of each build [default: 20; for --json and --csv all]
    #[arg(long, value_name = "N")]
    top: Option<u64>,
    /// xtree: cut what has a cum below this share of the whole [default: 0.1; for --json and --csv 0]
    #[arg(long, value_name = "PERCENT")]
    prune: Option<f64>,
    /// Print JSON: a list of rows
    #[arg(long, conflicts_with_all = ["csv", "sql"])]
    json: bool,
    /// Print a CSV table
    #[arg(long, conflicts_with = "sql")]
    csv: bool,
    /// Print the SQL, and do not run it
    #[arg(long)]
    sql: bool,
    /// profile: the profile to write
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["method", "top", "prune", "json", "csv", "sql"])]
    output: Option<PathBuf>,
    /// The command of DuckDB
    #[arg(long, value_name = "PATH", default_value = "duckdb")]
    duckdb: PathBuf,
}

/// Prints the answer.
///
/// # Errors
/// There is no such dataset, no DuckDB, or it fails.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if let Some(output) = output(opts)? {
        return profile(opts, output, talk);
    }
    let script = script(opts)?;
    if opts.sql {
        io::stdout().lock().write_all(script.as_bytes())?;
        return Ok(Exit::Done);
    }
    let mut child = start(opts)?;
    let mut stdin = child.stdin.take().context("duckdb has no standard input")?;
    // It reads all of it before it answers, or has failed and says why.
    let asking = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let errors = child.stderr.take().context("duckdb has no standard error")?;
    let complaining = std::thread::spawn(move || said(errors));
    let answer = child.stdout.take().context("duckdb has no standard output")?;
    let printed = print(answer, opts.json || opts.csv);
    let status = child.wait().context("waiting for duckdb")?;
    let complaint = complaining.join().map_err(|_| anyhow!("reading what duckdb says failed"))?;
    if !status.success() || !complaint.trim().is_empty() {
        bail!("{} failed ({status}): {}", opts.duckdb.display(), complaint.trim());
    }
    asking.join().map_err(|_| anyhow!("asking duckdb failed"))?.context("asking duckdb")?;
    printed?;
    if opts.question == Question::Invariants {
        talk.note(format_args!("every row above is an equation that does not hold"));
    }
    Ok(Exit::Done)
}

/// Where the profile goes, if one is asked for.
fn output(opts: &Opts) -> Result<Option<&Path>> {
    match (opts.question, opts.output.as_deref()) {
        (Question::Profile, None) => Err(usage("profile: say where to write it with --output FILE.iprof")),
        (Question::Profile, output) => Ok(output),
        (_, Some(_)) => Err(usage("--output goes with profile; the other answers are printed")),
        (_, None) => Ok(None),
    }
}

/// Writes the chosen processes as one profile.
fn profile(opts: &Opts, output: &Path, talk: &Talk) -> Result<Exit> {
    if opts.before.is_some() || opts.after.is_some() {
        return Err(usage("--before and --after go with diff, callers and growth; --build chooses a build"));
    }
    check(&opts.dataset)?;
    let Opts { service, build, since, until, .. } = opts.clone();
    let chosen = Chosen { service, build, since, until };
    let mut file = Outputs::open(output)?;
    let summed = fleet::write_profile(&opts.dataset, &chosen, BufWriter::new(file.as_file_mut()))?;
    let mut outputs = Outputs::default();
    outputs.stage(output, None, file)?;
    talk.messages(&summed.messages);
    outputs.commit()?;
    let Summed { processes, contexts, calls, .. } = summed;
    let plural = if processes == 1 { "process" } else { "processes" };
    talk.note(format_args!(
        "{}: {processes} {plural}, {contexts} contexts in threads, {calls} calls",
        output.display()
    ));
    Ok(Exit::Done)
}

fn start(opts: &Opts) -> Result<std::process::Child> {
    let form = if opts.json {
        "-json"
    } else if opts.csv {
        "-csv"
    } else {
        "-box"
    };
    let mut duckdb = Command::new(&opts.duckdb);
    // Nobody's own settings.
    duckdb.args(["-init", "/dev/null", "-batch", "-bail", form, ":memory:"]);
    duckdb.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    duckdb.spawn().map_err(|error| {
        let name = opts.duckdb.display();
        if error.kind() == io::ErrorKind::NotFound {
            return anyhow!(
                "{name}: there is no such command. Install DuckDB's command line (duckdb.org), or say where it is with --duckdb PATH; \
                 --sql prints the question for any other program that has DuckDB in it, such as Python with the package duckdb"
            );
        }
        anyhow::Error::new(error).context(format!("running {name}"))
    })
}

/// Prints an answer. Names in it come from programs: in text, control characters must not reach a terminal.
fn print(answer: impl Read, is_for_programs: bool) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut answer = BufReader::new(answer);
    if is_for_programs {
        io::copy(&mut answer, &mut out)?;
        return out.flush();
    }
    let mut line = Vec::new();
    while answer.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        writeln!(out, "{}", printable(text.trim_end_matches('\n')))?;
        line.clear();
    }
    out.flush()
}

/// What DuckDB says on standard error, as far as anybody would read it.
fn said(errors: impl Read) -> String {
    const MOST: u64 = 10_000;
    let mut errors = BufReader::new(errors);
    let mut text = Vec::new();
    let read = errors.by_ref().take(MOST).read_to_end(&mut text);
    // The rest, so that it is not held up.
    let rest = read.and_then(|_| io::copy(&mut errors, &mut io::sink()));
    let failed = rest.err().map(|error| format!(" ({error})")).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned() + &failed
}

/// Everything that DuckDB is asked.
fn script(opts: &Opts) -> Result<String> {
    let Opts { question, before, after, .. } = opts;
    if question.compares() && (before.is_none() || after.is_none()) {
        return Err(usage("this compares two builds: say which with --before BUILD and --after BUILD"));
    }
    if !question.compares() && (before.is_some() || after.is_some()) {
        return Err(usage("--before and --after go with diff, callers and growth; --build chooses a build"));
    }
    if opts.prune.is_some_and(|share| !(0.0..=100.0).contains(&share)) {
        return Err(usage("--prune: a share of the whole is from 0 to 100 percent"));
    }
    let dataset = dataset(&opts.dataset)?;
    let is_text = !opts.json && !opts.csv && !opts.sql;
    let mut script = String::new();
    let mut set = |name: &str, value: String| {
        let _ = writeln!(script, "SET VARIABLE {name} = {value};");
    };
    set("dataset", quoted(&dataset));
    for (name, value) in [
        ("service", &opts.service),
        ("build", &opts.build),
        ("before", before),
        ("after", after),
        ("pattern", &opts.method),
    ] {
        set(name, value.as_deref().map_or_else(|| "NULL::VARCHAR".into(), quoted));
    }
    for (name, day) in [("since", &opts.since), ("until", &opts.until)] {
        set(name, day.as_deref().map_or_else(|| "NULL::DATE".into(), |day| format!("DATE {}", quoted(day))));
    }
    let top = opts.top.map(|top| top.min(i64::MAX as u64)).or_else(|| is_text.then_some(TOP as u64));
    set("top", top.map_or_else(|| "NULL::BIGINT".into(), |top| top.to_string()));
    let prune = opts.prune.unwrap_or(if is_text { 0.1 } else { 0.0 }) / 100.0;
    set("prune", format!("{prune}"));
    for part in [DATASET].iter().chain(question.sql()) {
        script.push_str(part);
    }
    Ok(script)
}

/// Whether a folder is a dataset.
fn check(path: &Path) -> Result<()> {
    if path.join("processes").is_dir() {
        return Ok(());
    }
    Err(usage(format!(
        "{} is no dataset: there is no folder processes in it. `instrument export --format parquet -o DIR FILE..` writes one",
        path.display()
    )))
}

/// The folder of a dataset, as DuckDB takes it.
fn dataset(path: &Path) -> Result<String> {
    let name = path.display();
    check(path)?;
    match path.to_str() {
        Some(text) if !text.contains(['*', '?', '[', ']', '{', '}']) => Ok(text.to_owned()),
        _ => Err(usage(format!(
            "{name}: DuckDB takes a part of this path for a pattern; give the folder another name"
        ))),
    }
}

/// A string of SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A day.
fn day(text: &str) -> Result<String, String> {
    let is_day = humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok();
    if is_day { Ok(text.to_owned()) } else { Err("a day is written 2026-11-24".to_owned()) }
}
