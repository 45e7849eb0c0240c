//! Sums as a profile: a tree of contexts for the threads of each name, as the recorder leaves it of threads that ended.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Seek, Write};

use instrument_names::id_map::{IdMap, MethodInfo, gz};
use instrument_names::mutf8;
use instrument_names::signature::parts;
use instrument_trace::{
    About, Allocation, Closes, Link, LinkKind, Method as Counts, NO_MIN, Sum, ThreadSamples, Tree,
    TreeAllocation, TreeConsumer, TreeNode, Writer,
};
use sha2::{Digest, Sha256};

use super::Summed;
use super::processes::Processes;
use super::sums::{Figures, Key, Method, NONE, Sums, Thread};
use crate::export::parquet::labels::{self, Labels};
use crate::hash::HashMap;
use crate::load::place::{LinkName, link_name};
use crate::load::samples::{KERNEL, UNKNOWN};
use crate::model::Kind;
use crate::session::{Error, Message};

/// Bytes that a profile has for the name of threads.
const NAME_ROOM: usize = 96;
/// In percent of the time: less of it in other contexts is not spoken of.
const NOTICED: f64 = 0.5;
/// Of what is made in a context the dataset has the number, and the classes by method only.
const CLASS: (u32, &str) = (1, "(class not known)");

/// Which times a profile has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    /// None: calls were counted.
    None,
    /// As measured, the cost of recording included.
    Measured,
    /// Without the cost of recording.
    Corrected,
    /// Samples of CPU time.
    Samples,
}

/// Writes a profile.
pub(super) fn write<W: Write + Seek>(processes: &Processes, sums: &Sums, out: W) -> Result<Summed, Error> {
    let (times, event) = (times(sums)?, event(processes)?);
    let mut summed = Summed { processes: processes.all.len() as u64, ..Summed::default() };
    summed.messages = messages(processes, sums, times);
    let orders = sums.threads.values().map(|thread| order(sums, thread)).collect::<Result<Vec<_>, _>>()?;
    let (map, ids) = ids(sums)?;
    let links = Links::new(sums, &orders);
    let output = |source| Error::Io { what: "writing the profile".into(), source };
    let mut writer = Writer::new(out).map_err(output)?;
    let mut properties = properties(processes, sums, times);
    properties.extend(links.boundaries());
    properties.extend(event.map(|event| ("samples.event".to_owned(), event.to_owned())));
    let mut text = Vec::new();
    map.write_all(&mut text);
    let mut write_head = || -> io::Result<()> {
        writer.properties(&properties)?;
        writer.id_map(&gz::compress(&text))?;
        writer.class_names(&[CLASS])
    };
    write_head().map_err(output)?;
    for ((name, thread), order) in sums.threads.iter().zip(&orders) {
        summed.contexts += order.len() as u64;
        summed.calls += thread.contexts.values().map(|of| of.calls).sum::<u64>();
        let end = (0..=NAME_ROOM.min(name.len())).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
        let name = &name[..end];
        let tree = tree(sums, thread, order, &ids, &links, times)?;
        if times == Times::None {
            let (methods, made) = counts(thread, order, &tree);
            writer.sum(name, thread.threads, Sum::Counts(&methods, &made)).map_err(output)?;
        } else {
            let made = made(thread, order);
            let ordinal = writer.sum(name, thread.threads, Sum::Tree(&tree, &made)).map_err(output)?;
            if times == Times::Samples {
                writer.samples(ordinal, &samples(sums, thread)).map_err(output)?;
            }
        }
    }
    writer.links(&links.all).map_err(output)?;
    let all = || processes.all.values();
    let keys = processes.all.keys().fold(Sha256::new(), |hash, key| hash.chain_update(key)).finalize();
    let about = About {
        // Never 0, which says that there is none.
        nonce: u64::from_le_bytes(std::array::from_fn(|at| keys[at])) | 1,
        start_ms: all().map(|process| process.start_ms).min().unwrap_or(0),
        dropped: all().fold(0, |sum, process| sum.saturating_add(process.dropped)),
        has_ended: all().all(|process| process.is_whole && !process.is_live),
    };
    writer.finish(&about).map_err(output)?;
    Ok(summed)
}

