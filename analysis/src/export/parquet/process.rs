//! The rows of one process: everything that its profile knows by itself.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::batch::Cell;
use super::inputs::{BUILD, Input, SERVICE};
use super::known::{Known, is_context};
use super::schema::{ALLOCATIONS, CONTEXTS, METHODS, MONITORS, Table, VALUES};
use super::{Files, Folder, Rows};
use crate::context_key::ContextKey;
use crate::correction::Correction;
use crate::heap::table::{By, Filter, table};
use crate::load::{CallTimes, ContextCalls};
use crate::merge::Party;
use crate::model::{Arcflow, HashMap, Kind, NodeId};
use crate::report::counts;
use crate::session::{Error, ProfileFile, Session};
use crate::uncertainty::{accompanies, companions};
use crate::waits::OTHERS;
use crate::{heap, waits};
use instrument_trace::ThreadKind;

/// The tables of a partition that single processes fill.
pub(super) struct Tables<W: Write + Send> {
    pub(super) methods: Rows<W>,
    contexts: Rows<W>,
    values: Rows<W>,
    allocations: Rows<W>,
    monitors: Rows<W>,
}

impl<W: Write + Send> Tables<W> {
    pub(super) fn new(rows: impl Fn(&'static Table) -> Rows<W>) -> Tables<W> {
        Tables {
            methods: rows(&METHODS),
            contexts: rows(&CONTEXTS),
            values: rows(&VALUES),
            allocations: rows(&ALLOCATIONS),
            monitors: rows(&MONITORS),
        }
    }

    /// Ends the files. How many rows of values they have.
    pub(super) fn finish<F: Folder<File = W>>(self, files: &mut Files<'_, F>) -> Result<u64, Error> {
        let Tables { methods, contexts, values, allocations, monitors } = self;
        for rows in [methods, contexts, allocations, monitors] {
            rows.finish(files)?;
        }
        values.finish(files)
    }
}

/// Adds what a session of the profiles of a process has to all tables but that of the processes.
pub(super) fn rows<F: Folder>(
    session: &Session,
    input: &Input,
    known: &mut Known,
    tables: &mut Tables<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let Session { model, profiles, .. } = session;
    profiles.iter().for_each(|file| known.id_maps(file, profiles));
    let keys = Keys {
        contexts: ContextKey::exact_of_model(model),
        through: through(model),
        methods: known.keys(model, profiles),
    };
    contexts(model, &keys, known, &mut tables.contexts, files)?;
    Values { session, input, keys: &keys }.rows(&mut tables.values, files)?;
    allocations(profiles, input, known, &mut tables.allocations, files)?;
    profiles.iter().try_for_each(|file| monitors(file, input, &mut tables.monitors, files))
}

/// What a model's nodes are called by.
struct Keys {
    /// By exact names and by stable ones.
    contexts: Vec<[ContextKey; 2]>,
    through: Vec<Option<NodeId>>,
    methods: Vec<Option<ContextKey>>,
}

/// By node: of a context within one of the same consumer, the context that the innermost such one called on the way to it.
fn through(model: &Arcflow) -> Vec<Option<NodeId>> {
    let children = model.children();
    let mut through = vec![None; model.nodes().len()];
    // The innermost open context of each consumer, by its place on the path.
    let mut open: HashMap<_, usize> = HashMap::default();
    let mut path = vec![(Arcflow::ROOT, 0, None)];
    while let Some((id, next, before)) = path.last_mut() {
        if let Some(&child) = children.of(*id).get(*next) {
            *next += 1;
            let node = model.node(child);
            let before = open.insert((node.kind, node.consumer), path.len());
            through[child.0 as usize] = before.map(|place| path.get(place + 1).map_or(child, |of| of.0));
            path.push((child, 0, before));
        } else {
            let (node, before) = (model.node(*id), *before);
            let key = (node.kind, node.consumer);
            match before {
                Some(place) => open.insert(key, place),
                None => open.remove(&key),
            };
            path.pop();
        }
    }
    through
}

fn contexts<F: Folder>(
    model: &Arcflow,
    keys: &Keys,
    known: &mut Known,
    rows: &mut Rows<F::File>,
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let mut depths = vec![0u64; model.nodes().len()];
    for (i, node) in model.nodes().iter().enumerate().skip(1) {
        let parent = node.parent.0 as usize;
        depths[i] = depths[parent] + u64::from(is_context(node.kind));
        let [key, stable] = keys.contexts[i];
        if !is_context(node.kind) || known.contexts.insert(key, ()).is_some() {
            continue;
        }
        let row = [
            key.into(),
            Some(stable).filter(|stable| *stable != key).into(),
            keys.contexts[parent][0].into(),
            keys.through[i].map(|through| keys.contexts[through.0 as usize][0]).into(),
            keys.methods[i].into(),
            depths[i].into(),
        ];
        rows.push(&row, files)?;
    }
    Ok(())
}

/// A model's rows of values.
struct Values<'a> {
    session: &'a Session,
    input: &'a Input,
    keys: &'a Keys,
}

/// Where a figure of the model goes: index of its resource; column; whether callees are included.
type Figure = (usize, usize, bool);

