//! `instrument advise`: see `instrument_analysis::advice`.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use crate::options::{session, view};
use anyhow::Result;
use instrument_analysis::advice::Advice;
use instrument_analysis::arcs::Arcs;
use instrument_analysis::report::{self, advise};
use instrument_artifacts::outputs::Outputs;
use instrument_messages::{Listener, usage};
use instrument_names::printable::printable;

/// Methods that text shows unless asked for otherwise.
const TOP: usize = 20;

/// Propose what the next recording should leave out, and predict what it will cost
///
/// Reads what recording took from a profile with times. The methods that cost most and take the least time themselves are left out
/// first, until recording is within the budget. Their time is charged to their callers then, and their calls are not counted.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("files", |files| files.help(session::PROFILES)))]
pub(crate) struct Opts {
    #[command(flatten)]
    session: session::Opts,
    /// What recording may take, in percent of the program's running time
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0)]
    budget: f64,
    /// Write the patterns into a file for --config: `instrument run --config FILE -- java ..`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only the first N methods [default: 20]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Width of a line; 0: no limit [default: that of the terminal]
    #[arg(hide_short_help = true, long, value_name = "N")]
    width: Option<usize>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a CSV table
    #[arg(long)]
    csv: bool,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if !(opts.budget >= 0.0 && opts.budget.is_finite()) {
        return Err(usage(format!("--budget {}: not a percentage", opts.budget)));
    }
    let session = opts.session.read(talk)?;
    let advice = match Advice::of(&session, &Arcs::new(&session.model), opts.budget) {
        Ok(advice) => advice,
        Err(error) => {
            talk.error(format_args!("{}", printable(&error.to_string())));
            return Ok(Exit::Undetermined);
        }
    };
    let print = view::Print { json: opts.json, csv: opts.csv, ..view::Print::default() };
    let options = report::Options {
        format: print.format(),
        top: Some(opts.top.unwrap_or(TOP)),
        width: view::width(opts.width),
        colour: talk.colours_results(),
        ..report::Options::default()
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    advise::write(&mut out, &advice, &options)?;
    out.flush()?;
    if let Some(path) = &opts.output {
        let mut outputs = Outputs::default();
        outputs.file(path, None, configuration(&advice)?.as_bytes())?;
        outputs.commit()?;
    }
    Ok(with_warnings(&session.warnings, opts.session.strict, Exit::Done, talk))
}

/// What `--config` reads.
fn configuration(advice: &Advice) -> Result<String> {
    #[derive(serde::Serialize)]
    struct Configuration<'a> {
        exclude: Vec<&'a str>,
    }
    let exclude = advice.leave_out.iter().map(|one| one.pattern.as_str()).collect();
    Ok(toml::to_string_pretty(&Configuration { exclude })?)
}
