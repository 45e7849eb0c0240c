//! `instrument diff` of profiles: see `instrument_analysis::report::diff`.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::commands::view;
use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use crate::options::session;
use crate::options::settings::words;
use crate::options::view::Print;
use anyhow::Result;
use instrument_analysis::Arcflow;
use instrument_analysis::latency::Latency;
use instrument_analysis::report::diff::{Sides, check_comparable, run_of};
use instrument_analysis::report::{self, Format, Sort};
use instrument_analysis::session::lookup::method_names;
use instrument_analysis::session::{Methods, is_profile};
use instrument_artifacts::source::is_archive_name;
use instrument_live::page;
use instrument_messages::Listener;

/// Methods and contexts that are printed unless --top says otherwise.
const TOP: usize = 20;

/// What is compared of profiles.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Profiles")]
pub(crate) struct Opts {
    /// What to compare: wall, allocations, calls, .. [default: the first that both have; for --json and --csv all]
    #[arg(long, short, value_name = "NAME,..", value_delimiter = ',')]
    resource: Vec<String>,
    /// What the changes are sorted by
    #[arg(long, value_parser = words::<Sort>(), value_name = "FIGURE")]
    sort: Option<Sort>,
    /// Print only the N largest changes of methods and of contexts [default: 20; for --json and --csv all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Columns to print in; 0: as many as it takes [default: those of the terminal]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Print a CSV table
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write one HTML file that shows both sides in a browser, and print nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["csv", "json", "resource", "sort", "top", "width", "method"])]
    html: Option<PathBuf>,
    /// Exit with code 3 if a pattern fits nothing
    #[arg(long)]
    strict: bool,
}

/// Whether all are profiles, or texts that are reported on like profiles.
pub(crate) fn applies<'a>(files: impl IntoIterator<Item = &'a String>) -> bool {
    files.into_iter().map(Path::new).all(|path| is_profile(path) || is_text(path))
}

/// No class, no archive, no directory: text as far as can be seen from its beginning.
fn is_text(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| std::io::Read::read_to_end(&mut std::io::Read::take(file, 4096), &mut start));
    let named = path.to_str().is_some_and(is_archive_name) || path.extension().is_some_and(|e| e == "class");
    read.is_ok()
        && !named
        && !start.is_empty()
        && !start.contains(&0)
        && !start.starts_with(b"#!")
        && !start.starts_with(b"PK")
}

/// Compares the runs of two sides; exit code 1: they differ.
///
/// # Errors
/// Files that cannot be read, or have nothing to compare.
pub(crate) fn run(
    sides: [&[String]; 2],
    method: Option<&str>,
    json: bool,
    opts: &Opts,
    talk: &Talk,
) -> Result<Exit> {
    let warnings = RefCell::new(Vec::new());
    let read = |path: &String| {
        let session = session::read(&run_of(path.into()), talk)?;
        warnings.borrow_mut().extend(page::warnings(&session));
        let kept = Latency::kept(&session.profiles, &|_| true);
        Ok((session.model, kept))
    };
    let [before, after] = sides.map(|paths| paths.iter().map(read).collect::<Result<Vec<_>>>());
    let (before, kept_before): (Vec<Arcflow>, Vec<Option<Latency>>) = before?.into_iter().unzip();
    let (after, kept_after): (Vec<Arcflow>, Vec<Option<Latency>>) = after?.into_iter().unzip();
    check_comparable(before.iter().chain(&after))?;
    if let Some(path) = &opts.html {
        let sides_of = Sides::new(&before, &after)?;
        view::save(path, &page::of_sides(&sides_of, sides, warnings.into_inner())?, talk)?;
        return Ok(if sides_of.differs { Exit::Negative } else { Exit::Done });
    }
    let print = Print {
        resource: opts.resource.clone(),
        sort: opts.sort,
        top: opts.top.or_else(|| (!json && !opts.csv).then_some(TOP)),
        width: opts.width,
        method: method.map(str::to_owned).into_iter().collect(),
        json,
        csv: opts.csv,
        ..Print::default()
    };
    let names = before.iter().chain(&after).flat_map(method_names).collect();
    let methods = Methods::new("--method", &print.method, &names)?;
    let mut out = talk.results();
    let mut lines: Vec<String> =
        before.iter().chain(&after).filter_map(|model| model.correction.line()).collect();
    lines.dedup();
    for line in lines {
        match print.format() {
            Format::Json if !talk.is_quiet() => {}
            Format::Text if !talk.is_quiet() => writeln!(out, "{line}\n")?,
            _ => talk.caution(format_args!("{line}")),
        }
    }
    let (was, is) = (sum(kept_before), sum(kept_after));
    let kept = was.as_ref().zip(is.as_ref()).map(|(was, is)| [was, is]);
    let differs = print.with(None, &methods, talk.colours_results(), |options| {
        report::diff::write_with(&mut out, &before, &after, kept, options)
    })?;
    out.flush()?;
    let exit = if differs { Exit::Negative } else { Exit::Done };
    Ok(with_warnings(&methods.warnings, opts.strict, exit, talk))
}

/// The durations of all runs of a side, if each run has kept some.
fn sum(runs: Vec<Option<Latency>>) -> Option<Latency> {
    let runs = runs.into_iter().collect::<Option<Vec<Latency>>>()?;
    runs.into_iter().reduce(|mut sum, run| {
        sum.merge(run);
        sum
    })
}
