//! Counts: entries, exits and the other ends of calls of every method, and the law between them.
//!
//! Profiles of several processes are merged by method name. Ids that no id map names are printed as `#123` and kept apart
//! by file.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write;

use crate::names::Names;
use crate::subject::ProfileFile;
use anyhow::Result;
use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use instrument_analysis::load;
use instrument_analysis::report::field;
use instrument_names::printable::printable;
use instrument_trace::{Closes, Imbalance, Method, Profile, ThreadKind, TreeConsumer};
use serde::Serialize;

/// What of the counts is printed.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Opts {
    /// Column of the counts to sort by, largest first (names: A to Z)
    #[arg(long, value_enum, default_value_t = Sort::Entries)]
    pub(crate) sort: Sort,
    /// Print only the first N rows of each table
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Print counts, one row for each method and thread, or pool of threads
    #[arg(long)]
    pub(crate) threads: bool,
    /// Print the objects and arrays made, by method and class
    #[arg(long)]
    pub(crate) allocations: bool,
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    Entries,
    Exits,
    Unwinds,
    Orphans,
    Lost,
    Stray,
    Open,
    Name,
}

/// Adds up the counts of all files.
pub(crate) fn gather(profiles: &[ProfileFile], options: &Opts, split_threads: bool) -> Report {
    let mut report = Report::default();
    let several = profiles.len() > 1;
    for file in profiles {
        report.add(file, options, several, split_threads);
        report.files.push(File::new(file));
    }
    report.sort(options);
    report
}

/// Everything that is printed; JSON is this structure.
#[derive(Default, Serialize)]
pub(crate) struct Report {
    files: Vec<File>,
    methods: Vec<Row>,
    allocations: Vec<Made>,
    pub(crate) law: Law,
}

/// A profile file.
#[derive(Serialize)]
struct File {
    path: String,
    pid: u64,
    start_ms: u64,
    threads: usize,
    /// Threads whose figures are added up in one row.
    ended_threads: u64,
    dropped: u64,
    /// Events that were being written when the process ended.
    in_flight: usize,
    /// Its process still writes.
    live: bool,
    properties: BTreeMap<String, String>,
    remarks: Vec<String>,
}

/// A row of the table.
#[derive(Serialize, Clone)]
struct Row {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    entries: u64,
    exits: u64,
    unwinds: u64,
    orphans: u64,
    lost: u64,
    stray: u64,
    open: u64,
}

/// Objects or arrays of one class, made under one method.
#[derive(Serialize)]
struct Made {
    class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    count: u64,
}

/// entries = exits + unwinds + orphans + lost + open, where open is counted on the threads' shadow stacks.
#[derive(Serialize)]
pub(crate) struct Law {
    pub(crate) holds: bool,
    /// Methods checked: those that have a row.
    methods: usize,
    #[serde(skip)]
    checked: HashSet<String>,
    in_flight: usize,
    #[serde(skip)]
    live: bool,
    violations: Vec<String>,
}

impl Default for Law {
    fn default() -> Self {
        Law {
            holds: true,
            methods: 0,
            checked: HashSet::new(),
            in_flight: 0,
            live: false,
            violations: Vec::new(),
        }
    }
}

impl File {
    fn new(file: &ProfileFile) -> File {
        let profile = &file.profile;
        File {
            path: file.path.display().to_string(),
            pid: profile.pid,
            start_ms: profile.start_ms,
            threads: profile.threads.iter().filter(|t| t.kind == ThreadKind::Thread).count(),
            ended_threads: file.ended_threads(),
            dropped: file.dropped(),
            in_flight: profile.in_flight(),
            live: file.is_live,
            properties: profile
                .copies
                .values()
                .next()
                .map_or_else(BTreeMap::new, |copy| copy.properties.clone()),
            remarks: file.remarks(),
        }
    }
}

