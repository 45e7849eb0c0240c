//! `instrument heap`: see `instrument_analysis::report::heap`.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use crate::options::view::Print;
use anyhow::Result;
use clap::ValueEnum;
use instrument_analysis::heap::query::Query;
use instrument_analysis::heap::table::{By, Filter};
use instrument_analysis::report::heap::{Section, View};
use instrument_analysis::session::{Methods, ProfileFile, is_profile, not_a_profile};
use instrument_messages::{Listener, usage};

/// Rows that are printed for people unless --top says otherwise.
const TOP: usize = 20;

/// Print what was allocated, what is left of it, how long the rest lived, and what leaks
///
/// Without options everything on one screen. Where objects were followed (heap=objects), it is known which are live at the end and
/// how many collections the others outlived; where they were counted, how many there were. The same in every context, as a tree:
/// instrument xtree --resource live-bytes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    /// Profiles (`*.iprof`)
    #[arg(required = true, value_name = "PROFILE")]
    files: Vec<PathBuf>,
    /// What the rows are
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<Rows>,
    /// Print what is live at the end, most bytes first
    #[arg(long)]
    live: bool,
    /// Print how long objects lived, in collections and in time
    #[arg(long)]
    lifetimes: bool,
    /// List leak suspects, the parts of one leak together, with the evidence for each; exit code 4 if the profile cannot tell
    #[arg(long)]
    leaks: bool,
    /// Print every collection: when, how long, what it left
    #[arg(long)]
    collections: bool,
    /// Only objects of classes that fit PATTERN, as Java writes them: `com.acme.Foo`, `byte[]`, `com.acme.**` with its arrays
    #[arg(long, value_name = "PATTERN")]
    class: Vec<String>,
    /// Only objects made in methods that fit PATTERN: `com.acme.**`, `Shop#price`; by context, and by what these called
    #[arg(long, value_name = "PATTERN")]
    method: Vec<String>,
    /// Only objects made by threads of these names (`*` and `?` stand for others)
    #[arg(long, value_name = "NAME")]
    thread: Vec<String>,
    /// Print only the first N rows [default: 20 for text]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Columns to print in; 0: as many as it takes [default: those of the terminal]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a CSV table
    #[arg(long)]
    csv: bool,
    /// Exit with code 3 if a pattern fits nothing
    #[arg(long)]
    strict: bool,
}

/// What rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Classes
    Class,
    /// Classes, with the methods that made their objects
    Site,
    /// Classes, with the methods that made their objects, and their callers
    Context,
}

impl Opts {
    fn sections(&self) -> Vec<Section> {
        let asked = [
            (self.live, Section::Live),
            (self.lifetimes, Section::Lifetimes),
            (self.by.is_some() && !self.live && !self.lifetimes, Section::Table),
            (self.leaks, Section::Leaks),
            (self.collections, Section::Collections),
        ];
        let sections: Vec<_> = asked.into_iter().filter(|(asked, _)| *asked).map(|(_, s)| s).collect();
        if sections.is_empty() { vec![Section::Summary] } else { sections }
    }
}

/// Prints the report.
///
/// # Errors
/// A file that is no profile or cannot be read, options that make no sense, an output that fails.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let sections = opts.sections();
    if opts.csv && sections.len() > 1 {
        return Err(usage("--csv: one table at a time"));
    }
    let several = opts.files.len() > 1;
    let mut files = Vec::new();
    for (number, path) in opts.files.iter().enumerate() {
        if path.exists() && !is_profile(path) {
            return Err(usage(not_a_profile(path)));
        }
        let file = ProfileFile::open(path, number, several)?;
        file.lifetimes()?;
        talk.messages(&file.messages());
        files.push(file);
    }
    let (classes, methods, threads) = (opts.class.clone(), opts.method.clone(), opts.thread.clone());
    let selection = Query { classes, methods, threads }.select(&files)?;
    let by = match opts.by {
        Some(Rows::Site) => By::Site,
        Some(Rows::Context) => By::Context,
        Some(Rows::Class) | None => By::Class,
    };
    let is_text = !opts.json && !opts.csv;
    let is_long = !matches!(sections[..], [Section::Summary] | [Section::Collections]);
    let top = opts.top.or((is_text && is_long).then_some(TOP));
    let print = Print { top, width: opts.width, json: opts.json, csv: opts.csv, ..Print::default() };
    let view = View { sections: &sections, by, filter: Filter::default() };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let found = print.with(None, &Methods::default(), talk.colours_results(), |options| {
        selection.report(&files, &view, options, &mut out)
    })?;
    out.flush()?;
    let undetermined = found.as_ref().filter(|found| opts.leaks && found.is_undetermined());
    if let (Some(found), true) = (undetermined, opts.csv) {
        found.undetermined.iter().for_each(|reason| talk.warn(format_args!("leaks: {reason}")));
    }
    let exit = if undetermined.is_some() { Exit::Undetermined } else { Exit::Done };
    Ok(with_warnings(&selection.warnings, opts.strict, exit, talk))
}
