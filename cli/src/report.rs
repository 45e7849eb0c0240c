//! `instrument report`: prints what profiles have counted, and whether the counts add up.
//!
//! Profiles of several processes are merged by method name. Ids that no id map names are printed as `#123` and kept apart
//! by file. The results go to stdout, remarks about
//! the files to stderr.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::exit::Exit;
use crate::talk::Talk;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use instrument_rewriter::class_file::mutf8;
use instrument_rewriter::id_map::{Entry, IdMap, gz};
use instrument_trace::{Closes, Method, Profile, ThreadKind};
use serde::Serialize;

/// Print what profiles have counted, and whether the counts add up
///
/// The law: entries = exits + unwinds + orphans + lost + open, for every method. Exit code 1 if it is broken.
#[derive(Debug, Clone, Args)]
pub(crate) struct Opts {
    /// Profiles (`*.iprof`); several are added up
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Column to sort by, largest first (names: A to Z)
    #[arg(long, value_enum, default_value_t = Sort::Entries)]
    pub(crate) sort: Sort,
    /// Print only the first N rows of each table
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// One row for each method and thread
    #[arg(long)]
    pub(crate) threads: bool,
    /// Print the objects and arrays made, by method and class
    #[arg(long)]
    pub(crate) allocations: bool,
    /// Print everything as one JSON document
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the table as CSV
    #[arg(long)]
    pub(crate) csv: bool,
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

/// Names by method id.
type Ids = HashMap<u32, String>;

/// The largest id map that is read from a profile, in bytes.
const LARGEST_MAP: usize = 1 << 30;

/// Prints the report to standard output. A violated law is exit code 1.
///
/// # Errors
/// A file that is no profile.
pub(crate) fn run(options: &Opts, talk: &Talk) -> Result<Exit> {
    let report = gather(options, talk)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    if options.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else if options.csv {
        report.csv(options, &mut out)?;
        talk.note(format_args!("{}", report.law.line()));
    } else {
        report.tables(options, &mut out)?;
        report.law.print(&mut out)?;
    }
    out.flush()?;
    Ok(if report.law.holds { Exit::Done } else { Exit::Negative })
}

/// Reads an id map as it is in a profile: gzip data. Names are `pkg.Class.method(desc)`.
fn parse_ids(data: &[u8]) -> Result<Ids> {
    let map = IdMap::parse(&gz::decompress(data, LARGEST_MAP)?)?;
    let name = |entry: Entry<'_>| {
        let class = mutf8::escape(entry.class).replace('/', ".");
        let (name, descriptor) = (mutf8::escape(entry.method.name), mutf8::escape(entry.method.descriptor));
        (entry.id, format!("{class}.{name}{descriptor}"))
    };
    Ok(map.iter().map(name).collect())
}

fn gather(options: &Opts, talk: &Talk) -> Result<Report> {
    let mut report = Report::default();
    for (number, path) in options.files.iter().enumerate() {
        let data = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let profile = Profile::parse(&data).with_context(|| path.display().to_string())?;
        let names = Names::new(&profile, number, options.files.len() > 1);
        let file = File::new(path.display().to_string(), &profile, &names);
        file.say_remarks(talk);
        report.add(&profile, &names, &file.path, options);
        report.files.push(file);
    }
    report.sort(options);
    Ok(report)
}

/// Method names of one profile, by copy of the runtime and id.
struct Names {
    by_id: HashMap<(u32, u32), String>,
    classes: HashMap<(u32, u32), String>,
    /// Added to names made from an id, where several files could mean different methods.
    suffix: String,
    remarks: Vec<String>,
}

impl Names {
    fn new(profile: &Profile, number: usize, several: bool) -> Names {
        let suffix = if several { format!(" (file {})", number + 1) } else { String::new() };
        let mut names = Names { by_id: HashMap::new(), classes: HashMap::new(), suffix, remarks: Vec::new() };
        for (&copy, data) in &profile.copies {
            let mut clashes = BTreeSet::new();
            for map in &data.id_maps {
                match parse_ids(map) {
                    Ok(ids) => {
                        for (id, name) in ids {
                            let known = names.by_id.entry((copy, id)).or_insert_with(|| name.clone());
                            if *known != name {
                                // Which of the two it was cannot be told.
                                clashes.insert(id);
                                *known = format!("#{id}");
                            }
                        }
                    }
                    Err(e) => names.remarks.push(format!("an id map cannot be read: {e:#}")),
                }
            }
            if let Some(id) = clashes.first() {
                let text = "ids have two meanings (such as {id}); instrument modules that run together with one --ids FILE";
                names.remarks.push(format!("{} {}", clashes.len(), text.replace("{id}", &id.to_string())));
            }
            let classes = data.class_names.iter().map(|(&number, name)| ((copy, number), name.clone()));
            names.classes.extend(classes);
        }
        names
    }

    fn method(&self, copy: u32, id: u32) -> String {
        match self.by_id.get(&(copy, id)) {
            Some(name) if !name.starts_with('#') => name.clone(),
            _ if copy > 1 => format!("#{id} (copy {copy}){}", self.suffix),
            _ => format!("#{id}{}", self.suffix),
        }
    }

    fn class(&self, copy: u32, number: u32) -> String {
        self.classes.get(&(copy, number)).cloned().unwrap_or_else(|| format!("class #{number}"))
    }
}

