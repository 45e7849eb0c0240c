//! The execution tree over several processes (seed 000, tree generation): what a server did for a call stands below the
//! context that made the call.
//!
//! 1. emit the processes that are wanted, without the frames that calls were served under: what they did for others;
//! 2. where a context made calls, emit a node for the remote method, and below it what was done for them, and so on,
//!    along the paths of the calls;
//! 3. a frame that served several paths is split, its calls by how many each path made, all else by the time that it
//!    took for each, and marked: that is an estimate;
//! 4. what a frame did for calls that were not matched stays with its process, if all processes are wanted, or if these
//!    are requests by HTTP: they come from outside; of a process that makes no other calls of its own but for such,
//!    nothing else is emitted;
//! 5. a caller waits while its call is served: that time is taken from its own, so times add up; what of the wait the
//!    server does not explain, the remote method has: network and marshalling.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::NONE;
use super::parts::{Part, parts};
use super::paths::{Path, Paths, Route, Stages, Way};
use super::view::View;
use crate::hash::HashMap;
use crate::load::ContextCalls;
use crate::model::{Arcflow, Children, Kind, NodeId, Resource};
use crate::thread_time::ThreadTime;

/// Nodes of a merged tree, beyond which what was served is one node each.
pub(super) const MOST_NODES: usize = 1 << 23;
/// Where calls go that the runtime makes for itself, unless they are wanted.
const INTERNAL: &str = "(rmi: dgc, registry)";
/// Where calls stay whose client is not known.
const REMAINING: &str = "(remote calls)";

/// In front of the name of a remote method, where it was called.
const REMOTE: &str = "remote ";
/// The same of a request that came from outside, where it was served.
const SERVED: &str = "served ";

/// Whether a method of a merged tree is a call between processes.
pub fn is_between(name: &str) -> bool {
    name.starts_with(REMOTE) || name.starts_with(SERVED)
}

/// A merged tree.
#[derive(Debug)]
pub struct Merged {
    pub model: Arcflow,
    /// The calls of each context by index of the node, if those of the processes are known. Calls of remote methods
    /// returned.
    pub contexts: Vec<ContextCalls>,
    /// The times of the calls, by client and server.
    pub stages: BTreeMap<(usize, usize), Stages>,
    /// What does not fit, in words.
    pub remarks: Vec<String>,
}

/// Whether a path is in the tree already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emitted {
    No,
    Alone,
    /// With what was done for it.
    WithAllBelow,
}

/// Something to be emitted: a node of the model, below a node of the tree.
#[derive(Clone, Copy)]
struct Work {
    from: NodeId,
    below: NodeId,
    part: Part,
    /// Path of the call that it was done for, or [`NONE`].
    path: u32,
    /// The node itself is there already.
    is_there: bool,
}

pub(crate) struct Emitter<'a> {
    model: &'a Arcflow,
    children: Children,
    cum: Vec<f64>,
    paths: &'a Paths,
    labels: &'a [String],
    view: &'a View,
    /// Nodes, beyond which what was served is one node each.
    most: usize,
    /// Paths by where they come from; the root: from a call that was served under no frame.
    by_site: HashMap<(u32, NodeId), Vec<u32>>,
    /// Paths of tasks: emitted once, where their task comes first.
    by_task: HashMap<NodeId, Vec<u32>>,
    /// By path.
    emitted: Vec<Emitted>,
    /// Part of its frame that each path has.
    parts: Vec<Part>,
    /// Part of each frame that is of no path.
    left: Vec<Part>,
    tree: Arcflow,
    /// The calls of the contexts of the model and of the tree.
    calls_of_model: &'a [ContextCalls],
    contexts: Vec<ContextCalls>,
    stack: Vec<Work>,
    /// What callers have less: node and resource.
    waited: HashMap<(NodeId, usize), f64>,
    /// What they have less besides, as far as they have it, and the remote method or server that has it.
    remote: Vec<(NodeId, NodeId, f64)>,
    /// Processes that have a part of what was done for several.
    estimated: BTreeSet<NodeId>,
    /// The parties of which nothing is emitted but what they did for requests.
    requests_of: Vec<usize>,
    columns: [usize; 3],
    walls: Vec<usize>,
    collapsed: u64,
}