fn times(sums: &Sums) -> Result<Times, Error> {
    let covered = &sums.covered;
    if covered.samples > 0 && covered.samples < covered.rows {
        return Err(Error::Request(
            "the times of some of the processes are samples and those of others are not, which makes no sum: \
             choose some that were recorded alike, by service, build or days"
                .into(),
        ));
    }
    match covered.raw {
        _ if covered.samples > 0 => Ok(Times::Samples),
        0 => Ok(Times::None),
        raw if raw < covered.rows => Err(Error::Request(
            "some of the processes have times and others only counts, which makes no sum: \
             choose some that were recorded alike, by service, build or days"
                .into(),
        )),
        _ if covered.wall == covered.rows => Ok(Times::Corrected),
        _ => Ok(Times::Measured),
    }
}

/// What was sampled in all processes, if it is not CPU time.
fn event(processes: &Processes) -> Result<Option<&str>, Error> {
    let mut events = processes.all.values().map(|process| process.event.as_deref());
    let first = events.next().flatten();
    match events.find(|event| *event != first) {
        None => Ok(first),
        Some(other) => {
            let [first, other] = [first, other].map(|event| event.unwrap_or("CPU time"));
            Err(Error::Request(format!(
                "some of the processes have samples of {first} and others of {other}, which makes no sum: \
                 choose some that were recorded alike, by service, build or days"
            )))
        }
    }
}

fn messages(processes: &Processes, sums: &Sums, times: Times) -> Vec<Message> {
    let mut messages = Vec::new();
    if times == Times::Measured {
        messages.push(Message::warning(
            "not of all processes it is known what recording cost: times are as measured, the cost of recording included"
                .into(),
        ));
    }
    let left = processes.all.values().filter(|process| !process.is_whole || process.is_live).count();
    if left > 0 {
        messages.push(Message::warning(format!(
            "{left} of {} processes are not whole, or were still running when they were exported",
            processes.all.len()
        )));
    }
    let moved = moved_percent(sums);
    if times == Times::Samples && moved >= NOTICED {
        messages.push(Message::warning(format!(
            "samples of the processes stand for different times: {moved:.1} % of the time is in the wrong contexts of this profile; \
             its sum is right, and fleet xtree and fleet xprof show the right contexts"
        )));
    }
    if sums.covered.left_out > 0 {
        messages.push(Message::note(
            "waits, how long single calls took, and objects that were followed, are not in the profile; the dataset has them".into(),
        ));
    }
    let long = sums.threads.keys().filter(|name| name.len() > NAME_ROOM).count();
    if long > 0 {
        messages.push(Message::note(format!("{long} names of threads are cut to {NAME_ROOM} bytes")));
    }
    messages
}

fn properties(processes: &Processes, sums: &Sums, times: Times) -> BTreeMap<String, String> {
    let same = |of: &dyn Fn(&super::processes::Process) -> Option<String>| {
        let mut found: BTreeSet<_> = processes.all.values().map(of).collect();
        if found.len() == 1 { found.pop_first().flatten() } else { None }
    };
    let service = same(&|process| Some(process.service.clone()));
    let program = same(&|process| Some(process.program.clone()));
    let build = same(&|process| process.build.clone());
    let of_labels: Labels = [("service", &service), ("build", &build)]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value.clone()?)))
        .collect();
    let is_timed = times != Times::None;
    let mut all = vec![
        ("merged.processes", Some(processes.all.len().to_string())),
        ("name", program.or(service).or_else(|| Some("fleet".into()))),
        ("record", Some(if is_timed { "tree" } else { "counts" }.to_owned())),
        ("java.version", same(&|process| process.java_version.clone())),
        ("host", same(&|process| process.host.clone())),
        ("labels", (!of_labels.is_empty()).then(|| labels::text(&of_labels))),
        (
            "timing",
            is_timed.then(|| {
                let timing = match times {
                    Times::Samples => "samples",
                    _ if sums.covered.estimated > 0 => "auto",
                    _ => "all",
                };
                timing.to_owned()
            }),
        ),
    ];
    if times == Times::Corrected {
        // Nothing is left to be taken out.
        all.extend(["inner", "outer", "cpu.inner", "cpu.outer"].map(|part| (part, Some("0".to_owned()))));
    }
    let is_cost = |key: &str| ["inner", "outer", "cpu.inner", "cpu.outer"].contains(&key);
    let key = |key: &str| if is_cost(key) { format!("calibration.{key}") } else { key.to_owned() };
    all.into_iter().filter_map(|(name, value)| Some((key(name), value?))).collect()
}

