//! monitors: what threads waited for (seed 004): by monitor, with who held it and who waited; by thread; and where in the program, as
//! a calling context tree.

mod document;
mod table;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use instrument_trace::{JavaThread, Profile};
use serde_json::Value;

use super::aligned::Aligned;
use super::document::{Document, Member};
use super::{Error, Format, Options, Show, xtree};
use crate::hash::HashMap;
use crate::model::Arcflow;
use crate::session::{ProfileFile, Session};
use crate::text::{in_brief, percent, quantity};
use crate::waits::{self, Both, Monitor, MonitorWaits, OTHERS, Sum, UNKNOWN_THREAD, Waits, plain_name};
use instrument_names::printable::printable;
use instrument_names::signature::java_class;

/// Who waited, and for whom.
type Pair<'a> = (&'a str, &'a str);

/// Rows of text unless asked for otherwise.
const TOP: usize = 20;
/// Names of threads in a line of text.
const NAMED: usize = 4;
/// The resources of the model that are shown.
const RESOURCES: [&str; 2] = ["contended", "object-wait"];

/// The waits of a process.
pub struct Process<'a> {
    /// What it is called.
    pub name: &'a str,
    pub profile: &'a Profile,
    pub waits: &'a Waits,
    /// Names of its threads by copy and number: [`crate::waits::names`].
    pub threads: &'a HashMap<(u32, u32), String>,
    /// Name of a class by copy and number.
    pub class: &'a dyn Fn(u32, u32) -> String,
    /// Name of a method by copy and id.
    pub method: &'a dyn Fn(u32, u32) -> String,
}

/// Which rows a CSV table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Table {
    /// One for each monitor.
    #[default]
    Monitors,
    /// One for each thread.
    Threads,
}

/// Writes the report of a session. `wanted`: whether threads of a name are.
///
/// # Errors
/// Waits were not recorded; the output failed.
pub fn of_session(
    out: &mut dyn Write,
    session: &Session,
    wanted: &dyn Fn(&str) -> bool,
    table: Table,
    options: &Options<'_>,
) -> Result<(), Error> {
    with_processes(&session.profiles, wanted, |processes| {
        write(out, processes, &session.model, table, options)
    })
}