impl Report {
    fn add(&mut self, file: &ProfileFile, options: &Opts, several: bool, split_threads: bool) {
        let (profile, names, path) = (&file.profile, &file.names, file.path.display().to_string());
        let of = if several { path.as_str() } else { "" };
        // What earlier files gave is taken up again: rows of one name become one row.
        let mut rows = BTreeMap::new();
        for row in std::mem::take(&mut self.methods) {
            rows.insert((row.name.clone(), row.thread.clone()), row.counts());
        }
        let mut made = BTreeMap::new();
        for row in std::mem::take(&mut self.allocations) {
            made.insert((row.method, row.class), row.count);
        }
        let mut checked = BTreeSet::new();
        let method = |copy: u32, id: u32| names.method(copy, id);
        let pools = if split_threads { Vec::new() } else { load::pools(profile, &method) };
        for (i, thread) in profile.threads.iter().enumerate() {
            let label = options.threads.then(|| match pools.get(i) {
                Some(pool) => within(of, printable(pool).into_owned()),
                None => within(of, label(thread)),
            });
            for (&id, method) in &thread.methods {
                let label = label.clone();
                rows.entry((names.method(thread.copy, id), label)).or_default().add(method);
                if !thread.in_transition {
                    checked.insert((thread.copy, id));
                }
            }
            for allocation in &thread.allocations {
                let method = allocation.method.map(|id| names.method(thread.copy, id));
                let count: &mut u64 =
                    made.entry((method, names.class(thread.copy, allocation.class))).or_default();
                *count = count.saturating_add(allocation.count);
            }
        }
        self.methods = rows.into_iter().map(|((name, thread), m)| Row::new(name, thread, &m)).collect();
        let allocations = made.into_iter().map(|((method, class), count)| Made { class, method, count });
        self.allocations = allocations.collect();

        self.law.checked.extend(checked.into_iter().map(|(copy, id)| names.method(copy, id)));
        self.law.methods = self.law.checked.len();
        self.law.in_flight += profile.in_flight();
        // Figures that are being written need not agree.
        for imbalance in profile.imbalances().iter().filter(|_| !file.is_live) {
            self.law.holds = false;
            self.law.violations.push(format!("{path}: {}", violation(profile, names, imbalance)));
        }
        self.law.live |= file.is_live;
    }

    fn sort(&mut self, options: &Opts) {
        // Rows come sorted by name; the sort is stable.
        if let Some(column) = options.sort.column() {
            self.methods.sort_by_key(|row| std::cmp::Reverse(row.figures()[column]));
        }
        self.allocations.sort_by_key(|row| std::cmp::Reverse(row.count));
        if let Some(top) = options.top {
            self.methods.truncate(top);
            self.allocations.truncate(top);
        }
    }

    /// The table, or that of the allocations.
    pub(crate) fn tables(&self, options: &Opts, out: &mut dyn Write) -> Result<()> {
        if options.allocations {
            let mut table = table(&["count", "class", "method"], 1);
            for row in &self.allocations {
                let method = row.method.as_deref().unwrap_or("-");
                table.add_row([
                    row.count.to_string(),
                    printable(&row.class).into_owned(),
                    printable(method).into_owned(),
                ]);
            }
            writeln!(out, "{}", table.trim_fmt())?;
            return Ok(());
        }
        let mut headers = COLUMNS.to_vec();
        headers.extend(options.threads.then_some("thread"));
        headers.push("method");
        let mut table = table(&headers, COLUMNS.len());
        for row in &self.methods {
            let mut cells = row.figures().map(|n| n.to_string()).to_vec();
            cells.extend(row.thread.clone());
            cells.push(printable(&row.name).into_owned());
            table.add_row(cells);
        }
        writeln!(out, "{}", table.trim_fmt())?;
        Ok(())
    }

