//! The rows of one process: everything that its profile knows by itself.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

use serde_json::json;

use super::batch::{Block, Cell, count};
use super::figures::{ENDS, Figure, Process, event, whole};
use super::inputs::{BUILD, Input, SERVICE};
use super::known::{Known, OfContexts, is_context};
use super::schema::{ALLOCATIONS, CONTEXTS, DURATIONS, METHOD_VALUES, METHODS, MONITORS, Table, VALUES};
use super::{Files, Folder, Rows, durations, sums};
use crate::context_key::ContextKey;
use crate::correction::Correction;
use crate::heap::table::{By, Filter, table};
use crate::merge::Party;
use crate::model::{Arcflow, Kind, NodeId};
use crate::report::counts;
use crate::session::{Error, ProfileFile, Session};
use crate::thread_time::is_sampled;
use crate::uncertainty::accompanies;
use crate::waits::OTHERS;
use crate::{heap, waits};
use instrument_trace::ThreadKind;

/// The tables of a partition that single processes fill.
pub(super) struct Tables<W: Write + Send> {
    pub(super) methods: Rows<W>,
    contexts: Rows<W>,
    values: Rows<W>,
    method_values: Rows<W>,
    allocations: Rows<W>,
    durations: Rows<W>,
    monitors: Rows<W>,
}

impl<W: Write + Send> Tables<W> {
    pub(super) fn new(rows: impl Fn(&'static Table) -> Rows<W>) -> Tables<W> {
        Tables {
            methods: rows(&METHODS),
            contexts: rows(&CONTEXTS),
            values: rows(&VALUES),
            method_values: rows(&METHOD_VALUES),
            allocations: rows(&ALLOCATIONS),
            durations: rows(&DURATIONS),
            monitors: rows(&MONITORS),
        }
    }

    /// Ends the files. How many rows of values they have.
    pub(super) fn finish<F: Folder<File = W>>(self, files: &mut Files<'_, F>) -> Result<u64, Error> {
        let Tables { methods, contexts, values, method_values, allocations, durations, monitors } = self;
        for rows in [methods, contexts, method_values, allocations, durations, monitors] {
            rows.finish(files)?;
        }
        values.finish(files)
    }
}

/// Adds what a process has to all tables but that of the processes.
pub(super) fn rows<F: Folder>(
    process: &Process,
    input: &Input,
    known: &mut Known,
    tables: &mut Tables<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let Session { model, profiles, .. } = &process.session;
    profiles.iter().for_each(|file| known.id_maps(file, profiles));
    let methods = known.of_contexts(model, profiles);
    contexts(process, &methods, known, &mut tables.contexts, files)?;
    let values = Values { process, input, methods: &methods };
    let figures = process.figures()?;
    values.rows(&figures, &mut tables.values, files)?;
    sums::rows(process, input, &methods, &figures, &mut tables.method_values, files)?;
    allocations(profiles, input, known, &mut tables.allocations, files)?;
    durations::rows(profiles, input, known, &mut tables.durations, files)?;
    profiles.iter().try_for_each(|file| monitors(file, input, &mut tables.monitors, files))
}

fn contexts<F: Folder>(
    process: &Process,
    methods: &OfContexts,
    known: &mut Known,
    rows: &mut Rows<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let (model, keys) = (&process.session.model, &process.contexts);
    let nodes = model.nodes();
    let mut depths = vec![0u32; nodes.len()];
    if known.contexts.is_empty() {
        known.contexts.reserve(nodes.len());
    }
    // Those that no process before had.
    let mut new = Vec::new();
    for (i, node) in nodes.iter().enumerate().skip(1) {
        depths[i] = depths[node.parent.0 as usize] + u32::from(is_context(node.kind));
        if is_context(node.kind) && known.contexts.insert(keys[i][0], ()).is_none() {
            new.push(i);
        }
    }
    let at = |name: &str| CONTEXTS.position(name).expect("a column of the table");
    let names: Vec<u32> = methods.keys.iter().map(|&key| rows.batch.key(key)).collect();
    let mut left = &new[..];
    while !left.is_empty() {
        rows.batch.expect(left.len().min(rows.room()));
        let (some, others) = left.split_at(left.len().min(BLOCK).min(rows.room()));
        left = others;
        let ids = || some.iter().copied();
        rows.push_block(some.len(), files, |block| {
            block.keys(at("context"), ids().map(|i| Some(keys[i][0].0)));
            let stable = |i: usize| Some(keys[i][1]).filter(|stable| *stable != keys[i][0]);
            block.keys(at("stable"), ids().map(|i| stable(i).map(|key| key.0)));
            block.keys(at("parent"), ids().map(|i| Some(keys[nodes[i].parent.0 as usize][0].0)));
            let through = |i: usize| process.through[i].map(|through| keys[through.0 as usize][0].0);
            block.keys(at("through"), ids().map(through));
            block.known(at("method"), ids().map(|i| Some(names[methods.of_node[i] as usize - 1])));
            block.counts(at("depth"), ids().map(|i| u64::from(depths[i])));
            Ok(())
        })?;
    }
    Ok(())
}

/// A model's rows of values.
struct Values<'a> {
    process: &'a Process,
    input: &'a Input,
    methods: &'a OfContexts,
}