/// Everything that is printed; JSON is this structure.
#[derive(Default, Serialize)]
struct Report {
    files: Vec<File>,
    methods: Vec<Row>,
    allocations: Vec<Made>,
    law: Law,
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
struct Law {
    holds: bool,
    /// Methods checked: those that have a row.
    methods: usize,
    #[serde(skip)]
    checked: HashSet<String>,
    in_flight: usize,
    violations: Vec<String>,
}

impl Default for Law {
    fn default() -> Self {
        Law { holds: true, methods: 0, checked: HashSet::new(), in_flight: 0, violations: Vec::new() }
    }
}

impl File {
    fn new(path: String, profile: &Profile, names: &Names) -> File {
        let mut remarks = names.remarks.clone();
        let dropped = profile.threads.iter().fold(profile.dropped, |sum, t| sum.saturating_add(t.dropped));
        if dropped > 0 {
            remarks.push(format!("{dropped} events were dropped"));
        }
        for thread in profile.threads.iter().filter(|t| t.stopped) {
            remarks.push(format!("recording of thread {:?} stopped early", thread.name));
        }
        for thread in profile.threads.iter().filter(|t| t.in_transition) {
            remarks.push(format!("thread {:?} ended inside a repair of its stack; not checked", thread.name));
        }
        for (kind, count) in &profile.skipped {
            remarks.push(format!("{count} regions of the unknown kind {kind} were skipped"));
        }
        remarks.extend(profile.damage.iter().map(ToString::to_string));
        let ended = profile.threads.iter().map(|t| match t.kind {
            ThreadKind::Ended(count) => count,
            ThreadKind::Thread => 0,
        });
        let ended_threads = ended.fold(0, u64::saturating_add);
        let threads = profile.threads.iter().filter(|t| t.kind == ThreadKind::Thread).count();
        let properties =
            profile.copies.values().next().map_or_else(BTreeMap::new, |copy| copy.properties.clone());
        File {
            path,
            pid: profile.pid,
            start_ms: profile.start_ms,
            threads,
            ended_threads,
            dropped,
            in_flight: profile.in_flight(),
            properties,
            remarks,
        }
    }

    fn say_remarks(&self, talk: &Talk) {
        const SHOWN: usize = 10;
        for remark in self.remarks.iter().take(SHOWN) {
            talk.warn(format_args!("{}: {remark}", self.path));
        }
        if self.remarks.len() > SHOWN {
            talk.warn(format_args!("{}: and {} remarks more", self.path, self.remarks.len() - SHOWN));
        }
    }
}

impl Report {
    fn add(&mut self, profile: &Profile, names: &Names, path: &str, options: &Opts) {
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
        for thread in &profile.threads {
            for (&id, method) in &thread.methods {
                let label = options.threads.then(|| label(path, options, thread));
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
        for imbalance in profile.imbalances() {
            let thread = &profile.threads[imbalance.thread];
            let m = &imbalance.method;
            self.law.holds = false;
            self.law.violations.push(format!(
                "{path}: {} in {}: {} entries, but {} exits + {} unwinds + {} orphans + {} lost + {} open",
                names.method(thread.copy, imbalance.id),
                label("", options, thread),
                m.entries,
                m.closes.exits,
                m.closes.unwinds,
                m.closes.orphans,
                m.closes.lost,
                m.open
            ));
        }
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

    fn tables(&self, options: &Opts, out: &mut dyn Write) -> Result<()> {
        if options.allocations {
            let mut table = table(&["count", "class", "method"], 1);
            for row in &self.allocations {
                let method = row.method.as_deref().unwrap_or("-");
                table.add_row([row.count.to_string(), printable(&row.class), printable(method)]);
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
            cells.push(printable(&row.name));
            table.add_row(cells);
        }
        writeln!(out, "{}", table.trim_fmt())?;
        Ok(())
    }

    fn csv(&self, options: &Opts, out: &mut dyn Write) -> Result<()> {
        if options.allocations {
            writeln!(out, "class,method,count")?;
            for row in &self.allocations {
                let method = row.method.as_deref().unwrap_or("");
                writeln!(out, "{},{},{}", quoted(&row.class), quoted(method), row.count)?;
            }
            return Ok(());
        }
        let thread = if options.threads { ",thread" } else { "" };
        writeln!(out, "method{thread},{}", COLUMNS.join(","))?;
        for row in &self.methods {
            write!(out, "{}", quoted(&row.name))?;
            if let Some(thread) = &row.thread {
                write!(out, ",{}", quoted(thread))?;
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
    fn line(&self) -> String {
        let in_flight = match self.in_flight {
            0 => String::new(),
            1 => "; 1 event was being written when its process ended".into(),
            n => format!("; {n} events were being written when their process ended"),
        };
        if self.holds {
            format!("law holds for {} methods{in_flight}", self.methods)
        } else {
            format!("law VIOLATED {} times in {} methods{in_flight}", self.violations.len(), self.methods)
        }
    }

    fn print(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "\n{}", self.line())?;
        for violation in &self.violations {
            writeln!(out, "  {}", printable(violation))?;
        }
        Ok(())
    }
}

fn label(path: &str, options: &Opts, thread: &instrument_trace::Thread) -> String {
    let name = match thread.kind {
        ThreadKind::Ended(count) => format!("({count} ended)"),
        ThreadKind::Thread => format!("{} {}", thread.ordinal, printable(&thread.name)),
    };
    let copy = if thread.copy > 1 { format!(" (copy {})", thread.copy) } else { String::new() };
    if path.is_empty() || options.files.len() == 1 {
        format!("{name}{copy}")
    } else {
        format!("{path}: {name}{copy}")
    }
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

/// Names come from the program: control characters must not reach a terminal.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