    /// The same as CSV.
    pub(crate) fn csv(&self, options: &Opts, out: &mut dyn Write) -> Result<()> {
        if options.allocations {
            writeln!(out, "class,method,count")?;
            for row in &self.allocations {
                let method = row.method.as_deref().unwrap_or("");
                writeln!(out, "{},{},{}", field(&row.class), field(method), row.count)?;
            }
            return Ok(());
        }
        let thread = if options.threads { ",thread" } else { "" };
        writeln!(out, "method{thread},{}", COLUMNS.join(","))?;
        for row in &self.methods {
            write!(out, "{}", field(&row.name))?;
            if let Some(thread) = &row.thread {
                write!(out, ",{}", field(thread))?;
            }
            for figure in row.figures() {
                write!(out, ",{figure}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

const COLUMNS: [&str; 7] = ["entries", "exits", "unwinds", "orphans", "lost", "stray", "open"];

impl Sort {
    /// Index in [`COLUMNS`]; `None`: by name.
    fn column(self) -> Option<usize> {
        (self != Sort::Name).then_some(self as usize)
    }
}

impl Row {
    fn new(name: String, thread: Option<String>, m: &Method) -> Row {
        let Closes { exits, unwinds, orphans, lost } = m.closes;
        Row { name, thread, entries: m.entries, exits, unwinds, orphans, lost, stray: m.stray, open: m.open }
    }

    fn counts(&self) -> Method {
        let closes =
            Closes { exits: self.exits, unwinds: self.unwinds, orphans: self.orphans, lost: self.lost };
        Method { entries: self.entries, closes, stray: self.stray, open: self.open }
    }

    fn figures(&self) -> [u64; 7] {
        [self.entries, self.exits, self.unwinds, self.orphans, self.lost, self.stray, self.open]
    }
}

impl Law {
    /// Whether it holds, in a line.
    pub(crate) fn line(&self) -> String {
        let in_flight = match self.in_flight {
            0 => String::new(),
            1 => "; 1 event was being written when its process ended".into(),
            n => format!("; {n} events were being written when their process ended"),
        };
        if self.live {
            format!("law not checked of processes that are still writing; {} methods", self.methods)
        } else if self.holds {
            format!("law holds for {} methods{in_flight}", self.methods)
        } else {
            format!("law VIOLATED {} times in {} methods{in_flight}", self.violations.len(), self.methods)
        }
    }

    /// The same with all violations, below a table.
    pub(crate) fn print(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "\n{}", self.line())?;
        self.violations(out)
    }

    /// What breaks it.
    pub(crate) fn violations(&self, out: &mut dyn Write) -> Result<()> {
        for violation in &self.violations {
            writeln!(out, "  {}", printable(violation))?;
        }
        Ok(())
    }
}

fn violation(profile: &Profile, names: &Names, imbalance: &Imbalance) -> String {
    let (thread, m) = (&profile.threads[imbalance.thread], &imbalance.method);
    let consumer = match imbalance.consumer {
        TreeConsumer::Method(id) => names.method(thread.copy, id),
        TreeConsumer::Link(number) => format!("link {number}"),
        TreeConsumer::Deeper => "(deeper)".into(),
    };
    let context = if imbalance.node > 0 { format!(" (context {})", imbalance.node) } else { String::new() };
    format!(
        "{consumer}{context} in {}: {} entries, but {} exits + {} unwinds + {} orphans + {} lost + {} open",
        label(thread),
        m.entries,
        m.closes.exits,
        m.closes.unwinds,
        m.closes.orphans,
        m.closes.lost,
        m.open
    )
}

fn label(thread: &instrument_trace::Thread) -> String {
    let name = match thread.kind {
        ThreadKind::Ended(count) if thread.name.is_empty() => format!("({count} ended)"),
        ThreadKind::Ended(count) => format!("{} ({count} ended)", printable(&thread.name)),
        ThreadKind::Thread => format!("{} {}", thread.ordinal, printable(&thread.name)),
    };
    let copy = if thread.copy > 1 { format!(" (copy {})", thread.copy) } else { String::new() };
    format!("{name}{copy}")
}

fn within(path: &str, name: String) -> String {
    if path.is_empty() { name } else { format!("{path}: {name}") }
}

fn table(headers: &[&str], figures: usize) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(headers);
    for i in 0..figures {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