pub(crate) fn emit(
    model: &Arcflow,
    contexts: &[ContextCalls],
    processes: &[NodeId],
    paths: &Paths,
    labels: &[String],
    view: &View,
    most: usize,
) -> Merged {
    let mut resources = model.resources().to_vec();
    let first = resources.len();
    for (name, unit) in [("remote-calls", ""), ("remote", "ns"), ("network", "ns")] {
        resources.push(Resource { name: name.into(), unit: unit.into() });
    }
    let mut by_site: HashMap<(u32, NodeId), Vec<u32>> = HashMap::default();
    let mut by_task: HashMap<NodeId, Vec<u32>> = HashMap::default();
    for (at, path) in paths.all.iter().enumerate() {
        if path.way.is_of_task {
            by_task.entry(path.way.site).or_default().push(at as u32);
        } else if let Some(place) = place(path, paths, view) {
            by_site.entry(place).or_default().push(at as u32);
        }
    }
    let (parts, left) = parts(paths, view);
    let tree = model.emptied_with(resources);
    let mut emitter = Emitter {
        model,
        children: model.children(),
        cum: model.cum(),
        paths,
        labels,
        view,
        most,
        by_site,
        by_task,
        emitted: vec![Emitted::No; paths.all.len()],
        parts,
        left,
        tree,
        calls_of_model: contexts,
        contexts: Vec::new(),
        stack: Vec::new(),
        waited: HashMap::default(),
        remote: Vec::new(),
        estimated: BTreeSet::new(),
        requests_of: Vec::new(),
        columns: [first, first + 1, first + 2],
        walls: ["wall", "wall-raw"].iter().filter_map(|name| model.resource(name)).collect(),
        collapsed: 0,
    };
    for (party, &process) in processes.iter().enumerate() {
        if view.has(party) {
            emitter.process(party, process);
        }
    }
    emitter.finish()
}

/// Where the calls of a path are emitted: below those of which path, and at which node; none: nowhere.
fn place(path: &Path, paths: &Paths, view: &View) -> Option<(u32, NodeId)> {
    let Way { within, site, .. } = path.way;
    if site == Arcflow::ROOT {
        return None;
    }
    let Some(outer) = paths.all.get(within as usize) else { return Some((NONE, site)) };
    let is_left_out = outer.way.site == Arcflow::ROOT && !view.is_server;
    Some(match outer.way.frame {
        // What is done for nobody that is emitted, or by a runtime, is emitted where it is, if that is.
        _ if is_left_out || view.folds(&outer.way) => (NONE, site),
        // Its process is emitted with all that it did, whoever it was for.
        NONE if view.has(path.client) => (NONE, site),
        NONE => (within, Arcflow::ROOT),
        _ => (within, site),
    })
}

