//! Profiles to the model: virtual root, processes, threads, methods.
//!
//! | resource | unit | |
//! |---|---|---|
//! | `wall` | ns | thread time: a sum over threads, whatever they did in it; without the cost of probes; only if that is known ([`crate::correction`]) |
//! | `running`, `waiting` | ns | its two parts, where it is known when threads waited; see below. `running-raw`, `waiting-raw`: those of `wall-raw`, without a `wall` |
//! | `wall-raw` | ns | as measured |
//! | `running`, `samples`, `probes`, `waiting` | ns | instead of these where times are samples of CPU time: [`samples`] |
//! | `cpu` | ns | CPU time without the cost of probes, if it was recorded and that is known |
//! | `cpu-raw` | ns | CPU time as measured |
//! | `allocations`, `bytes` | | objects and arrays made, and their size if it was recorded |
//! | `bytecodes` | | instructions that ended calls executed, if that was counted |
//! | `live`, `live-bytes` | | objects that were there to the end, where objects were followed; then `allocations` and `bytes` are theirs if nothing was counted |
//! | `unwinds` | | calls that an exception left, or whose end was not seen |
//! | `contended`, `object-wait` | ns | waited to enter a monitor, and in `Object.wait`, where threads were recorded |
//!
//! `waiting` is the base of calls that may block their thread ([`Process::blocks`]), and what a context was `contended` or in
//! `object-wait` besides, as far as its `wall` goes: threads of which no method was recorded have none, and neither part. `running` is
//! the rest. It may hold waits that nobody recorded, such as those within a library. What a thread did in no recorded method
//! ([`Options::lifetimes`]) is in neither: whether it ran is not known.
//!
//! Profiles of counts have no contexts: their methods stand below their thread. Frames that were open count up to the last moment
//! at which they are known to have been so: the thread's last event if it ended; else the shutdown of the virtual machine; else
//! the last beat or the last event of the process.

mod call_times;
mod columns;
pub(crate) mod ends;
mod objects;
pub(crate) mod place;
mod running;
pub(crate) mod samples;
mod sums;
pub(crate) mod thread_rows;
mod times;
mod waiting;

use instrument_trace::{Calibration, Profile, Thread, ThreadKind, Tree, TreeNode};

use crate::calibration::{self, Calls};
use crate::correction;
use crate::disturbance;
use crate::hash::HashMap;
use crate::heap::object_lifetimes::ObjectLifetimes;
use crate::in_place;
use crate::model::{Arcflow, Consumer, Kind, NodeId};
use crate::waits::Waits;
pub use call_times::{CallTimes, ContextCalls};
use columns::{Columns, correction as correction_of, resources};
use ends::{End, ends};
use place::{Places, Placing, place};
use sums::Sums;
pub use thread_rows::pools;
use times::{Cost, CpuTimes, Times, TreeTimes, calls_of, cpu_times, times};

/// Name of a method by copy of the runtime and id.
pub type MethodNames<'a> = &'a (dyn Fn(u32, u32) -> String + 'a);

/// A profile, with what only the caller knows. The events of traces must have been replayed to trees.
pub struct Process<'a> {
    pub profile: &'a mut Profile,
    /// What the process is called.
    pub name: String,
    pub methods: MethodNames<'a>,
    /// The biographies of its objects, if there are any.
    pub biographies: Option<&'a ObjectLifetimes>,
    /// What its threads waited for, if that was recorded.
    pub waits: Option<&'a Waits>,
    /// Which ids, by copy, are of calls that may block their thread, if such calls were recorded.
    pub blocks: Option<&'a (dyn Fn(u32, u32) -> bool + 'a)>,
}

impl<'a> Process<'a> {
    /// A profile of which nothing is known but what the model is made of.
    pub fn new(profile: &'a mut Profile, name: String, methods: MethodNames<'a>) -> Process<'a> {
        Process { profile, name, methods, biographies: None, waits: None, blocks: None }
    }
}

/// What goes into the model, and how.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Started threads and tasks stand below the context that caused them.
    pub links: bool,
    /// What was served under different links, or by different threads, is not added up.
    pub apart: bool,
    /// Threads have the time in which they were in no recorded method as their base.
    pub lifetimes: bool,
    /// Each thread is a row of its own, those of pools as well.
    pub split_threads: bool,
    /// What is known of calls is kept for each context.
    pub contexts: bool,
    /// Only threads of these names, or of pools of these names.
    pub thread: Option<&'a dyn Fn(&str) -> bool>,
}