/// The contexts of a thread, callers before what they call.
fn order(sums: &Sums, thread: &Thread) -> Result<Vec<Key>, Error> {
    let damaged =
        |why: &str| Error::Request(format!("the dataset is damaged: {why}; export its profiles again"));
    let mut found = BTreeSet::new();
    for &first in thread.contexts.keys().filter(|key| row_of_samples(sums, key).is_none()) {
        let mut at = first;
        while at != NONE {
            let context =
                sums.contexts.get(&at).ok_or_else(|| damaged("a context of its values is in no table"))?;
            let above = if context.parent == NONE {
                0
            } else {
                sums.contexts.get(&context.parent).map_or(u64::MAX, |of| of.depth)
            };
            if context.depth <= above && context.parent != NONE {
                return Err(damaged("a context is not below its caller"));
            }
            if !found.insert((context.depth, at)) {
                break;
            }
            at = context.parent;
        }
    }
    Ok(found.into_iter().map(|(_, key)| key).collect())
}

/// The name of a row that samples have beside those of contexts.
fn row_of_samples<'a>(sums: &'a Sums, context: &Key) -> Option<&'a str> {
    let method = sums.methods.get(&sums.contexts.get(context)?.method)?;
    Some(&*method.name).filter(|name| is_row_of_samples(method.kind, name))
}

fn is_row_of_samples(kind: Kind, name: &str) -> bool {
    kind == Kind::Link && [KERNEL, UNKNOWN].contains(&name)
}

/// How much of the running time the profile has in other contexts than the dataset, in percent: in the profile each sample of a thread, or pool,
/// stands for the same time.
fn moved_percent(sums: &Sums) -> f64 {
    let (mut moved, mut all) = (0.0, 0.0);
    for thread in sums.threads.values() {
        let contexts = thread.contexts.iter().filter(|(key, _)| row_of_samples(sums, key) != Some(KERNEL));
        let rows: Vec<_> = std::iter::once(&thread.own).chain(contexts.map(|(_, figures)| figures)).collect();
        let running: f64 = rows.iter().map(|row| row.running as f64).sum();
        let met: f64 = rows.iter().map(|row| row.samples as f64).sum();
        if met > 0.0 {
            let off = |row: &&Figures| (row.running as f64 - row.samples as f64 * running / met).abs();
            // What one has too much another lacks.
            moved += rows.iter().map(off).sum::<f64>() / 2.0;
        }
        all += running;
    }
    if all > 0.0 { 100.0 * moved / all } else { 0.0 }
}

/// What the samples of the contexts of a thread stand for, and the other samples. The number of those in probes is that of their time.
fn samples(sums: &Sums, thread: &Thread) -> ThreadSamples {
    let mut of = ThreadSamples { in_no_call: thread.own.samples, ..ThreadSamples::default() };
    let (mut met, mut running, mut kernel) = (thread.own.samples, thread.own.running, 0u64);
    for (key, figures) in &thread.contexts {
        match row_of_samples(sums, key) {
            Some(KERNEL) => kernel = kernel.saturating_add(figures.running),
            row => {
                met = met.saturating_add(figures.samples);
                running = running.saturating_add(figures.running);
                of.unattributed += if row.is_some() { figures.samples } else { 0 };
            }
        }
    }
    of.cpu_ns = running.saturating_add(kernel).saturating_add(thread.own.probes);
    if met > 0 && running > 0 {
        let each = running as f64 / met as f64;
        of.in_probes = (thread.own.probes as f64 / each).round() as u64;
        (of.user_only, of.period_ns) = (kernel > 0, each.round() as u64);
    }
    of
}

