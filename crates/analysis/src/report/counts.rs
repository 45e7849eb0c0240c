//! Counts: entries, exits and the other ends of calls of every method, and whether they balance.
//!
//! Profiles of several processes are merged by method name. Ids that no id map names are printed as `#123` and kept apart
//! by file.

mod print;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::load;
use crate::session::names::Names;
use crate::session::{ProfileFile, Session};
use instrument_names::printable::printable;
use instrument_names::word::words;
use instrument_trace::{Closes, Imbalance, Method, Profile, ThreadKind, TreeConsumer};
use serde::Serialize;

/// What of the counts is printed.
#[derive(Debug, Clone)]
pub struct Request {
    /// Column to sort by.
    pub sort: Sort,
    /// Only the first rows of each table.
    pub top: Option<usize>,
    /// One row for each method and thread, or pool of threads.
    pub per_thread: bool,
    /// The objects and arrays made, not the calls.
    pub allocations: bool,
    /// Each thread of a pool is a row of its own.
    pub split_threads: bool,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            sort: Sort::Entries,
            top: None,
            per_thread: false,
            allocations: false,
            split_threads: false,
        }
    }
}

words! {
    /// A column of the table of counts, largest first; names: A to Z.
    Sort {
        Entries = "entries": "Calls that began",
        Exits = "exits": "Calls that returned",
        Unwinds = "unwinds": "Calls that an exception left",
        Aborted = "aborted": "Constructors whose super(..) or this(..) threw an exception",
        Unclosed = "unclosed": "Calls whose end was not seen",
        Unmatched = "unmatched": "Ends of calls that were not seen to begin",
        Open = "open": "Calls that had not ended",
        Bytecodes = "bytecodes": "Instructions that calls executed themselves, if they were counted",
        Running = "running": "CPU time that calls took themselves, if it was sampled",
        Name = "name": "Name",
    }
}

/// Adds up the counts of all files.
pub fn gather(session: &Session, options: &Request) -> Report {
    let profiles = &session.profiles;
    let mut report = Report::default();
    let several = profiles.len() > 1;
    for file in profiles {
        report.add(file, options, several);
        report.files.push(File::new(file));
    }
    report.sort(options);
    report
}

/// Everything that is printed; JSON is this structure.
#[derive(Default, Serialize)]
pub struct Report {
    files: Vec<File>,
    methods: Vec<Row>,
    allocations: Vec<Made>,
    /// Executed instructions were counted.
    #[serde(skip)]
    has_bytecodes: bool,
    /// All samples, those in probes too; none: there are none.
    #[serde(skip)]
    sampled: Option<Sampled>,
    /// Whether they balance.
    pub balance: Balance,
}

/// What there is of samples.
#[derive(Clone, Copy, Default)]
struct Sampled {
    all: u64,
    /// What they stand for.
    ns: f64,
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
    aborted: u64,
    unclosed: u64,
    unmatched: u64,
    open: u64,
    /// `None`: executed instructions were not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<u64>,
    /// Samples that met it, and the CPU time that they stand for. `None`: there are no samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running_ns: Option<u64>,
}

/// Objects or arrays of one class, made under one method.
#[derive(Serialize)]
struct Made {
    class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    count: u64,
}

/// entries = exits + unwinds + aborted + unclosed + open, where open is counted on the threads' shadow stacks. For all methods of a thread together,
/// where it counts its exits so.
#[derive(Serialize)]
pub struct Balance {
    /// Whether every equation holds.
    pub holds: bool,
    /// Methods checked: those that have a row.
    methods: usize,
    #[serde(skip)]
    checked: HashSet<String>,
    in_flight: usize,
    #[serde(skip)]
    live: bool,
    #[serde(skip)]
    damaged: bool,
    violations: Vec<String>,
}

