//! `instrument report`: what a newcomer wants to know of profiles, on one screen: which program, how long, how far that is to be trusted, where
//! the time went, and what went wrong. `-v`: everything. Profiles without contexts have a table of counts instead.
//!
//! The results go to stdout, remarks about the files to stderr.

use std::io::{BufWriter, Write};

use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use crate::options::settings::words;
use crate::options::view::{self, Print};
use crate::options::{own, session};
use anyhow::Result;
use instrument_analysis::report::counts::{self, Sort};
use instrument_analysis::report::screen;
use instrument_analysis::report::summary::Summary;
use instrument_analysis::session::{Methods, Request};
use instrument_messages::{Listener, usage};

/// Summarise profiles on one screen: which program, how long, its own methods, and what went wrong; -v: everything
///
/// Profiles of counts give a table of counts. They balance if entries = exits + unwinds + aborted + unclosed + open, for every method and context; with record=counts
/// for all methods of a thread together. Exit code 1 if they do not. Texts of others (events, folded stacks, call trees) are reported on as well.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    session: session::Opts,
    /// Print the table of counts, whatever was recorded
    #[arg(long)]
    counts: bool,
    #[command(flatten)]
    table: Table,
    /// The program's own methods, which come first [default: `auto`, the package of the main class, or of a Spring Boot archive's Start-Class;
    /// else what is in no known library]
    #[arg(long, value_name = "PATTERN")]
    own: Vec<String>,
    #[command(flatten)]
    own_classes: own::ClassesOpts,
    /// Print no more than the program's own methods, on ten lines, as for the log of a build; of a recording of counts, the methods that were called most
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    brief: bool,
    /// Width of a line; 0: no limit [default: that of the terminal]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Print everything as one JSON document
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the table of counts as CSV
    #[arg(long)]
    csv: bool,
}

/// What of the counts is printed.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
struct Table {
    /// Column of the counts to sort by, largest first (names: A to Z)
    #[arg(long, value_parser = words::<Sort>(), default_value = "entries", value_name = "COLUMN")]
    sort: Sort,
    /// Print only the first N rows of each table
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print counts, one row for each method and thread, or pool of threads
    #[arg(long)]
    per_thread: bool,
    /// Print the objects and arrays made, by method and class
    #[arg(long)]
    allocations: bool,
}

/// Prints the report to standard output. Counts that do not balance and an invariant that does not hold are exit code 1.
///
/// # Errors
/// A file that cannot be read or understood.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let request = Request { own_classes: opts.own_classes.read()?, ..opts.session.request() };
    let session = session::read(&request, talk)?;
    let Table { sort, top, per_thread, allocations } = opts.table;
    let top = top.or(opts.brief.then_some(screen::BRIEF));
    let table = counts::Request { sort, top, per_thread, allocations, split_threads: request.split_threads };
    let wants_table = opts.counts || opts.csv || per_thread || allocations;
    if session.profiles.is_empty() && wants_table {
        return Err(usage("only profiles have counts"));
    }
    let own: Vec<String> = opts.own.iter().filter(|pattern| *pattern != own::AUTO).cloned().collect();
    let summary = Summary::new(&session, &table, &own)?;
    with_warnings(summary.warnings(), false, Exit::Done, talk);
    let counts = &summary.counts;
    let mut out = BufWriter::new(std::io::stdout().lock());
    if opts.json {
        writeln!(out, "{:#}", summary.document(top)?)?;
    } else if opts.csv {
        counts.csv(&table, &mut out)?;
        talk.note(format_args!("{}", counts.balance.line()));
    } else if wants_table || session.is_of_counts() {
        counts.tables(&table, &mut out)?;
        counts.balance.print(&mut out)?;
        if !wants_table && !opts.brief {
            summary.beside_counts(&mut out)?;
        }
    } else {
        // The first screen has a width of its own where nobody asks for one.
        let width = opts.width.map(|width| if width == 0 { usize::MAX } else { width });
        let print = Print { width, ..Print::default() };
        print.with(None, &Methods::default(), talk.colours_results(), |options| {
            match (opts.brief, talk.wants_details()) {
                (true, _) => screen::methods_alone(&mut out, &summary, top, options),
                (false, true) => summary.write(&mut out, top, options),
                (false, false) => screen::write(&mut out, &summary, top, options),
            }
        })?;
    }
    out.flush()?;
    // The whole summary has a line for a check that passed.
    if !summary.checked.violations.is_empty() {
        view::say(&summary.checked, talk);
    }
    let exit = if summary.holds() { Exit::Done } else { Exit::Negative };
    Ok(with_warnings(&session.warnings, opts.session.strict, exit, talk))
}
