//! heap: what was made, what is still there, how long the rest lived, what leaks, and what collections took.
//!
//! JSON is one document with a member for each section that was requested; CSV is one section.

mod collections;
mod leaks;
mod lifetimes;
mod rows;

use std::io::Write;

use instrument_names::printable::printable;
use serde_json::{Map, Value, json};

use super::{Error, Format, Options};
use crate::heap::Process;
use crate::heap::coverage::{self, Coverage, Share};
use crate::heap::leaks::Found;
use crate::heap::object_lifetimes::Figures;
use crate::heap::table::{By, Filter, Row, Table, table};
use crate::text::{percent, quantity, shown};

/// Rows of each part of the summary.
const TOP: usize = 8;
/// Suspects in the summary.
const SUSPECTS: usize = 3;

/// A part of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Everything on one screen.
    Summary,
    /// Figures of rows.
    Table,
    /// Figures of rows that are live, those with most live bytes first.
    Live,
    /// How long objects lived.
    Lifetimes,
    Leaks,
    /// Collections, one by one.
    Collections,
}

/// What is reported on.
pub struct Heap<'a> {
    pub processes: &'a [Process<'a>],
    /// What they are called.
    pub names: &'a [String],
    /// What leaks, if that was looked for.
    pub leaks: Option<&'a Found>,
}

/// What is printed of it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub sections: &'a [Section],
    /// What the rows are.
    pub by: By,
    pub filter: Filter<'a>,
}

impl View<'_> {
    /// Whether leaks are a part of it.
    pub fn looks_for_leaks(&self) -> bool {
        self.sections.iter().any(|section| matches!(section, Section::Summary | Section::Leaks))
    }
}

/// Writes the report.
///
/// # Errors
/// The output failed.
pub fn write(
    out: &mut dyn Write,
    heap: &Heap<'_>,
    view: &View<'_>,
    options: &Options<'_>,
) -> Result<(), Error> {
    match options.format {
        Format::Text => {
            for (i, section) in view.sections.iter().enumerate() {
                if i > 0 {
                    writeln!(out)?;
                }
                text(out, heap, view, options, *section)?;
            }
            if view.sections.iter().any(|section| matches!(section, Section::Summary | Section::Table)) {
                for Coverage { recorded, not_seen } in coverage(heap) {
                    writeln!(out, "\nrecorded    {}", printable(&recorded))?;
                    writeln!(out, "not seen    {}", printable(&not_seen))?;
                }
                for (process, name) in heap.processes.iter().zip(heap.names) {
                    let of = if heap.processes.len() > 1 {
                        format!(" in {}", printable(name))
                    } else {
                        String::new()
                    };
                    if let Some(Share { percent, between: (from, to) }) = coverage::share(process) {
                        writeln!(
                            out,
                            "share       about {percent:.0} % of the allocated bytes were recorded{of} ({from:.0} to {to:.0} %, estimated from samples)"
                        )?;
                    }
                }
            }
        }
        Format::Json => writeln!(out, "{:#}", document(heap, view, options))?,
        Format::Csv => {
            for section in view.sections {
                match section {
                    Section::Summary | Section::Table | Section::Live | Section::Lifetimes => {
                        rows::csv(out, &rows(heap, view, *section), view.by, options)?;
                    }
                    Section::Leaks => leaks::csv(out, heap.leaks, options)?,
                    Section::Collections => collections::csv(out, heap, options)?,
                }
            }
        }
    }
    Ok(())
}

/// The same as JSON has it.
pub fn document(heap: &Heap<'_>, view: &View<'_>, options: &Options<'_>) -> Value {
    let mut document = Map::new();
    document.insert("report".into(), json!("heap"));
    let coverage = coverage(heap).into_iter();
    let coverage = coverage.map(|of| json!({"recorded": of.recorded, "not_seen": of.not_seen}));
    document.insert("coverage".into(), coverage.collect());
    let share =
        |share: Share| json!({"percent": share.percent, "from": share.between.0, "to": share.between.1});
    let shares = heap.processes.iter().map(|process| coverage::share(process).map(share));
    document.insert("shares".into(), shares.collect());
    for section in view.sections {
        member(&mut document, heap, view, options, *section);
    }
    Value::Object(document)
}

fn coverage(heap: &Heap<'_>) -> Vec<Coverage> {
    coverage::of_all(heap.processes.iter().map(|process| process.profile))
}

/// The rows of a section.
fn rows(heap: &Heap<'_>, view: &View<'_>, section: Section) -> Table {
    let mut table = table(heap.processes, view.by, &view.filter);
    if section == Section::Live {
        table.rows.retain(|(_, figures)| figures.live > 0);
        table.rows.sort_by_key(|(_, figures)| std::cmp::Reverse((figures.live_bytes, figures.live)));
    }
    table
}