#[derive(Debug)]
pub struct Loaded {
    pub model: Arcflow,
    /// Times of single calls, by method.
    pub calls: std::collections::HashMap<String, CallTimes>,
    /// The calls of each context by index of the node, as far as there are any; empty unless [`Options::contexts`] asks for them.
    pub contexts: Vec<ContextCalls>,
    /// Calls of methods, timed and not, in contexts.
    pub recorded: Calls,
    /// What recording cost, in ns, as far as it was calibrated.
    pub overhead: f64,
    /// What does not fit, in words.
    pub remarks: Vec<String>,
    /// Times that were changed so that they fit each other, in words: nobody need do anything about it.
    pub adjusted: Option<String>,
    /// Where everything is, by process.
    pub(crate) places: Vec<Places>,
}

/// How far the clocks of wall and of CPU time may be apart, as a part of the time.
const CLOCKS_APART: f64 = 0.01;

/// Loads profiles into one model.
pub fn load(processes: &mut [Process<'_>], options: &Options<'_>) -> Loaded {
    for process in processes.iter_mut() {
        let ends = ends(process.profile);
        for (thread, end) in process.profile.threads.iter_mut().zip(&ends) {
            thread.measure_open(end.open);
        }
        running::silence(process.profile);
    }
    let correction = correction_of(processes);
    let (resources, columns) = resources(processes, &correction);
    let mut model = Arcflow::new(resources);
    model.correction = correction;
    let mut loaded = Loaded {
        model,
        calls: std::collections::HashMap::new(),
        contexts: Vec::new(),
        recorded: Calls::default(),
        overhead: 0.0,
        remarks: Vec::new(),
        adjusted: None,
        places: Vec::new(),
    };
    let mut sums = Sums::default();
    let mut calls = ByConsumer::default();
    for process in processes {
        let consumer = loaded.model.consumer(&process.name);
        let node = loaded.model.child(Arcflow::ROOT, Kind::Process, consumer);
        loaded.model.meet(node, 1);
        let calls = &mut calls;
        let disturbed =
            disturbance::share(process.profile.threads.iter().filter_map(|thread| thread.tree.as_ref()));
        Loading { loaded: &mut loaded, columns: &columns, options, sums: &mut sums, calls, disturbed }
            .process(process, node);
    }
    let model = &loaded.model;
    let calls = (0..).zip(calls.0).filter_map(|(number, times)| Some((Consumer(number), times?)));
    loaded.calls = calls.map(|(consumer, times)| (model.name(consumer).to_owned(), times)).collect();
    loaded.adjusted = sums.adjusted();
    loaded.remarks.extend(sums.circular());
    loaded
}

/// Adds what a context took itself, but for its CPU time; `is_wait`: whether it may block its thread, where calls are timed.
fn add_figures(columns: &Columns, base: &mut [f64], node: &TreeNode, of: &Times, is_wait: Option<bool>) {
    let mut add = |column: Option<usize>, value: f64| {
        if let Some(column) = column {
            base[column] += value;
        }
    };
    add(columns.wall, of.exact);
    add(columns.raw, of.raw);
    if let (Some((running, waiting)), Some(is_wait)) = (columns.parts, is_wait) {
        let time = if columns.wall.is_some() { of.exact } else { of.raw };
        add(Some(if is_wait { waiting } else { running }), time);
    }
    add(columns.bytecodes, node.bytecodes as f64);
    let unwinds = node.closes.total().saturating_sub(node.closes.exits);
    add(Some(columns.unwinds), unwinds as f64);
    if let Some((base, cum)) = columns.noise {
        add(Some(base), of.noise);
        add(Some(cum), of.cum_noise);
    }
    if let Some((base, cum)) = columns.variance {
        add(Some(base), of.variance);
        add(Some(cum), of.inclusive_variance - of.callees_variance);
    }
}

/// Calls by the number of their method.
#[derive(Default)]
struct ByConsumer(Vec<Option<CallTimes>>);

impl ByConsumer {
    fn of(&mut self, consumer: Consumer) -> &mut CallTimes {
        let number = consumer.0 as usize;
        if self.0.len() <= number {
            self.0.resize(number + 1, None);
        }
        self.0[number].get_or_insert_default()
    }
}

struct Loading<'a, 'b> {
    loaded: &'a mut Loaded,
    columns: &'a Columns,
    options: &'a Options<'b>,
    sums: &'a mut Sums,
    calls: &'a mut ByConsumer,
    /// Part of the process's measured time that other programs may have taken.
    disturbed: f64,
}

impl Loading<'_, '_> {
    fn process(&mut self, process: &mut Process<'_>, node: NodeId) {
        let profile = &*process.profile;
        let ends = ends(profile);
        let wanted = |name: &str| self.options.thread.is_none_or(|wants| wants(name));
        let names = thread_rows::rows(
            profile,
            process.methods,
            self.options.split_threads || self.options.apart,
            &wanted,
        );
        // Of the largest thread alone: others have mostly the same contexts.
        let trees = profile.threads.iter().filter_map(|thread| thread.tree.as_ref());
        self.loaded.model.reserve(trees.map(|tree| tree.nodes.len()).max().unwrap_or(0));
        let mut known = HashMap::default();
        let mut places = place(Placing {
            profile,
            model: &mut self.loaded.model,
            process: node,
            threads: &names,
            links: self.options.links,
            apart: self.options.apart,
            method: process.methods,
            known: &mut known,
        });
        if self.options.thread.is_some_and(|wants| !wants("")) {
            places.unknown = Arcflow::ROOT;
        }
        self.sums.circular += places.circular;
        let has_samples = samples::are_in(profile);
        if self.columns.samples.is_some() && !has_samples {
            let name = self.loaded.model.name(self.loaded.model.node(node).consumer);
            let text = "was recorded without samples: it has no part in running time and its bounds (<); what was timed is in wall or wall-raw";
            self.loaded.remarks.push(format!("{name} {text}"));
        }
        for (i, thread) in profile.threads.iter().enumerate().filter(|(i, _)| names[*i].is_some()) {
            let at = places.threads[i];
            self.loaded.model.meet(at, if let ThreadKind::Ended(count) = thread.kind { count } else { 1 });
            let contexts = match &thread.tree {
                Some(tree) => {
                    self.tree(profile, process.blocks, tree, &places, i, &ends[i]);
                    tree.nodes.iter().map(|node| node.samples).zip(places.nodes[i].iter().copied()).collect()
                }
                None => self.counts(thread, at, process.methods),
            };
            if let Some(columns) = self.columns.samples.filter(|_| has_samples) {
                let blocks = process.blocks.map(|blocks| move |id: u32| blocks(thread.copy, id));
                let blocks = blocks.as_ref().map(|blocks| blocks as &dyn Fn(u32) -> bool);
                let place = samples::Place { thread: at, contexts: &contexts, blocks };
                let probes = samples::add(&mut self.loaded.model, &columns, profile, thread, &place);
                self.loaded.overhead += probes;
            }
        }
        let threads = names.iter().zip(&places.threads);
        let threads: Vec<_> = threads.map(|(name, &at)| name.is_some().then_some(at)).collect();
        self.objects(process, node, &threads);
        self.waits(process, node, &threads);
        if self.options.apart {
            self.loaded.places.push(places);
        }
    }

    /// What is live of the objects of a process, below those of its threads that are wanted.
    fn objects(&mut self, process: &Process<'_>, node: NodeId, threads: &[Option<NodeId>]) {
        let profile = &*process.profile;
        if let (Some(biographies), Some((live, live_bytes))) = (process.biographies, self.columns.live) {
            let is_counted = profile.threads.iter().any(|thread| !thread.allocations.is_empty());
            let made = (!is_counted).then_some((self.columns.allocations, self.columns.bytes));
            let placing = objects::Placing {
                profile,
                methods: process.methods,
                threads: threads.to_vec(),
                process: self.options.thread.is_none_or(|wants| wants("")).then_some(node),
            };
            let columns = objects::Columns { live, live_bytes, made };
            objects::add(&mut self.loaded.model, &columns, &placing, biographies);
        }
    }

    /// What these threads waited for.
    fn waits(&mut self, process: &Process<'_>, node: NodeId, threads: &[Option<NodeId>]) {
        let profile = &*process.profile;
        if let (Some(columns), Some(waits)) = (self.columns.waits, process.waits) {
            let method = process.methods;
            let wanted = |name: &str| self.options.thread.is_none_or(|wants| wants(name));
            let placing = waiting::Placing { profile, process: node, threads, wanted: &wanted, method };
            let parts = match self.columns.samples {
                Some(columns) => columns.waiting.map(waiting::Parts::Beside),
                None => {
                    self.columns.parts.map(|(running, waiting)| waiting::Parts::Within { running, waiting })
                }
            };
            waiting::add(&mut self.loaded.model, columns, parts, &placing, waits);
        }
    }

    fn add(&mut self, node: NodeId, column: Option<usize>, value: f64) {
        if let Some(column) = column {
            self.loaded.model.base_mut(node)[column] += value;
        }
    }

    /// The calls of a context, if they are kept.
    fn context(&mut self, node: NodeId) -> Option<&mut ContextCalls> {
        let contexts = &mut self.loaded.contexts;
        if self.options.contexts && contexts.len() <= node.0 as usize {
            // That of a tree are as many as the model has.
            contexts.reserve_exact(self.loaded.model.nodes().len().saturating_sub(contexts.len()));
            contexts.resize(node.0 as usize + 1, ContextCalls::default());
        }
        contexts.get_mut(node.0 as usize)
    }

    fn tree(
        &mut self,
        profile: &Profile,
        blocks: Option<&dyn Fn(u32, u32) -> bool>,
        tree: &Tree,
        places: &Places,
        index: usize,
        end: &End,
    ) {
        let thread = &profile.threads[index];
        let is_timed = !tree.has_samples;
        let calibrated =
            correction::cost(profile, thread).filter(|_| self.columns.wall.is_some() && is_timed);
        let cost = calibrated.map(|cost| in_place::bounded(cost, tree));
        let at = places.threads[index];
        let allocations = self.allocations(thread, tree, &places.nodes[index], at);
        let known = cost.map(|calibration| Cost { calibration, disturbed: self.disturbed });
        let times = if is_timed { times(tree, known.as_ref(), &allocations) } else { TreeTimes::none(tree) };
        self.sums.add(&times);
        self.loaded.recorded.add(times.calls);
        if let Some(cost) = &cost {
            self.loaded.overhead += calibration::overhead(cost, times.calls, allocations.iter().sum());
        }
        let cpu_cost = cost.as_ref().and_then(|cost| cost.cpu).filter(|_| self.columns.cpu.is_some());
        let cpu = cpu_times(tree, cpu_cost.as_ref());
        if is_timed {
            self.compare_cpu(profile, index, &times, &cpu);
        }
        let nodes = &places.nodes[index];
        for (i, node) in tree.nodes.iter().enumerate() {
            let (place, of) = (nodes[i], &times.nodes[i]);
            // Work of the virtual machine within the same work is one.
            let above = (node.parent as usize).checked_sub(1);
            if above.is_none_or(|above| nodes[above] != place) {
                self.loaded.model.meet(place, node.entries);
            }
            let method = node.consumer.method();
            let is_wait = blocks.zip(method).is_some_and(|(blocks, id)| blocks(thread.copy, id));
            add_figures(
                self.columns,
                self.loaded.model.base_mut(place),
                node,
                of,
                is_timed.then_some(is_wait),
            );
            self.add(place, self.columns.cpu_raw, cpu.raw[i]);
            if let (Some(columns), Some(figures)) = (self.columns.cpu, &cpu.exact) {
                for (column, figures) in columns.into_iter().zip(figures) {
                    self.add(place, Some(column), figures[i]);
                }
            }
            if let Some(calls) = self.context(place) {
                calls.counts.add(&node.counts());
                if node.consumer.method().is_some() {
                    calls.times.add(node, of, tree);
                }
            }
            if node.consumer.method().is_some() {
                let consumer = self.loaded.model.node(place).consumer;
                let calls = self.calls.of(consumer);
                calls.add(node, of, tree);
                let overhead =
                    |cost| calibration::overhead(&cost, calls_of(node, tree.sampled), allocations[i]);
                calls.recording_ns += cost.map_or(0.0, overhead);
            }
        }
        if self.options.lifetimes && is_timed {
            self.outside(tree, &times, cost.as_ref(), at, end);
        }
    }

    /// What a tree's nodes have allocated; objects made in none of them are those of the thread.
    fn allocations(&mut self, thread: &Thread, tree: &Tree, nodes: &[NodeId], at: NodeId) -> Vec<f64> {
        let mut allocations = vec![0.0; tree.nodes.len()];
        for made in &thread.tree_allocations {
            let node = (made.node as usize).checked_sub(1).filter(|&i| i < tree.nodes.len());
            let place = node.map_or(at, |i| nodes[i]);
            if let Some(i) = node {
                allocations[i] += made.count as f64;
            }
            self.add(place, Some(self.columns.allocations), made.count as f64);
            self.add(place, self.columns.bytes, made.bytes as f64);
        }
        allocations
    }

    /// The time in which a thread was in no recorded method.
    fn outside(&mut self, tree: &Tree, times: &TreeTimes, cost: Option<&Calibration>, at: NodeId, end: &End) {
        let top = tree.nodes.iter().zip(&times.nodes).filter(|(node, _)| node.parent == 0);
        let (mut made, mut inside) = (Calls::default(), 0.0);
        for (node, of) in top {
            made.timed += node.entries as f64;
            inside += of.inclusive;
        }
        let outside = (end.lifetime - inside).max(0.0).round();
        let exact = cost.map_or(outside, |cost| {
            calibration::exact(cost, outside, Calls::default(), made, 0.0).max(0.0).round()
        });
        self.add(at, self.columns.wall, exact);
        self.add(at, self.columns.raw, outside);
    }

    /// A thread cannot run for longer than it is there: if the figures say so, one of them is off, and that has to be known.
    fn compare_cpu(&mut self, profile: &Profile, index: usize, times: &TreeTimes, cpu: &CpuTimes) {
        let sum = |figures: &mut dyn Iterator<Item = f64>| figures.sum::<f64>();
        let (names, wall, cpu) = match &cpu.exact {
            Some([exact, ..]) => (
                ["cpu", "wall"],
                sum(&mut times.nodes.iter().map(|t| t.exact)),
                sum(&mut exact.iter().copied()),
            ),
            None => (
                ["cpu-raw", "wall-raw"],
                sum(&mut times.nodes.iter().map(|t| t.raw)),
                sum(&mut cpu.raw.iter().copied()),
            ),
        };
        if cpu > wall * (1.0 + CLOCKS_APART) {
            let time = |ns: f64| crate::text::quantity(ns, "ns");
            let thread = &thread_rows::single(profile)[index];
            let [cpu_name, wall_name] = names;
            self.loaded.remarks.push(format!(
                "{cpu_name} of thread {thread} is {}, more than its {wall_name} of {}: one of the two is off by the difference at least",
                time(cpu),
                time(wall)
            ));
        }
    }

    /// Adds the methods of a thread below it. Gives the samples and the place of each.
    fn counts(&mut self, thread: &Thread, at: NodeId, method: MethodNames<'_>) -> Vec<(u64, NodeId)> {
        let mut places = HashMap::default();
        for (&id, counts) in &thread.methods {
            let consumer = self.loaded.model.consumer(&method(thread.copy, id));
            let place = self.loaded.model.child(at, Kind::Method, consumer);
            places.insert(id, place);
            self.loaded.model.meet(place, counts.entries);
            let unwinds = counts.closes.total().saturating_sub(counts.closes.exits);
            self.add(place, Some(self.columns.unwinds), unwinds as f64);
            self.add(place, self.columns.bytecodes, counts.bytecodes as f64);
            if let Some(calls) = self.context(place) {
                calls.counts.add(counts);
            }
            let calls = self.calls.of(consumer);
            calls.calls = calls.calls.saturating_add(counts.entries);
            calls.ended = calls.ended.saturating_add(counts.closes.total());
        }
        for made in &thread.allocations {
            let place = made.method.and_then(|id| places.get(&id)).copied().unwrap_or(at);
            self.add(place, Some(self.columns.allocations), made.count as f64);
        }
        thread.methods.iter().filter_map(|(id, of)| Some((of.samples, *places.get(id)?))).collect()
    }
}
