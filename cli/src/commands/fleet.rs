//! `instrument fleet`: questions to a dataset of many profiles, which DuckDB answers. A profile of all processes together is written without it.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::settings::words;
use anyhow::Result;
use instrument_analysis::fleet::{self, Chosen, Summed};
use instrument_artifacts::outputs::Outputs;
use instrument_fleet::questions::{Form, Question, Request, ask, check, day, script};
use instrument_messages::{Listener, usage};

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
    let form = match (opts.sql, opts.json, opts.csv) {
        (true, ..) => Form::Sql,
        (_, true, _) => Form::Json,
        (_, _, true) => Form::Csv,
        _ => Form::Text,
    };
    let Opts { question, dataset, service, build, since, until, before, after, method, .. } = opts.clone();
    let (top, prune) = (opts.top, opts.prune);
    let request =
        Request { question, dataset, service, build, since, until, before, after, method, top, prune, form };
    let script = script(&request)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if opts.sql {
        out.write_all(script.as_bytes())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    ask(&request, script, &opts.duckdb, &mut out)?;
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
