//! thread-list: threads, or pools of threads, one row each: how long they were there, what they called and what that consumed. The figures
//! are those of [`super::xtree`]: of recorded methods only.

use std::collections::BTreeMap;
use std::io::Write;

use instrument_trace::ThreadKind;
use serde_json::{Map, Value, json};

use super::aligned::Aligned;
use super::document::Document;
use super::{Error, Format, Options, Sort, columns, machine};
use crate::load::{ends, thread_rows};
use crate::model::{Arcflow, Kind, NodeId};
use crate::session::ProfileFile;
use crate::text::{below, quantity};
use crate::thread_time::ThreadTime;
use crate::uncertainty::Uncertainty;

/// A profile, and what its process is called.
pub type Labelled<'a> = (&'a str, &'a ProfileFile);

/// What is known of the threads of a row beside their figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known {
    /// The clock at the first event of the first one, and the last moment at which one was there.
    between: Option<(u64, u64)>,
    /// Names of their groups, if threads were recorded.
    groups: Vec<String>,
}

/// A thread, or a pool of threads.
#[derive(Debug)]
struct Row {
    node: NodeId,
    calls: u64,
    contexts: u64,
    known: Known,
}

/// The rows of a model.
struct List<'a> {
    model: &'a Arcflow,
    cum: Vec<f64>,
    rows: Vec<Row>,
}