impl Values<'_> {
    fn rows<F: Folder>(
        &self,
        figures: &[Figure],
        rows: &mut Rows<F::File>,
        files: &mut Files<'_, F>,
    ) -> Result<(), Error> {
        let model = &self.process.session.model;
        let has_times = model.resource("wall-raw").is_some() || is_sampled(model);
        let threads = Threads::new(&self.process.session.model);
        let names = Names {
            process: rows.batch.key(ContextKey(self.input.key)),
            threads: threads.names.iter().map(|name| rows.batch.text(name)).collect(),
            methods: self.methods.keys.iter().map(|&key| rows.batch.key(key)).collect(),
        };
        let count = self.process.session.model.nodes().len();
        let mut from = 1;
        while from < count {
            rows.batch.expect((count - from).min(rows.room()));
            let nodes = from..count.min(from + BLOCK.min(rows.room()));
            from = nodes.end;
            rows.push_block(nodes.len(), files, |block| {
                self.block(block, nodes, &threads, &names, figures, has_times)
            })?;
        }
        Ok(())
    }

    /// Fills the rows of some nodes, column by column.
    fn block(
        &self,
        block: &mut Block<'_>,
        nodes: Range<usize>,
        threads: &Threads<'_>,
        names: &Names,
        figures: &[Figure],
        has_times: bool,
    ) -> Result<(), Error> {
        let Process { session, contexts, through, cum } = self.process;
        let (model, width) = (&session.model, session.model.resources().len());
        let at = |name: &str| VALUES.position(name).expect("a column of the table");
        let ids = || nodes.clone();
        let number = |of: u32, all: &[u32]| (of as usize).checked_sub(1).map(|at| all[at]);
        let methods = &self.methods.of_node;
        block.all_known(at("process"), names.process);
        block.known(at("thread"), ids().map(|i| number(threads.of_node[i], &names.threads)));
        block.keys(at("context"), ids().map(|i| Some(contexts[i][0].0)));
        block.known(at("method"), ids().map(|i| number(methods[i], &names.methods)));
        block.flags(at("nested"), ids().map(|i| methods[i] != 0 && through[i].is_some()));
        block.counts(at("calls"), ids().map(|i| model.nodes()[i].n));
        let of = |i: usize| session.contexts.get(i).copied().unwrap_or_default();
        for (name, end) in ENDS {
            block.counts(at(name), ids().map(|i| end(&of(i))));
        }
        let mut wrong = None;
        let mut whole = |value: f64| {
            let whole = whole(value);
            wrong = wrong.or(Some(value).filter(|_| whole.is_none()));
            whole
        };
        if has_times {
            // As in the report `stats`: of the calls of a head only their sum is known.
            let times = |i: usize| Some(of(i).times).filter(|times| times.calls > 0);
            let single = |i: usize| times(i).filter(|times| times.timed > 0 && times.min.is_finite());
            block.ints(at("timed"), ids().map(|i| times(i).map(|of| count(of.timed))));
            block.ints(at("min_ns"), ids().map(|i| whole(single(i)?.min)));
            block.ints(at("max_ns"), ids().map(|i| whole(single(i)?.max)));
            block.ints(at("open_ns"), ids().map(|i| whole(times(i)?.open_ns)));
            block.ints(at("closed_ns"), ids().map(|i| whole(times(i)?.closed_ns)));
            block.reals(at("sum_squares"), ids().map(|i| times(i).map(|of| of.sum_squares)));
        }
        let base = |i: usize| model.base(NodeId(i as u32));
        for &(r, column, is_total) in figures {
            let value = |i: usize| if is_total { cum[i * width + r] } else { base(i)[r] };
            if accompanies(&model.resources()[r]) {
                block.reals(column, ids().map(|i| Some(value(i))));
            } else {
                block.ints(column, ids().map(|i| whole(value(i))));
            }
        }
        match wrong {
            None => Ok(()),
            Some(value) => Err(self.input.cannot_hold(value)),
        }
    }
}