impl Emitter<'_> {
    fn process(&mut self, party: usize, process: NodeId) {
        let of_party = |frame: &u32| self.paths.frames.all[*frame as usize].party == party;
        let frames: Vec<u32> = (0..self.left.len() as u32).filter(of_party).collect();
        let serves = |&frame: &u32| {
            let route = self.paths.served[frame as usize].route;
            route != Route::None && self.left[frame as usize].figures.0 < 1.0
        };
        let tells_requests =
            self.view.is_of_client() && !self.paths.makes_own[party] && frames.iter().any(serves);
        let own = self.child(Arcflow::ROOT, Kind::Process, &self.labels[party]);
        if tells_requests {
            self.tree.meet(own, 1);
            self.requests_of.push(party);
        } else {
            let (below, part) = (Arcflow::ROOT, Part::ALL);
            self.run(Work { from: process, below, part, path: NONE, is_there: false });
        }
        let folds = !self.view.internals;
        for frame in frames {
            let internal = self.paths.served[frame as usize].is_internal && folds;
            if internal {
                if self.view.is_of_all() || self.view.is_server {
                    let below = self.child(own, Kind::Link, INTERNAL);
                    self.frame(frame, below, Part::ALL, NONE);
                }
            } else if self.left[frame as usize].figures.0 < 1.0 {
                let below = match self.paths.served[frame as usize].route {
                    Route::One(name) => {
                        let name = format!("{SERVED}{}", self.paths.methods[name as usize]);
                        self.child(own, Kind::Method, &name)
                    }
                    Route::None if self.view.is_of_client() => continue,
                    _ => self.child(own, Kind::Link, REMAINING),
                };
                self.frame(frame, below, self.left[frame as usize], NONE);
            }
        }
        if self.view.is_server {
            for (at, path) in self.paths.all.iter().enumerate() {
                let is_framed = path.way.frame != NONE && !self.view.folds(&path.way);
                if path.way.server == party as u32 && is_framed {
                    let part = self.parts[at];
                    let name = format!("for {}", self.labels[path.client]);
                    let below = self.child(own, Kind::Process, &name);
                    self.mark(below, part);
                    self.tree.meet(below, path.calls);
                    self.frame(path.way.frame, below, part, at as u32);
                }
            }
        }
    }

    /// Emits what is in a frame below a node.
    fn frame(&mut self, frame: u32, below: NodeId, part: Part, path: u32) {
        let paths = self.paths;
        for &from in &paths.frames.all[frame as usize].nodes {
            if path == NONE {
                self.tree.meet(below, part.of_calls(self.model.node(from).n));
                self.count(from, below, part);
            }
            self.run(Work { from, below, part, path, is_there: true });
        }
    }

    /// Adds the calls of a context of the model to one of the tree.
    fn count(&mut self, from: NodeId, at: NodeId, part: Part) {
        if let Some(of) = self.calls_of_model.get(from.0 as usize) {
            let of = part.of_context(of);
            self.context(at).add(&of);
        }
    }

    fn context(&mut self, at: NodeId) -> &mut ContextCalls {
        let index = at.0 as usize;
        if self.contexts.len() <= index {
            self.contexts.resize(index + 1, ContextCalls::default());
        }
        &mut self.contexts[index]
    }

    fn child(&mut self, below: NodeId, kind: Kind, name: &str) -> NodeId {
        let consumer = self.tree.consumer(name);
        self.tree.child(below, kind, consumer)
    }

    fn run(&mut self, work: Work) {
        self.stack.push(work);
        while let Some(work) = self.stack.pop() {
            self.node(work);
        }
    }

    fn node(&mut self, work: Work) {
        if work.from == Arcflow::ROOT {
            return self.calls_of(work, work.below);
        }
        let node = self.model.node(work.from);
        if !work.is_there && self.only_served(work.from) {
            return;
        }
        let at = if work.is_there {
            work.below
        } else {
            let name = self.model.name(node.consumer);
            let at = self.child(work.below, node.kind, name);
            self.tree.meet(at, work.part.of_calls(node.n));
            self.count(work.from, at, work.part);
            at
        };
        for (sum, value) in self.tree.base_mut(at).iter_mut().zip(self.model.base(work.from)) {
            *sum += work.part.of(*value);
        }
        self.calls_of(work, at);
        let first = self.stack.len();
        for &child in self.children.of(work.from) {
            // What was served is emitted where it was caused.
            if !self.paths.frames.of_node.contains_key(&child) {
                self.stack.push(Work { from: child, below: at, is_there: false, ..work });
            }
        }
        self.stack[first..].reverse();
    }

    /// Emits the calls that were made at a place.
    fn calls_of(&mut self, work: Work, at: NodeId) {
        let of_task = self.by_task.remove(&work.from).unwrap_or_default();
        let calls = self.by_site.get(&(work.path, work.from)).cloned().unwrap_or_default();
        for path in calls.into_iter().chain(of_task) {
            self.calls(path, at);
        }
    }

    /// A thread that did nothing but serve calls is left out.
    fn only_served(&self, node: NodeId) -> bool {
        let children = self.children.of(node);
        self.model.node(node).kind == Kind::Thread
            && !children.is_empty()
            && !self.by_site.contains_key(&(NONE, node))
            && !self.by_task.contains_key(&node)
            && self.model.base(node).iter().all(|value| *value == 0.0)
            && children.iter().all(|child| self.paths.frames.of_node.contains_key(child))
    }

    /// Emits the calls of a path at the place of their site.
    fn calls(&mut self, index: u32, site: NodeId) {
        let path = &self.paths.all[index as usize];
        let is_folded = self.view.folds(&path.way);
        let at = if is_folded {
            self.child(site, Kind::Link, INTERNAL)
        } else {
            let name = format!("{REMOTE}{}", self.paths.methods[path.way.method as usize]);
            self.child(site, Kind::Method, &name)
        };
        self.tree.meet(at, path.made);
        if !self.calls_of_model.is_empty() {
            let counts = &mut self.context(at).counts;
            counts.entries = counts.entries.saturating_add(path.made);
            counts.closes.exits = counts.closes.exits.saturating_add(path.made);
        }
        let [calls, remote, network] = self.columns;
        let is_grafted = path.way.server != NONE && !is_folded && !self.view.is_server;
        let is_full = is_grafted && self.tree.nodes().len() > self.most;
        let emitted = if is_grafted && !is_full { Emitted::WithAllBelow } else { Emitted::Alone };
        self.emitted[index as usize] = emitted;
        // The time of the calls within stands where they are.
        let is_nested_emitted = emitted == Emitted::WithAllBelow || is_folded && self.view.is_of_all();
        let nested =
            if is_nested_emitted && !path.is_message { path.nested_ns.min(path.client_ns) } else { 0 };
        let base = self.tree.base_mut(at);
        base[calls] += path.made as f64;
        base[remote] += (path.client_ns - nested) as f64;
        base[network] += path.between_ns as f64;
        let is_waited_for = is_grafted && !path.is_message;
        let own_ns = if is_waited_for { path.between_ns as f64 } else { path.client_ns as f64 };
        self.remote.push((site, at, own_ns));
        if !is_grafted {
            return;
        }
        let part = self.parts[index as usize];
        let below = self.child(at, Kind::Process, &self.labels[path.way.server as usize]);
        self.mark(below, part);
        self.tree.meet(below, path.calls);
        self.collapsed += u64::from(is_full);
        if path.way.frame == NONE {
            // How long it took is known, but not what was done.
            if is_waited_for {
                self.remote.push((site, below, path.server_ns as f64));
            }
            if !is_full {
                self.stack.push(Work { from: Arcflow::ROOT, below, part, path: index, is_there: true });
            }
            return;
        }
        let width = self.model.resources().len();
        let paths = self.paths;
        for &from in &paths.frames.all[path.way.frame as usize].nodes {
            for &wall in self.walls.iter().filter(|_| is_waited_for) {
                let served = part.of(self.cum[from.0 as usize * width + wall]);
                *self.waited.entry((site, wall)).or_default() += served;
            }
            if is_full {
                for resource in 0..width {
                    let all = part.of(self.cum[from.0 as usize * width + resource]);
                    self.tree.base_mut(below)[resource] += all;
                }
            } else {
                self.stack.push(Work { from, below, part, path: index, is_there: true });
            }
        }
    }

    /// What is left of a node's thread time is waiting as far as it was, and else running.
    fn split(&mut self, node: NodeId) {
        if let Some(time) = ThreadTime::of(&self.tree)
            && let Some(whole) = time.whole
        {
            let base = self.tree.base_mut(node);
            base[time.waiting] = base[time.waiting].min(base[whole]);
            base[time.running] = base[whole] - base[time.waiting];
        }
    }

    /// What was done for several paths is one process, and an estimate if it is one for any of them.
    fn mark(&mut self, process: NodeId, part: Part) {
        if !part.is_all() {
            self.estimated.insert(process);
        }
    }

    /// Calls that should have been emitted, and were not.
    fn lost(&self) -> u64 {
        let all = self.view.is_of_all();
        let mut lost: Vec<bool> = Vec::with_capacity(self.emitted.len());
        // What a path is within has a lower number.
        for (path, &emitted) in self.paths.all.iter().zip(&self.emitted) {
            let is_due = match path.way {
                Way { site: Arcflow::ROOT, .. } => false,
                // A server has all of its own, whoever it made them for, and no other.
                _ if self.view.is_server => self.view.has(path.client),
                Way { within: NONE, .. } => all,
                Way { within, .. } => {
                    self.emitted[within as usize] == Emitted::WithAllBelow || lost[within as usize]
                }
            };
            lost.push(is_due && emitted == Emitted::No);
        }
        self.paths.all.iter().zip(lost).filter(|(_, lost)| *lost).map(|(path, _)| path.calls).sum()
    }

    fn finish(mut self) -> Merged {
        let mut remarks = Vec::new();
        let (mut short, mut missing) = (0u64, 0.0);
        let mut remote = std::mem::take(&mut self.remote);
        // What a node is given comes from one with a lower number: all of it is there before it gives.
        remote.sort_by_key(|&(site, ..)| site);
        for (site, at, ns) in remote {
            for &wall in &self.walls {
                if let Some(served) = self.waited.remove(&(site, wall)) {
                    let base = &mut self.tree.base_mut(site)[wall];
                    let rest = *base - served;
                    if rest < 0.0 && Some(&wall) == self.walls.first() {
                        short += 1;
                        missing -= rest;
                    }
                    *base = rest.max(0.0);
                }
                let moved = ns.clamp(0.0, self.tree.base(site)[wall].max(0.0));
                // The cost of probes is taken out of one side and not of the other: so much says nothing.
                if ns - moved >= 1000.0 && Some(&wall) == self.walls.first() {
                    short += 1;
                    missing += ns - moved;
                }
                self.tree.base_mut(site)[wall] -= moved;
                self.tree.base_mut(at)[wall] += moved;
            }
            self.split(site);
            self.split(at);
        }
        if short > 0 {
            let ns = crate::text::quantity(missing, "ns");
            remarks.push(format!(
                "{short} contexts have less time than the remote calls that they made, by {ns} in all"
            ));
        }
        if self.paths.circular > 0 {
            remarks.push(format!("{} remote calls seem to have caused themselves", self.paths.circular));
        }
        for &party in &self.requests_of {
            let name = &self.labels[party];
            remarks
                .push(format!("{name}: only its work for requests is shown; --process all shows all of it"));
        }
        let lost = self.lost();
        if lost > 0 {
            remarks.push(format!("{lost} remote calls were made in contexts that the tree does not have"));
        }
        if self.collapsed > 0 {
            let (most, paths) = (self.most, self.collapsed);
            remarks.push(format!(
                "the tree has its limit of {most} nodes; {paths} call paths to remote calls are shown as totals"
            ));
        }
        for &process in &self.estimated {
            let name = format!("{} (estimated)", self.tree.name(self.tree.node(process).consumer));
            self.tree.rename(process, &name);
        }
        Merged { model: self.tree, contexts: self.contexts, stages: self.paths.stages.clone(), remarks }
    }
}
