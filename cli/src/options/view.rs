//! What all reports can be asked, and how they are printed.

use std::io::{BufWriter, IsTerminal, Write};

use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use crate::options::settings::words;
use crate::options::{own, session};
use anyhow::Result;
use instrument_analysis::arcs::Arcs;
use instrument_analysis::invariants::{self, Checked};
use instrument_analysis::report::print::correction_line;
use instrument_analysis::report::{self, Format, Options, Show, Sort};
use instrument_analysis::session::lookup::method_names;
use instrument_analysis::session::{Methods, Request, Session};
use instrument_messages::{Listener, usage};

/// Violations that are printed.
const VIOLATIONS: usize = 20;

/// Options of every report.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    #[command(flatten)]
    pub(crate) session: session::Opts,
    #[command(flatten)]
    pub(crate) print: Print,
}

/// What is printed, and how.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Print {
    /// Which figures: running, waiting, wall, cpu, allocations, bytes, .. [default: running, or the first]
    ///
    /// wall is running and waiting time over all threads, corrected for the cost of recording; wall-raw is the same as measured. Others
    /// are live, live-bytes, unwinds, contended, object-wait, and what a text has. The default is running, if waits were recorded, or else
    /// the first that there is; for --json and --csv all.
    #[arg(long, short, value_name = "NAME,..", value_delimiter = ',')]
    pub(crate) resource: Vec<String>,
    /// Print percentages of the whole only
    #[arg(long)]
    pub(crate) percent: bool,
    /// Print figures without percentages
    #[arg(hide_short_help = true, long, conflicts_with = "percent")]
    pub(crate) absolute: bool,
    /// Order; the largest first, names from A to Z
    #[arg(long, value_parser = words::<Sort>())]
    pub(crate) sort: Option<Sort>,
    /// Print only the first N
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Cut what has a cum below this share of the whole [default: 0.1; for --json and --csv 0]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) prune: Option<f64>,
    /// Only methods that match: `com.acme.**`, `Shop#price`, or a name as a report prints it
    #[arg(long, value_name = "PATTERN")]
    pub(crate) method: Vec<String>,
    /// Print the source file and first line of every method
    #[arg(long)]
    pub(crate) lines: bool,
    /// Width of a line; 0: no limit [default: that of the terminal]
    #[arg(hide_short_help = true, long, value_name = "N")]
    pub(crate) width: Option<usize>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print a CSV table
    #[arg(long)]
    pub(crate) csv: bool,
}

impl Print {
    /// The form of the output.
    pub(crate) fn format(&self) -> Format {
        match (self.json, self.csv) {
            (true, _) => Format::Json,
            (_, true) => Format::Csv,
            _ => Format::Text,
        }
    }

    /// Hands the options to `write`. `methods`: those that are meant. `colour`: whether text is for a terminal with colours.
    ///
    /// # Errors
    /// A share that makes no sense; what `write` says.
    pub(crate) fn with<T, E>(
        &self,
        depth: Option<usize>,
        methods: &Methods,
        colour: bool,
        write: impl FnOnce(&Options<'_>) -> Result<T, E>,
    ) -> Result<T>
    where
        anyhow::Error: From<E>,
    {
        if let Some(prune) = self.prune.filter(|prune| !(0.0..=100.0).contains(prune)) {
            return Err(usage(format!("--prune {prune}: not a percentage")));
        }
        let print = report::print::Print {
            format: self.format(),
            resource: self.resource.clone(),
            show: match (self.percent, self.absolute) {
                (true, _) => Show::Percent,
                (_, true) => Show::Absolute,
                _ => Show::Both,
            },
            sort: self.sort,
            top: self.top,
            prune: self.prune,
            method: self.method.clone(),
            lines: self.lines,
            width: width(self.width),
        };
        Ok(print.with(depth, methods, colour, write)?)
    }
}

/// Columns to print in: as asked for, or those of the terminal; a pipe has no limit.
pub(crate) fn width(asked: Option<usize>) -> Option<usize> {
    match asked {
        Some(0) => None,
        Some(width) => Some(width),
        None if std::io::stdout().is_terminal() => {
            terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
        }
        None => None,
    }
}

/// Reads, prints, and checks what was printed. A violated invariant is exit code 1.
///
/// # Errors
/// Files that cannot be read, options that do not fit them, an output that fails.
pub(crate) fn run(
    opts: &Opts,
    own: &own::Opts,
    depth: Option<usize>,
    talk: &Talk,
    write: impl FnOnce(&mut dyn Write, &Session, &Arcs, &Options<'_>) -> Result<(), report::Error>,
) -> Result<Exit> {
    let session = session::read(&Request { own: own.patterns(), ..opts.session.request() }, talk)?;
    print(&opts.print, depth, &session, opts.session.strict, talk, write)
}

/// The same of what was read.
pub(crate) fn print(
    print: &Print,
    depth: Option<usize>,
    session: &Session,
    strict: bool,
    talk: &Talk,
    write: impl FnOnce(&mut dyn Write, &Session, &Arcs, &Options<'_>) -> Result<(), report::Error>,
) -> Result<Exit> {
    let arcs = Arcs::new(&session.model);
    let checked = invariants::check(&session.model, &arcs);
    let mut out = BufWriter::new(std::io::stdout().lock());
    match (correction_line(&session.model, &print.resource), print.format()) {
        (Some(line), Format::Text) => writeln!(out, "{line}\n")?,
        (Some(line), Format::Csv) => talk.caution(format_args!("{line}")),
        // JSON has a member for it.
        _ => {}
    }
    let methods = methods(print, session)?;
    print
        .with(depth, &methods, talk.colours_results(), |options| write(&mut out, session, &arcs, options))?;
    out.flush()?;
    let exit =
        if checked.violations.is_empty() && session.is_damaged() { Exit::Done } else { say(&checked, talk) };
    Ok(with_warnings(&[&session.warnings[..], &methods.warnings].concat(), strict, exit, talk))
}

/// The methods that `--method` means.
///
/// # Errors
/// A pattern that cannot be read.
fn methods(print: &Print, session: &Session) -> Result<Methods> {
    if print.method.is_empty() {
        return Ok(Methods::default());
    }
    Ok(Methods::new("--method", &print.method, &method_names(&session.model))?)
}

/// Says what does not hold.
pub(crate) fn say(checked: &Checked, talk: &Talk) -> Exit {
    let violations = &checked.violations;
    if violations.is_empty() {
        talk.detail(format_args!("{}", checked.line()));
        return Exit::Done;
    }
    talk.error(format_args!("{}", checked.line()));
    for violation in violations.iter().take(VIOLATIONS) {
        talk.error(format_args!("  {violation}"));
    }
    Exit::Negative
}