/// Numbers of the texts and keys of a process in the columns of a table.
struct Names {
    process: u32,
    threads: Vec<u32>,
    methods: Vec<u32>,
}

/// The threads, or pools, of a model.
struct Threads<'a> {
    names: Vec<&'a str>,
    /// By node: which of them, from 1; 0: it is in none.
    of_node: Vec<u32>,
}

impl<'a> Threads<'a> {
    fn new(model: &'a Arcflow) -> Threads<'a> {
        let mut threads = Threads { names: Vec::new(), of_node: vec![0; model.nodes().len()] };
        for (i, node) in model.nodes().iter().enumerate().skip(1) {
            threads.of_node[i] = if node.kind == Kind::Thread {
                threads.names.push(model.name(node.consumer));
                threads.names.len() as u32
            } else {
                threads.of_node[node.parent.0 as usize]
            };
        }
        threads
    }
}

/// Nodes whose rows are filled at a time: what is known of them fits into the cache.
const BLOCK: usize = 1 << 10;

fn allocations<F: Folder>(
    profiles: &[ProfileFile],
    input: &Input,
    known: &mut Known,
    rows: &mut Rows<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    type Named<'a> = Box<dyn Fn(u32, u32) -> String + 'a>;
    let named: Vec<[Named<'_>; 2]> = profiles
        .iter()
        .map(|file| -> [Named<'_>; 2] {
            let names = &file.names;
            [Box::new(|copy, id| names.method(copy, id)), Box::new(|copy, number| names.class(copy, number))]
        })
        .collect();
    let mut processes = Vec::with_capacity(profiles.len());
    for (file, [methods, classes]) in profiles.iter().zip(&named) {
        let (profile, biographies) = (&file.profile, file.lifetimes()?);
        processes.push(heap::Process { profile, biographies, methods, classes, threads: &|_, _| true });
    }
    let table = table(&processes, By::Site, &Filter::default());
    for (of, figures) in &table.rows {
        let method = of.methods.first().map(|name| known.method(Kind::Method, name, profiles).key);
        let row = [
            Cell::Key(input.key),
            (&of.class).into(),
            method.into(),
            figures.objects.into(),
            table.has_bytes.then_some(figures.bytes).into(),
            table.is_followed.then_some(figures.live).into(),
            table.is_followed.then_some(figures.live_bytes).into(),
        ];
        rows.push(&row, files)?;
    }
    Ok(())
}

fn monitors<F: Folder>(
    file: &ProfileFile,
    input: &Input,
    rows: &mut Rows<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let mut monitors: Vec<_> = file.waits().iter().flat_map(|waits| &waits.monitors).collect();
    monitors.sort_by_key(|(monitor, _)| **monitor);
    for (monitor, of) in monitors {
        let waits::Both { contended, waiting } = of.all;
        let class = file.class(monitor.copy, monitor.class);
        let number = Some(u64::from(monitor.number)).filter(|_| ![0, OTHERS].contains(&monitor.number));
        let row = [
            Cell::Key(input.key),
            (&class).into(),
            number.into(),
            contended.times.into(),
            contended.ns.into(),
            contended.max.into(),
            contended.open.into(),
            waiting.times.into(),
            waiting.ns.into(),
            waiting.max.into(),
            waiting.open.into(),
            waiting.timed_out.into(),
        ];
        rows.push(&row, files)?;
    }
    Ok(())
}

/// What all are, if they are the same.
fn same<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Adds the row of the process itself; of several that are one, what all of them have in common.
pub(super) fn process_row<F: Folder>(
    session: &Session,
    input: &Input,
    rows: &mut Rows<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let profiles = &session.profiles;
    let counts = counts::gather(session, &counts::Request::default());
    let sum = counts.sum();
    let program = same(profiles.iter().map(ProfileFile::program));
    let program = program.or_else(|| input.labels.get(SERVICE).cloned()).unwrap_or_default();
    let copies = profiles.iter().rev().flat_map(|file| file.profile.copies.values().rev());
    let properties: BTreeMap<_, _> = copies.flat_map(|copy| &copy.properties).collect();
    let (labels_json, properties_json) = (json!(input.labels).to_string(), json!(properties).to_string());
    let (correction, reason) = match &session.model.correction {
        Correction::Applied => ("applied", None),
        Correction::None => ("none", None),
        Correction::Refused(refusal) => (refusal.cause, Some(&refusal.reason)),
    };
    let all = |of: &dyn Fn(&ProfileFile) -> u64| profiles.iter().map(of).fold(0, u64::saturating_add);
    let threads = all(&|file| {
        let single = file.profile.threads.iter().filter(|thread| thread.kind == ThreadKind::Thread);
        (single.count() as u64).saturating_add(file.ended_threads())
    });
    let property = |key: &str| same(profiles.iter().map(|file| file.property(key)));
    let of_properties = ["command", "host", "java.version", "record", "timing", "clock"].map(property);
    let [command, host, java_version, record, timing, clock] = of_properties.map(Option::flatten);
    let is_live = profiles.iter().any(|file| file.is_live);
    let is_whole =
        profiles.iter().all(|file| !Party { profile: &file.profile, source: file.source() }.is_incomplete());
    let calibration = same(profiles.iter().map(|file| file.profile.calibration())).flatten();
    let is_known = *correction == *"applied" || is_sampled(&session.model);
    let probes = is_known.then_some(session.overhead.round() as u64);
    let event = event(&session.model).map(|(_, event)| event);
    let row = [
        Cell::Key(input.key),
        input.labels.get(SERVICE).unwrap_or(&program).into(),
        input.labels.get(BUILD).into(),
        (&labels_json).into(),
        (&program).into(),
        command.into(),
        host.into(),
        same(profiles.iter().map(|file| file.profile.pid)).unwrap_or(0).into(),
        profiles.iter().map(|file| file.profile.start_ms).min().unwrap_or(0).into(),
        java_version.into(),
        record.into(),
        timing.into(),
        clock.into(),
        is_live.into(),
        is_whole.into(),
        threads.into(),
        all(&ProfileFile::dropped).into(),
        all(&|file| file.profile.in_flight() as u64).into(),
        sum.entries.into(),
        sum.closes.exits.into(),
        sum.closes.unwinds.into(),
        sum.closes.aborted.into(),
        sum.closes.unclosed.into(),
        sum.unmatched.into(),
        sum.open.into(),
        (!is_live).then_some(counts.balance.holds).into(),
        correction.into(),
        reason.into(),
        probes.into(),
        calibration.map_or(Cell::Null, |of| Cell::Real(of.inner)),
        calibration.map_or(Cell::Null, |of| Cell::Real(of.outer)),
        (&properties_json).into(),
        event.map(|event| &event.name).into(),
        event.map(|event| &event.unit).filter(|unit| !unit.is_empty()).into(),
    ];
    rows.push(&row, files)
}