/// Writes the report. `files`: what the model is of, as far as it is of profiles; `split`: their threads are rows of their own.
///
/// # Errors
/// A resource that the model does not have, or the output failed.
pub fn write(
    out: &mut dyn Write,
    model: &Arcflow,
    files: &[Labelled<'_>],
    split: bool,
    options: &Options<'_>,
) -> Result<(), Error> {
    let shown = options.resources(model)?;
    let mut list = List::new(model, files, split);
    let by = if options.resources.is_empty() { first(model) } else { shown.first().copied() };
    list.sort(options.sort.unwrap_or(Sort::Cum), by);
    match options.format {
        Format::Text => list.text(out, &shown, options),
        Format::Json => Ok(list.document(&shown, options.top).print(out)?),
        Format::Csv => list.csv(out, &shown, options),
    }
}

/// The rows of the document for a page, and how many there are in all: only the first `top` of those that took most.
pub(crate) fn value(model: &Arcflow, files: &[Labelled<'_>], split: bool, top: usize) -> Value {
    let options = Options { format: Format::Json, ..Options::default() };
    let shown = options.resources(model).unwrap_or_default();
    let mut list = List::new(model, files, split);
    list.sort(Sort::Cum, first(model));
    let mut document = list.document(&shown, Some(top)).into_value();
    json!({"all": document["all"].take(), "rows": document["rows"].take()})
}

/// What rows are sorted by unless asked for otherwise: thread time, if there is any.
fn first(model: &Arcflow) -> Option<usize> {
    let whole = ThreadTime::of(model).map(|time| time.whole.unwrap_or(time.running));
    whole.or((!model.resources().is_empty()).then_some(0))
}

impl<'a> List<'a> {
    fn new(model: &'a Arcflow, files: &[Labelled<'_>], split: bool) -> List<'a> {
        let mut known = known(files, split);
        // Of several processes that are not told apart, those of one name are one row.
        if !model.nodes().iter().any(|node| node.kind == Kind::Process) {
            let mut all: BTreeMap<(String, String), Known> = BTreeMap::new();
            for ((_, name), of) in known {
                // Clocks of different processes do not compare.
                let between = of.between.filter(|_| files.len() == 1);
                let row = all.entry((String::new(), name)).or_default();
                row.add(between, None);
                of.groups.iter().for_each(|group| row.add(None, Some(group)));
            }
            known = all;
        }
        let mut rows: Vec<Row> = Vec::new();
        // The row that each context is in.
        let mut within: Vec<Option<usize>> = vec![None; model.nodes().len()];
        for (i, node) in model.nodes().iter().enumerate() {
            let above = if i == 0 { None } else { within[node.parent.0 as usize] };
            within[i] = above;
            if node.kind == Kind::Thread {
                within[i] = Some(rows.len());
                let (process, name) = names(model, NodeId(i as u32));
                let known = known.remove(&(process.to_owned(), name.to_owned())).unwrap_or_default();
                rows.push(Row { node: NodeId(i as u32), calls: 0, contexts: 0, known });
            } else if let (Some(row), Kind::Method | Kind::Deeper) = (above, node.kind) {
                rows[row].calls = rows[row].calls.saturating_add(node.n);
                rows[row].contexts += 1;
            }
        }
        List { model, cum: model.cum(), rows }
    }

    fn cum(&self, id: NodeId) -> &[f64] {
        let width = self.model.resources().len();
        &self.cum[id.0 as usize * width..][..width]
    }

    /// The largest first; names from A to Z.
    fn sort(&mut self, sort: Sort, resource: Option<usize>) {
        let mut rows = std::mem::take(&mut self.rows);
        let figure = |row: &Row| match (sort, resource) {
            (Sort::Base, Some(r)) => self.model.base(row.node)[r],
            (Sort::Cum, Some(r)) => self.cum(row.node)[r],
            _ => row.calls as f64,
        };
        if sort == Sort::Name {
            rows.sort_by_key(|row| names(self.model, row.node));
        } else {
            rows.sort_by(|a, b| figure(b).total_cmp(&figure(a)).then(a.node.cmp(&b.node)));
        }
        self.rows = rows;
    }

    fn document(&self, shown: &[usize], top: Option<usize>) -> Document<'_> {
        let total = &self.cum[..self.model.resources().len()];
        let mut document = Document::new("thread-list", self.model, shown, total);
        document.put("all", self.rows.len());
        let members = machine::Members::new(self.model, shown);
        let rows = self.rows.iter().take(top.unwrap_or(usize::MAX));
        document.rows("rows", rows.map(move |row| self.value(row, &members)));
        document
    }

    fn value(&self, row: &Row, members: &machine::Members) -> Value {
        let (process, thread) = names(self.model, row.node);
        let mut object = Map::new();
        object.insert("process".into(), json!(process));
        object.insert("thread".into(), json!(thread));
        object.insert("threads".into(), json!(self.model.node(row.node).n));
        object.insert("groups".into(), json!(row.known.groups));
        object.insert("elapsed_ns".into(), json!(row.known.elapsed()));
        object.insert("calls".into(), json!(row.calls));
        object.insert("contexts".into(), json!(row.contexts));
        members.put(self.model.base(row.node), self.cum(row.node), &mut object);
        Value::Object(object)
    }

    fn text(&self, out: &mut dyn Write, shown: &[usize], options: &Options<'_>) -> Result<(), Error> {
        let mut shown = shown.to_vec();
        // What is not running waits: one says little without the other.
        if let (true, Some(time)) = (options.resources.is_empty(), ThreadTime::of(self.model)) {
            shown = vec![time.running, time.waiting];
        }
        let resources = shown.iter().map(|&r| self.model.resources()[r].name.clone());
        let headers = ["threads", "elapsed"].map(str::to_owned).into_iter().chain(resources);
        let headers = headers.chain(["calls".to_owned()]).collect();
        let has_processes = self.rows.iter().any(|row| !names(self.model, row.node).0.is_empty());
        let mut table = Aligned::new(headers, if has_processes { "thread of process" } else { "thread" });
        let kept = options.top.unwrap_or(usize::MAX).min(self.rows.len());
        let uncertain: Vec<_> = shown.iter().map(|&r| Uncertainty::of(self.model, r)).collect();
        for row in &self.rows[..kept] {
            let elapsed = row.known.elapsed().map_or_else(|| "-".to_owned(), |ns| quantity(ns as f64, "ns"));
            let mut cells = vec![self.model.node(row.node).n.to_string(), elapsed];
            let figure = |(&r, uncertain): (&usize, &Uncertainty)| {
                let (cum, unit) = (self.cum(row.node), &self.model.resources()[r].unit);
                match uncertain.bound(cum) {
                    Some(bound) => below(bound, unit),
                    None => columns::marked(cum[r], unit, uncertain.cum(cum)),
                }
            };
            cells.extend(shown.iter().zip(&uncertain).map(figure));
            cells.push(row.calls.to_string());
            let (process, thread) = names(self.model, row.node);
            let of = if process.is_empty() { String::new() } else { format!(" of {process}") };
            table.row(cells, &format!("{thread}{of}"));
        }
        table.print_as(out, options)?;
        if kept < self.rows.len() {
            writeln!(out, "not shown: {} past the first {kept}", self.rows.len() - kept)?;
        }
        Ok(())
    }

    fn csv(&self, out: &mut dyn Write, shown: &[usize], options: &Options<'_>) -> Result<(), Error> {
        let header = machine::csv_header(self.model, shown);
        writeln!(out, "process,thread,threads,groups,elapsed_ns,calls,contexts{header}")?;
        for row in self.rows.iter().take(options.top.unwrap_or(usize::MAX)) {
            let (process, thread) = names(self.model, row.node);
            let [process, thread, groups] =
                [process, thread, &row.known.groups.join(" ")].map(machine::field);
            let elapsed = row.known.elapsed().map_or_else(String::new, |ns| ns.to_string());
            let (threads, calls, contexts) = (self.model.node(row.node).n, row.calls, row.contexts);
            let figures = machine::csv_figures(shown, self.model.base(row.node), self.cum(row.node));
            writeln!(out, "{process},{thread},{threads},{groups},{elapsed},{calls},{contexts}{figures}")?;
        }
        Ok(())
    }
}