/// Ids of all methods, called or not, and of what else has figures and is no link.
fn ids(sums: &Sums) -> Result<(IdMap, HashMap<Key, u32>), Error> {
    let is_named = |of: &Method| of.kind != Kind::Deeper && !is_row_of_samples(of.kind, &of.name);
    let mut by_name: Vec<_> = sums.methods.iter().filter(|(_, of)| is_named(of)).collect();
    by_name.sort_unstable_by(|a, b| (&a.1.name, a.1.kind, a.0).cmp(&(&b.1.name, b.1.kind, b.0)));
    // Methods without a name are called by their ids, which others must not have.
    let unnamed = by_name.iter().filter_map(|(_, method)| id_of(&method.name)).max().unwrap_or(0);
    let (mut map, mut ids) = (IdMap::starting_at(unnamed + 1), HashMap::default());
    for (key, method) in by_name {
        if let Some(id) = id_of(&method.name) {
            ids.insert(*key, id);
            continue;
        }
        // Readers take what begins with `#` for the number that they know.
        let mark = if method.name.starts_with('#') { "unnamed " } else { "" };
        let text = format!("{mark}{}", method.name);
        let (class, name, descriptor) = parts(&text);
        let source = method.file.as_deref().map(mutf8::unescape);
        let class = map.begin_class(&mutf8::unescape(&class.replace('.', "/")), source.as_deref());
        let (name, descriptor) = (mutf8::unescape(name), mutf8::unescape(descriptor));
        let line = u32::try_from(method.line).unwrap_or(0);
        let info = MethodInfo { name: &name, descriptor: &descriptor, line, flags: 0, fingerprint: 0 };
        let id = class.and_then(|class| map.assign(class, &info));
        ids.insert(*key, id.map_err(|full| Error::Request(full.to_string()))?);
    }
    Ok((map, ids))
}

/// The id that a method without a name is called by: `#17`.
fn id_of(name: &str) -> Option<u32> {
    const LARGEST: u32 = 1 << 30;
    name.strip_prefix('#')?.parse().ok().filter(|id| (1..LARGEST).contains(id) && name == format!("#{id}"))
}

/// The links that stand for work on behalf of other contexts: readers make their names of what the links say.
struct Links<'a> {
    all: Vec<Link>,
    by_method: HashMap<Key, u32>,
    boundaries: Vec<(u32, &'a str)>,
}