fn text(
    out: &mut dyn Write,
    heap: &Heap<'_>,
    view: &View<'_>,
    options: &Options<'_>,
    section: Section,
) -> Result<(), Error> {
    match section {
        Section::Summary => summary(out, heap, view, options),
        Section::Table | Section::Live => Ok(rows::text(out, &rows(heap, view, section), section, options)?),
        Section::Lifetimes => Ok(lifetimes::text(out, &rows(heap, view, section), options)?),
        Section::Leaks => Ok(leaks::text(out, heap.leaks, options.top, options.width)?),
        Section::Collections => Ok(collections::text(out, heap, options)?),
    }
}

fn member(
    document: &mut Map<String, Value>,
    heap: &Heap<'_>,
    view: &View<'_>,
    options: &Options<'_>,
    section: Section,
) {
    let mut table_as = |name: &str, section: Section, by: By| {
        let table = rows(heap, &View { by, ..*view }, section);
        let by = match by {
            By::Class => "class",
            By::Site => "site",
            By::Context => "context",
        };
        let rows = table.rows.iter().take(options.top.unwrap_or(usize::MAX));
        let rows: Vec<_> = rows.map(|(row, figures)| rows::object(Some(row), figures, &table)).collect();
        let total = rows::object(None, &table.total, &table);
        document.insert(
            name.into(),
            json!({"by": by, "followed": table.is_followed, "total": total, "all": table.rows.len(), "rows": rows}),
        );
    };
    match section {
        Section::Summary => {
            table_as("classes", Section::Table, By::Class);
            table_as("sites", Section::Table, By::Site);
            document.insert("collections".into(), collections::json(heap));
            document.insert("leaks".into(), leaks::json(heap.leaks, options));
        }
        Section::Table => table_as("table", section, view.by),
        Section::Live => table_as("live", section, view.by),
        Section::Lifetimes => table_as("lifetimes", section, view.by),
        Section::Leaks => {
            document.insert("leaks".into(), leaks::json(heap.leaks, options));
        }
        Section::Collections => {
            document.insert("collections".into(), collections::json(heap));
        }
    }
}

/// A class, and where its objects were made, for people.
fn label(row: &Row) -> String {
    match row.methods.split_first() {
        None => shown(&row.class).into_owned(),
        Some((first, callers)) => {
            let mut label = format!("{} in {}", shown(&row.class), shown(first));
            for caller in callers {
                label += " < ";
                label += &shown(caller);
            }
            label
        }
    }
}

fn summary(
    out: &mut dyn Write,
    heap: &Heap<'_>,
    view: &View<'_>,
    options: &Options<'_>,
) -> Result<(), Error> {
    let classes = rows(heap, &View { by: By::Class, ..*view }, Section::Table);
    let sites = rows(heap, &View { by: By::Site, ..*view }, Section::Table);
    let Figures { objects, bytes, live, live_bytes, ref outlived, .. } = classes.total;
    let size = |bytes: u64| {
        if classes.has_bytes { format!(", {}", quantity(bytes as f64, "bytes")) } else { String::new() }
    };
    writeln!(
        out,
        "made        {objects} objects{} of {} classes at {} sites",
        size(bytes),
        classes.rows.len(),
        sites.rows.len()
    )?;
    if classes.is_followed {
        let biographies = || heap.processes.iter().filter_map(|process| process.biographies);
        let (unseen, unseen_bytes) =
            biographies().fold((0, 0), |(objects, bytes), of| (objects + of.unseen, bytes + of.unseen_bytes));
        let unseen = if unseen > 0 && view.filter.is_all() {
            format!("; {unseen}{} of them made after the last collection", size(unseen_bytes))
        } else {
            String::new()
        };
        writeln!(out, "live        {live} objects{} at the end{unseen}", size(live_bytes))?;
        let died = outlived.count();
        let young = percent(outlived.between(0, 1) as f64, died as f64);
        writeln!(
            out,
            "died        {died} objects{}; {young} % outlived no collection",
            size(bytes.saturating_sub(live_bytes))
        )?;
    }
    collections::line(out, heap)?;
    let options = Options { top: Some(options.top.unwrap_or(TOP)), ..*options };
    for table in [&classes, &sites] {
        writeln!(out)?;
        rows::text(out, table, Section::Table, &options)?;
    }
    if classes.is_followed {
        writeln!(out)?;
        leaks::text(out, heap.leaks, Some(options.top.unwrap_or(TOP).min(SUSPECTS)), options.width)?;
    }
    Ok(())
}