impl Known {
    /// From the first event of the first thread to the last moment at which one of them was there, ns.
    fn elapsed(&self) -> Option<u64> {
        self.between.map(|(first, last)| last.saturating_sub(first))
    }

    fn add(&mut self, between: Option<(u64, u64)>, group: Option<&str>) {
        self.between = match (self.between, between) {
            (Some((first, last)), Some(of)) => Some((first.min(of.0), last.max(of.1))),
            (one, other) => one.or(other),
        };
        if let Some(group) = group.filter(|group| !self.groups.iter().any(|known| known == group)) {
            self.groups.push(group.to_owned());
        }
    }
}

/// By process and row.
fn known(files: &[Labelled<'_>], split: bool) -> BTreeMap<(String, String), Known> {
    let mut all: BTreeMap<(String, String), Known> = BTreeMap::new();
    for (label, file) in files {
        let profile = &file.profile;
        let methods = |copy, id| file.names.method(copy, id);
        let rows = thread_rows::rows(profile, &methods, split, &|_| true);
        let java = profile.java_threads.iter().filter(|thread| thread.ordinal != 0);
        let groups: crate::hash::HashMap<_, _> =
            java.map(|thread| ((thread.copy, thread.ordinal), thread.group.as_str())).collect();
        for ((thread, row), end) in profile.threads.iter().zip(rows).zip(ends::ends(profile)) {
            let Some(row) = row else { continue };
            let between = (thread.start != 0).then(|| (thread.start, end.open.max(thread.start)));
            let group = groups.get(&(thread.copy, thread.ordinal)).copied();
            let group = group.filter(|group| !group.is_empty() && thread.kind == ThreadKind::Thread);
            all.entry(((*label).to_owned(), row)).or_default().add(between, group);
        }
    }
    all
}

/// The process of a thread, if it has one, and its name.
pub(super) fn names(model: &Arcflow, thread: NodeId) -> (&str, &str) {
    let node = model.node(thread);
    let above = model.node(node.parent);
    let process = if above.kind == Kind::Process { model.name(above.consumer) } else { "" };
    (process, model.name(node.consumer))
}