impl<'a> Links<'a> {
    fn new(sums: &'a Sums, orders: &[Vec<Key>]) -> Links<'a> {
        // Any context of a method gives its name.
        let mut places: HashMap<&str, (u32, u32)> = HashMap::default();
        for (thread, order) in orders.iter().enumerate() {
            for (node, key) in order.iter().enumerate() {
                let method = sums.contexts.get(key).and_then(|context| sums.methods.get(&context.method));
                if let Some(method) = method.filter(|method| method.kind == Kind::Method) {
                    places.entry(&method.name).or_insert((thread as u32 + 1, node as u32 + 1));
                }
            }
        }
        let mut links = Links { all: Vec::new(), by_method: HashMap::default(), boundaries: Vec::new() };
        let mut named: Vec<_> = sums.methods.iter().filter(|(_, of)| of.kind == Kind::Link).collect();
        named.sort_unstable_by(|a, b| (&a.1.name, a.0).cmp(&(&b.1.name, b.0)));
        for (key, method) in named {
            let number = links.all.len() as u32 + 1;
            let (kind, (thread, node)) = match link_name(&method.name) {
                Some(LinkName::Kind(kind)) => (kind, (0, 0)),
                Some(LinkName::Of(kind, cause)) if places.contains_key(cause) => (kind, places[cause]),
                Some(LinkName::Boundary(name)) => {
                    links.boundaries.push((number, name));
                    (LinkKind::Boundary, (0, 0))
                }
                // It has its name as a method has.
                _ => continue,
            };
            links.all.push(Link { copy: 1, number, kind, thread, node, clock: 0 });
            links.by_method.insert(*key, number);
        }
        links
    }

    fn boundaries(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.boundaries.iter().map(|(number, name)| (format!("boundary.{number}"), (*name).to_owned()))
    }
}

fn tree(
    sums: &Sums,
    thread: &Thread,
    order: &[Key],
    ids: &HashMap<Key, u32>,
    links: &Links<'_>,
    times: Times,
) -> Result<Tree, Error> {
    let covered = &sums.covered;
    let sampled = covered.estimated > 0;
    let cpu = if times == Times::Corrected { covered.cpu } else { covered.cpu_raw };
    let has_samples = times == Times::Samples;
    let cpu = !sampled && !has_samples && cpu == covered.rows;
    let sampled = sampled && !has_samples;
    let numbers: HashMap<Key, u32> = order.iter().zip(1..).map(|(key, number)| (*key, number)).collect();
    let nodes = Vec::with_capacity(order.len());
    let mut tree = Tree { sampled, has_samples, cpu, nodes, ..Tree::default() };
    for key in order {
        let context = sums.contexts[key];
        let kind = sums.methods.get(&context.method).map(|method| method.kind);
        let consumer = match (kind, links.by_method.get(&context.method), ids.get(&context.method)) {
            (Some(Kind::Deeper), ..) => TreeConsumer::Deeper,
            (_, Some(&link), _) => TreeConsumer::Link(link),
            (_, None, Some(&id)) => TreeConsumer::Method(id),
            _ => {
                return Err(Error::Request(
                    "the dataset is damaged: the method of a context is in no table; export its profiles again".into(),
                ));
            }
        };
        let parent = numbers.get(&context.parent).copied().unwrap_or(0);
        let figures = thread.contexts.get(key).copied().unwrap_or_default();
        let mut node = node(TreeNode::new(consumer, parent), &figures, times);
        if sampled {
            (node.timed, node.variance) = (figures.timed, figures.variance_total);
        }
        if cpu {
            node.cpu_ns = if times == Times::Corrected { figures.cpu_total } else { figures.cpu_raw_total };
        }
        tree.nodes.push(node);
    }
    Ok(tree)
}

fn node(node: TreeNode, of: &Figures, times: Times) -> TreeNode {
    let total = match times {
        Times::None => 0,
        Times::Measured => of.raw_total,
        Times::Corrected => of.wall_total,
        // Of the calls that were timed.
        Times::Samples => of.closed_ns.saturating_add(of.open_ns),
    };
    let open_ns = of.open_ns.min(total);
    let ns = total - open_ns;
    let closes = Closes { exits: of.exits, unwinds: of.unwinds, aborted: of.aborted, unclosed: of.unclosed };
    // Times differ as much as before: what was taken out is taken out of each call alike.
    let ended = closes.total().max(1) as f64;
    let squares = |ns: u64| (ns as f64) * (ns as f64) / ended;
    let is_shifted = ns != of.closed_ns && of.sum_squares > 0.0;
    let shift = if is_shifted { squares(ns) - squares(of.closed_ns) } else { 0.0 };
    TreeNode {
        entries: of.calls,
        closes,
        unmatched: of.unmatched,
        open: of.open,
        ns,
        min: of.min.unwrap_or(NO_MIN),
        max: of.max,
        sum_squares: (of.sum_squares + shift).max(0.0),
        open_ns,
        bytecodes: of.bytecodes,
        timed: if times == Times::Samples { of.timed } else { 0 },
        samples: of.samples,
        ..node
    }
}

/// What was made in the contexts of a thread, and in none.
fn made(thread: &Thread, order: &[Key]) -> Vec<TreeAllocation> {
    let of_contexts = order.iter().zip(1..).filter_map(|(key, node)| Some((node, thread.contexts.get(key)?)));
    let all = [(0, &thread.own)].into_iter().chain(of_contexts).filter(|(_, of)| of.allocations > 0);
    all.map(|(node, of)| TreeAllocation { node, class: CLASS.0, count: of.allocations, bytes: of.bytes })
        .collect()
}

/// The same as counts by method: of such profiles each context is a method in its thread.
fn counts(thread: &Thread, order: &[Key], tree: &Tree) -> (BTreeMap<u32, Counts>, Vec<Allocation>) {
    let mut made = Vec::new();
    if thread.own.allocations > 0 {
        made.push(Allocation { method: None, class: CLASS.0, count: thread.own.allocations });
    }
    for (key, node) in order.iter().zip(&tree.nodes) {
        let count = thread.contexts.get(key).map_or(0, |of| of.allocations);
        if let (Some(id), true) = (node.consumer.method(), count > 0) {
            made.push(Allocation { method: Some(id), class: CLASS.0, count });
        }
    }
    (tree.methods(), made)
}