/// The processes of the document, for a page: the first `top` rows of each list. `None`: waits were not recorded.
pub(crate) fn value(files: &[ProfileFile], wanted: &dyn Fn(&str) -> bool, top: usize) -> Option<Value> {
    let options = Options { format: Format::Json, top: Some(top), ..Options::default() };
    let of =
        |processes: &[Process<'_>]| Ok(processes.iter().map(|process| process.value(&options)).collect());
    with_processes(files, wanted, of).ok()
}

fn with_processes<T>(
    files: &[ProfileFile],
    wanted: &dyn Fn(&str) -> bool,
    then: impl FnOnce(&[Process<'_>]) -> Result<T, Error>,
) -> Result<T, Error> {
    let recorded = files.iter().filter_map(|file| Some((file, file.waits()?)));
    let known: Vec<_> = recorded
        .map(|(file, waits)| {
            let mut threads = waits::names(&file.profile);
            threads.retain(|_, name| wanted(name));
            let classes = move |copy: u32, number: u32| file.class(copy, number);
            let methods = move |copy: u32, id: u32| file.names.method(copy, id);
            (file, waits, file.label(), threads, classes, methods)
        })
        .collect();
    if known.is_empty() {
        return Err(Error::NoWaits);
    }
    let processes: Vec<_> = known
        .iter()
        .map(|(file, waits, name, threads, class, method)| Process {
            name,
            profile: &file.profile,
            waits,
            threads,
            class,
            method,
        })
        .collect();
    then(&processes)
}

/// Writes the report. The model has the resources `contended` and `waiting`.
///
/// # Errors
/// The output failed.
pub fn write(
    out: &mut dyn Write,
    processes: &[Process<'_>],
    model: &Arcflow,
    table: Table,
    options: &Options<'_>,
) -> Result<(), Error> {
    match (options.format, table) {
        (Format::Text, _) => {
            for (i, process) in processes.iter().enumerate() {
                if i > 0 {
                    writeln!(out)?;
                }
                process.text(out, options)?;
            }
            writeln!(out)?;
            contexts(out, model, options)
        }
        (Format::Json, _) => with_document(processes, model, options, |document| Ok(document.print(out)?))?,
        (Format::Csv, Table::Monitors) => table::monitors(out, processes, options),
        (Format::Csv, Table::Threads) => table::threads(out, processes, options),
    }
}

/// The report of a session as JSON has it.
///
/// # Errors
/// Waits were not recorded.
pub fn document(
    session: &Session,
    wanted: &dyn Fn(&str) -> bool,
    options: &Options<'_>,
) -> Result<Value, Error> {
    with_processes(&session.profiles, wanted, |processes| {
        with_document(processes, &session.model, options, |document| document.into_value())
    })
}

fn with_document<T>(
    processes: &[Process<'_>],
    model: &Arcflow,
    options: &Options<'_>,
    then: impl FnOnce(Document<'_>) -> T,
) -> Result<T, Error> {
    let resources = RESOURCES.map(str::to_owned);
    xtree::with_document(model, &Options { resources: &resources, ..*options }, |contexts| {
        let mut document = Document::default();
        document.put("report", "monitors");
        document.put("unit", "ns");
        let processes = processes.iter().map(|process| process.document(options));
        document.member("processes", Member::Objects(processes.collect()));
        document.member("contexts", Member::Report(contexts));
        then(document)
    })
}

/// Where threads waited.
fn contexts(out: &mut dyn Write, model: &Arcflow, options: &Options<'_>) -> Result<(), Error> {
    let resources = RESOURCES.map(str::to_owned);
    let top = Some(options.top.unwrap_or(TOP));
    let show = if options.show == Show::Both { Show::Absolute } else { options.show };
    xtree::write(out, model, &Options { resources: &resources, top, show, ..*options })
}

/// `5 times, 296.4 ms`
fn words(sum: &Sum) -> String {
    let times = if sum.times == 1 { "once".to_owned() } else { format!("{} times", sum.times) };
    match sum.times {
        0 => "never".to_owned(),
        _ if sum.open > 0 => format!("{times}, {}, {} still waiting at the end", time(sum.ns), sum.open),
        _ => format!("{times}, {}", time(sum.ns)),
    }
}

fn time(ns: u64) -> String {
    quantity(ns as f64, "ns")
}

/// How often, total, mean and longest.
fn cells(sum: &Sum) -> [String; 4] {
    let none = || "-".to_owned();
    let mean = sum.mean().map_or_else(none, |mean| quantity(mean.round(), "ns"));
    [
        sum.times.to_string(),
        if sum.times > 0 { time(sum.ns) } else { none() },
        mean,
        if sum.times > 0 { time(sum.max) } else { none() },
    ]
}

impl Process<'_> {
    fn thread(&self, copy: u32, number: u32) -> &str {
        self.threads.get(&(copy, number)).map_or(UNKNOWN_THREAD, String::as_str)
    }

    /// The method in which threads waited longest: `Foo.add`, and how many others there are; `None`: nobody was in a recorded method.
    fn place(&self, monitor: &Monitor, waits: &MonitorWaits) -> Option<String> {
        let chain = |context: u32| {
            let copy = self.profile.copies.get(&monitor.copy)?;
            copy.contexts.chain(context).find_map(|consumer| consumer.method())
        };
        let mut methods: BTreeMap<u32, u64> = BTreeMap::new();
        for (&context, &ns) in &waits.contexts {
            let ns_of = methods.entry(chain(context).unwrap_or(0)).or_default();
            *ns_of = ns_of.saturating_add(ns);
        }
        let longest = methods.iter().max_by_key(|(id, ns)| (**ns, Reverse(**id)));
        let (&id, _) = longest.filter(|(id, _)| **id != 0)?;
        let name = printable(&in_brief(&(self.method)(monitor.copy, id))).into_owned();
        Some(match methods.len() {
            1 => name,
            count => format!("{name}, {} more", count - 1),
        })
    }

    /// `com.acme.Foo #12`
    fn monitor(&self, monitor: &Monitor) -> String {
        let class = (self.class)(monitor.copy, monitor.class);
        // HotSpot's threads wait for a class that another one initialises by an empty array of int.
        let class = match &*java_class(&class) {
            "int[]" => "int[] (class initialisation, or a lock of the program)".to_owned(),
            class => class.to_owned(),
        };
        match monitor.number {
            0 => class,
            OTHERS => format!("{class} (others)"),
            number => format!("{class} #{number}"),
        }
    }

    /// What was contended longest first, then what was waited for longest.
    fn monitors(&self, options: &Options<'_>) -> (Vec<(&Monitor, &MonitorWaits)>, usize) {
        let mut monitors: Vec<_> = self.waits.monitors.iter().collect();
        let key = |waits: &MonitorWaits| (waits.all.contended.ns, waits.all.waiting.ns);
        monitors.sort_unstable_by(|a, b| key(b.1).cmp(&key(a.1)).then(a.0.cmp(b.0)));
        shortened(monitors, options)
    }

    /// The threads that waited longest first.
    fn thread_list(&self, options: &Options<'_>) -> (Vec<(&JavaThread, Both)>, usize) {
        let waits = |thread: &JavaThread| {
            self.waits.threads.get(&(thread.copy, thread.number)).copied().unwrap_or_default()
        };
        let wanted = |thread: &&JavaThread| self.threads.contains_key(&(thread.copy, thread.number));
        let threads = self.profile.java_threads.iter().filter(wanted);
        let mut threads: Vec<_> = threads.map(|thread| (thread, waits(thread))).collect();
        let key = |both: &Both| (both.contended.ns, both.waiting.ns);
        threads.sort_by_key(|(_, both)| Reverse(key(both)));
        shortened(threads, options)
    }

    fn text(&self, out: &mut dyn Write, options: &Options<'_>) -> Result<(), Error> {
        let Both { contended, waiting } = &self.waits.all;
        writeln!(out, "process    {}", printable(self.name))?;
        writeln!(out, "contended  {}", words(contended))?;
        writeln!(out, "waiting    {}", words(waiting))?;
        if contended.times > 0 {
            writeln!(out, "owner      known {} of {} times", self.waits.owned, contended.times)?;
        }
        let is_virtual = |thread: &JavaThread| thread.virtual_thread;
        if self.waits.owned < contended.times && self.profile.java_threads.iter().any(is_virtual) {
            writeln!(
                out,
                "note       the JVM does not say which virtual thread has a monitor: such owners are unknown"
            )?;
        }
        if self.waits.owned < contended.times {
            writeln!(
                out,
                "note       owners are looked up as long as that takes at most 2 % of the time; `--owners all` always looks them up"
            )?;
        }
        if self.waits.unknown > 0 {
            writeln!(out, "unknown    {} waits of other kinds", self.waits.unknown)?;
        }
        let (monitors, left) = self.monitors(options);
        writeln!(out)?;
        let headers = ["contended", "total", "mean", "max", "waits", "total", "mean", "max"];
        let headers = headers.into_iter().chain(["where"]).map(str::to_owned).collect();
        let mut table = Aligned::new(headers, "monitor").with_text(1);
        for (monitor, waits) in &monitors {
            let mut row = cells(&waits.all.contended).to_vec();
            row.extend(cells(&waits.all.waiting));
            row.push(self.place(monitor, waits).unwrap_or_else(|| "-".to_owned()));
            table.row(row, &self.monitor(monitor));
        }
        table.print_as(out, options)?;
        not_shown(out, left, monitors.len())?;
        self.parties(out, &monitors)?;
        self.pairs_text(out, options)?;

        let (threads, left) = self.thread_list(options);
        writeln!(out)?;
        let headers = ["contended", "total", "waits", "total", "life", "contended %"];
        let mut table = Aligned::new(headers.map(str::to_owned).to_vec(), "thread");
        for (thread, both) in &threads {
            let [times, total, ..] = cells(&both.contended);
            let [waits, waited, ..] = cells(&both.waiting);
            let life = self.life(thread);
            let share = life.map_or_else(|| "-".into(), |ns| percent(both.contended.ns as f64, ns as f64));
            let life = life.map_or_else(|| "-".into(), time);
            table.row(vec![times, total, waits, waited, life, share], &self.description(thread));
        }
        table.print_as(out, options)?;
        Ok(not_shown(out, left, threads.len())?)
    }

    /// Who had which monitor, and who waited for it.
    fn parties(&self, out: &mut dyn Write, monitors: &[(&Monitor, &MonitorWaits)]) -> io::Result<()> {
        let contended = monitors.iter().filter(|(_, waits)| waits.all.contended.times > 0);
        for (i, (monitor, waits)) in contended.enumerate() {
            if i == 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", printable(&self.monitor(monitor)))?;
            let owners = waits.owners.iter().map(|(&number, sum)| (number, *sum));
            writeln!(out, "  held by     {}", self.list(monitor.copy, owners))?;
            let threads = waits.threads.iter().map(|(&number, both)| (number, both.contended));
            writeln!(out, "  entered by  {}", self.list(monitor.copy, threads))?;
        }
        Ok(())
    }

    /// A name that threads may share, as those of a pool without numbers do.
    fn plain_name(&self, copy: u32, number: u32) -> &str {
        match self.profile.java_thread(copy, number) {
            Some(thread) => plain_name(thread),
            None if number == 0 => "(unknown)",
            None => UNKNOWN_THREAD,
        }
    }

    /// Who waited for whom to leave a monitor, the longest first; threads of one name together.
    fn pairs(&self, options: &Options<'_>) -> (Vec<(Pair<'_>, Sum)>, usize) {
        let mut names: BTreeMap<Pair<'_>, Sum> = BTreeMap::new();
        for (&(copy, waiter, owner), sum) in &self.waits.pairs {
            let pair = (self.plain_name(copy, waiter), self.plain_name(copy, owner));
            names.entry(pair).or_default().merge(sum);
        }
        let mut list: Vec<_> = names.into_iter().collect();
        list.sort_by_key(|(_, sum)| Reverse(sum.ns));
        shortened(list, options)
    }

    fn pairs_text(&self, out: &mut dyn Write, options: &Options<'_>) -> io::Result<()> {
        let (pairs, left) = self.pairs(options);
        if pairs.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let headers = ["contended", "total", "mean", "max"].map(str::to_owned).to_vec();
        let mut table = Aligned::new(headers, "thread waited for thread");
        for ((waiter, owner), sum) in &pairs {
            table.row(cells(sum).to_vec(), &format!("{waiter} waited for {owner}"));
        }
        table.print_as(out, options)?;
        not_shown(out, left, pairs.len())
    }

    /// Threads with their sums, those of one name together, the largest first.
    fn by_name(&self, copy: u32, sums: impl Iterator<Item = (u32, Sum)>) -> Vec<(&str, Sum, u64)> {
        let mut names: BTreeMap<&str, (Sum, u64)> = BTreeMap::new();
        for (number, sum) in sums.filter(|(_, sum)| sum.times > 0) {
            let of = names.entry(self.plain_name(copy, number)).or_default();
            of.0.merge(&sum);
            of.1 += 1;
        }
        let mut list: Vec<_> = names.into_iter().map(|(name, (sum, threads))| (name, sum, threads)).collect();
        list.sort_by_key(|(_, sum, _)| Reverse(sum.ns));
        list
    }

    fn list(&self, copy: u32, sums: impl Iterator<Item = (u32, Sum)>) -> String {
        let list = self.by_name(copy, sums);
        let word = |(name, sum, threads): &(&str, Sum, u64)| {
            let several = if *threads > 1 { format!(" ({threads} threads)") } else { String::new() };
            format!("{}{several} {}", printable(name), words(sum))
        };
        let mut words: Vec<String> = list.iter().take(NAMED).map(word).collect();
        if list.len() > NAMED {
            words.push(format!("{} others", list.len() - NAMED));
        }
        words.join("; ")
    }

    /// ns from its start, or that of recording, to its end, or the last moment that is known.
    fn life(&self, thread: &JavaThread) -> Option<u64> {
        let start = if thread.start > 0 { thread.start } else { self.profile.start_clock };
        let end = match thread.end {
            0 if thread.virtual_thread => return None,
            0 => self.waits.end,
            end => end,
        };
        (start > 0).then(|| end.saturating_sub(start))
    }

    /// `worker (group main, daemon, started by main)`
    fn description(&self, thread: &JavaThread) -> String {
        let mut facts = Vec::new();
        if !thread.group.is_empty() && !thread.virtual_thread {
            facts.push(format!("group {}", thread.group));
        }
        if thread.virtual_thread {
            facts.push("virtual".into());
        } else if thread.daemon {
            facts.push("daemon".into());
        }
        if thread.starter > 0 {
            facts.push(format!("started by {}", self.thread(thread.copy, thread.starter)));
        }
        let name = self.thread(thread.copy, thread.number);
        if facts.is_empty() { name.to_owned() } else { format!("{name} ({})", facts.join(", ")) }
    }
}

/// As many as are requested, and how many are left out.
fn shortened<T>(mut rows: Vec<T>, options: &Options<'_>) -> (Vec<T>, usize) {
    let usual = if options.format == Format::Text { TOP } else { usize::MAX };
    let kept = options.top.unwrap_or(usual).min(rows.len());
    let left = rows.len() - kept;
    rows.truncate(kept);
    (rows, left)
}

fn not_shown(out: &mut dyn Write, left: usize, first: usize) -> io::Result<()> {
    if left > 0 {
        writeln!(out, "not shown: {left} past the first {first}")?;
    }
    Ok(())
}