impl Default for Balance {
    fn default() -> Self {
        Balance {
            holds: true,
            methods: 0,
            checked: HashSet::new(),
            in_flight: 0,
            live: false,
            damaged: false,
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
    fn add(&mut self, file: &ProfileFile, options: &Request, several: bool) {
        let (profile, names, path) = (&file.profile, &file.names, file.path.display().to_string());
        let of = if several { path.as_str() } else { "" };
        // What earlier files gave is taken up again: rows of one name become one row.
        let mut rows = BTreeMap::new();
        for row in std::mem::take(&mut self.methods) {
            let counts = row.counts();
            rows.insert((row.name, row.thread), (counts, row.running_ns.unwrap_or(0) as f64));
        }
        let mut made = BTreeMap::new();
        for row in std::mem::take(&mut self.allocations) {
            made.insert((row.method, row.class), row.count);
        }
        let mut checked = BTreeSet::new();
        let has_samples = load::samples::are_in(profile);
        let method = |copy: u32, id: u32| names.method(copy, id);
        let pools = if options.split_threads { Vec::new() } else { load::pools(profile, &method) };
        for (i, thread) in profile.threads.iter().enumerate() {
            let label = options.per_thread.then(|| match pools.get(i) {
                Some(pool) => within(of, printable(pool).into_owned()),
                None => within(of, label(thread)),
            });
            // Of a thread whose signal was taken it is not known where its time went.
            let has_samples = has_samples && !thread.samples.is_some_and(|samples| samples.signal_taken);
            let worth = if has_samples { load::samples::worth(thread, profile) } else { 0.0 };
            if has_samples {
                let all = load::samples::of_contexts(thread) + thread.samples.map_or(0, |s| s.outside());
                let sampled = self.sampled.get_or_insert_default();
                sampled.all += all;
                sampled.ns += all as f64 * worth;
            }
            for (&id, method) in &thread.methods {
                let label = label.clone();
                let (sum, ns): &mut (Method, f64) =
                    rows.entry((names.method(thread.copy, id), label)).or_default();
                sum.add(&Method { samples: if has_samples { method.samples } else { 0 }, ..*method });
                *ns += method.samples as f64 * worth;
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
        self.has_bytecodes |= rows.values().any(|(method, _)| method.bytecodes > 0);
        let (has_bytecodes, is_sampled) = (self.has_bytecodes, self.sampled.is_some());
        let row = |((name, thread), (method, ns)): (_, (Method, f64))| {
            let running_ns = is_sampled.then_some(ns.round() as u64);
            Row { name, thread, running_ns, ..Row::new(&method, has_bytecodes, is_sampled) }
        };
        self.methods = rows.into_iter().map(row).collect();
        let allocations = made.into_iter().map(|((method, class), count)| Made { class, method, count });
        self.allocations = allocations.collect();

        self.balance.checked.extend(checked.into_iter().map(|(copy, id)| names.method(copy, id)));
        self.balance.methods = self.balance.checked.len();
        self.balance.in_flight += profile.in_flight();
        // Figures that are being written need not agree.
        for imbalance in profile.imbalances().iter().filter(|_| !file.is_live) {
            self.balance.holds = false;
            self.balance.violations.push(format!("{path}: {}", violation(profile, names, imbalance)));
        }
        self.balance.live |= file.is_live;
        self.balance.damaged |= !file.profile.damage.is_empty();
    }

    /// The sum of all rows.
    pub fn sum(&self) -> Method {
        self.methods.iter().fold(Method::default(), |mut sum, row| {
            sum.add(&row.counts());
            sum
        })
    }

    fn sort(&mut self, options: &Request) {
        // Rows come sorted by name; the sort is stable.
        if options.sort != Sort::Name {
            self.methods.sort_by_key(|row| std::cmp::Reverse(row.figure(options.sort)));
        }
        self.allocations.sort_by_key(|row| std::cmp::Reverse(row.count));
        if let Some(top) = options.top {
            self.methods.truncate(top);
            self.allocations.truncate(top);
        }
    }
}

impl Row {
    /// Of nobody yet.
    fn new(m: &Method, has_bytecodes: bool, is_sampled: bool) -> Row {
        let Closes { exits, unwinds, aborted, unclosed } = m.closes;
        Row {
            name: String::new(),
            thread: None,
            entries: m.entries,
            exits,
            unwinds,
            aborted,
            unclosed,
            unmatched: m.unmatched,
            open: m.open,
            bytecodes: has_bytecodes.then_some(m.bytecodes),
            samples: is_sampled.then_some(m.samples),
            running_ns: None,
        }
    }

    fn counts(&self) -> Method {
        let closes = Closes {
            exits: self.exits,
            unwinds: self.unwinds,
            aborted: self.aborted,
            unclosed: self.unclosed,
        };
        Method {
            entries: self.entries,
            closes,
            unmatched: self.unmatched,
            open: self.open,
            bytecodes: self.bytecodes.unwrap_or(0),
            samples: self.samples.unwrap_or(0),
        }
    }

    /// What rows are sorted by.
    fn figure(&self, sort: Sort) -> u64 {
        match sort {
            Sort::Entries => self.entries,
            Sort::Exits => self.exits,
            Sort::Unwinds => self.unwinds,
            Sort::Aborted => self.aborted,
            Sort::Unclosed => self.unclosed,
            Sort::Unmatched => self.unmatched,
            Sort::Open => self.open,
            Sort::Bytecodes => self.bytecodes.unwrap_or(0),
            Sort::Running => self.running_ns.unwrap_or(0),
            Sort::Name => 0,
        }
    }
}

fn violation(profile: &Profile, names: &Names, imbalance: &Imbalance) -> String {
    let (thread, m) = (&profile.threads[imbalance.thread], &imbalance.method);
    let consumer = match imbalance.consumer {
        Some(TreeConsumer::Method(id)) => names.method(thread.copy, id),
        Some(TreeConsumer::Link(number)) => format!("link {number}"),
        Some(TreeConsumer::Deeper) => "(deeper)".into(),
        None => "all methods".into(),
    };
    let context = if imbalance.node > 0 { format!(" (context {})", imbalance.node) } else { String::new() };
    format!(
        "{consumer}{context} in {}: {} entries, but {} exits + {} unwinds + {} aborted + {} unclosed + {} open",
        label(thread),
        m.entries,
        m.closes.exits,
        m.closes.unwinds,
        m.closes.aborted,
        m.closes.unclosed,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session;
    use std::path::Path;

    /// Figures that are being written need not agree; they are no violation.
    #[test]
    fn the_balance_is_not_checked_while_a_process_still_writes() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/profiles/v1-calls.iprof");
        let mut data = std::fs::read(path).unwrap();
        let record = [6u64, 1000, 0, 1000].map(u64::to_le_bytes).concat();
        let at = data.windows(record.len()).position(|w| w == record).unwrap();
        data[at + 8] += 1;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("torn.iprof");
        std::fs::write(&path, data).unwrap();
        let request = session::Request { files: vec![path], ..session::Request::default() };
        let mut session = Session::read(&request).unwrap();
        assert!(!gather(&session, &Request::default()).balance.holds);
        session.profiles[0].is_live = true;
        let balance = gather(&session, &Request::default()).balance;
        assert!(balance.holds);
        assert!(balance.line().starts_with("balance not checked"));
        let remarks = session.profiles[0].remarks();
        assert!(remarks[0].contains("is still writing"), "{remarks:?}");
    }
}