impl Values<'_> {
    /// The columns that the model has figures for.
    ///
    /// # Errors
    /// A resource that the schema does not know.
    fn figures(&self) -> Result<Vec<Figure>, Error> {
        let model = &self.session.model;
        let column = |name: String| {
            let unknown =
                || Error::Request(format!("--format parquet has no column for the resource {name}"));
            VALUES.position(&name).ok_or_else(unknown)
        };
        let mut figures = Vec::new();
        for (r, resource) in model.resources().iter().enumerate() {
            // Both are told by how calls ended.
            if !accompanies(resource) && resource.name != "unwinds" {
                let name = resource.name.replace('-', "_");
                figures.push((r, column(name.clone())?, false));
                figures.push((r, column(format!("{name}_total"))?, true));
            }
        }
        for (whole, name) in [("wall", "wall"), ("wall-raw", "wall"), ("cpu", "cpu")] {
            let kinds = ["noise", "noise_total", "variance", "variance_total"];
            for (i, (resource, kind)) in companions(whole, "ns").into_iter().zip(kinds).enumerate() {
                if let Some(r) = model.resource(&resource.name) {
                    figures.push((r, column(format!("{name}_{kind}"))?, i % 2 == 1));
                }
            }
        }
        Ok(figures)
    }

    fn rows<F: Folder>(&self, rows: &mut Rows<F::File>, files: &mut Files<'_, F>) -> Result<(), Error> {
        let (Session { model, contexts, .. }, keys) = (self.session, self.keys);
        let (cum, width, figures) = (model.cum(), model.resources().len(), self.figures()?);
        let at = |name: &str| VALUES.position(name).expect("a column of the table");
        let first = ["process", "thread", "context", "method", "nested", "calls"].map(at);
        let counts = ["exits", "unwinds", "aborted", "unclosed", "unmatched", "open"].map(at);
        let times = ["timed", "min_ns", "max_ns", "open_ns", "closed_ns", "sum_squares"].map(at);
        let has_times = model.resource("wall-raw").is_some();
        let mut threads: Vec<Option<&str>> = vec![None; model.nodes().len()];
        let mut row = Vec::new();
        for (i, node) in model.nodes().iter().enumerate().skip(1) {
            let thread = || Some(model.name(node.consumer));
            threads[i] = if node.kind == Kind::Thread { thread() } else { threads[node.parent.0 as usize] };
            row.clear();
            row.extend(first.into_iter().zip([
                Cell::Key(self.input.key),
                threads[i].into(),
                keys.contexts[i][0].into(),
                keys.methods[i].into(),
                (is_context(node.kind) && keys.through[i].is_some()).into(),
                node.n.into(),
            ]));
            let ContextCalls { counts: of, times: calls } = contexts.get(i).copied().unwrap_or_default();
            let closes = of.closes;
            let ends = [closes.exits, closes.unwinds, closes.aborted, closes.unclosed, of.unmatched, of.open];
            row.extend(counts.into_iter().zip(ends.map(Cell::from)));
            if calls.calls > 0 && has_times {
                row.extend(times.into_iter().zip(self.calls(&calls)?));
            }
            for &(r, column, is_total) in &figures {
                let value = if is_total { cum[i * width + r] } else { model.base(NodeId(i as u32))[r] };
                let is_whole = !accompanies(&model.resources()[r]);
                row.push((column, if is_whole { self.whole(value)? } else { Cell::Real(value) }));
            }
            rows.push_some(row.iter().copied(), files)?;
        }
        Ok(())
    }

    fn calls(&self, of: &CallTimes) -> Result<[Cell<'static>; 6], Error> {
        // As in the report `stats`: of the calls of a head only their sum is known.
        let is_known = of.timed > 0 && of.min.is_finite();
        let single = |value: f64| if is_known { self.whole(value) } else { Ok(Cell::Null) };
        Ok([
            of.timed.into(),
            single(of.min)?,
            single(of.max)?,
            self.whole(of.open_ns)?,
            self.whole(of.closed_ns)?,
            Cell::Real(of.sum_squares),
        ])
    }

    /// A figure as the whole number that it is.
    fn whole(&self, value: f64) -> Result<Cell<'static>, Error> {
        if value.fract() == 0.0 && value.abs() < 9.0e18 {
            return Ok(Cell::Int(value as i64));
        }
        let name = self.input.path.display();
        Err(Error::Request(format!(
            "{name}: a figure is {value}, which --format parquet cannot hold; please report it"
        )))
    }
}

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
    let probes = (*correction == *"applied").then_some(session.overhead.round() as u64);
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
    ];
    rows.push(&row, files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_within_one_of_its_method_says_which_way_led_there() {
        let mut model = Arcflow::new(Vec::new());
        // a > b > a > a > c > b, and a > c beside it.
        for path in ["a b a a c b", "a c"] {
            let mut at = Arcflow::ROOT;
            for name in path.split(' ') {
                let consumer = model.consumer(name);
                at = model.child(at, Kind::Method, consumer);
            }
        }
        let names: Vec<_> = model.nodes().iter().map(|node| model.name(node.consumer)).collect();
        assert_eq!(names[1..], ["a", "b", "a", "a", "c", "b", "c"]);
        let through: Vec<_> = through(&model).iter().map(|id| id.map(|id| id.0)).collect();
        // The second a came by the first b; the third was called by the second; the last b came by the second a.
        assert_eq!(through, [None, None, None, Some(2), Some(4), None, Some(3), None]);
    }
}
