//! One run: contexts of all its threads with their exact figures.
//!
//! What moves without harm is taken out here, so that it cannot raise an alarm:
//!
//! - Processes and threads are no part of a context: a pool's work is in one place whichever of its threads does it.
//! - A class initialiser stands at the top, not below the method that happened to need the class first; so do the
//!   loading of classes and the linking of `invokedynamic`. They are links of the machine: they are no methods, and are
//!   not judged themselves.
//! - Names are without numbers of compilers, generators and runs ([`stable`]).

use std::collections::{BTreeMap, BTreeSet};

use instrument_names::selection::Selection;

use super::conditions::{Conditions, Refusal};
use super::figure::{Figure, Figures, add};
use crate::hash::HashMap;
use crate::model::{self, Arcflow, Kind};
use crate::stable_name::stable;

/// A context of a run.
#[derive(Debug, Clone)]
pub struct Node {
    /// Index of its caller's context, lower than its own; of the root 0.
    pub parent: usize,
    /// Index in [`Run::names`].
    pub name: usize,
    /// What it did itself.
    pub figures: Figures,
}

#[derive(Debug, Clone)]
pub struct Run {
    /// What it is called in messages: its file.
    pub label: String,
    pub conditions: Conditions,
    /// Stable names of methods, and of links in parentheses.
    pub names: Vec<String>,
    /// Contexts in the order of their paths: what lies below one follows it. The first is the root.
    pub nodes: Vec<Node>,
    /// Indices of the names of the threads in which a method ran, by index of its name.
    pub threads: Vec<BTreeSet<usize>>,
    /// Names of threads and pools.
    pub thread_names: Vec<String>,
    /// Stable names of all methods that could have been recorded, as far as that is known.
    pub instrumented: BTreeSet<String>,
}

/// Whether a run with this selection counts objects.
fn counts_objects(selection: &str) -> bool {
    let selection = Selection::parse(selection);
    let counting = ["allocation", "array-allocation", "object-init"];
    selection.values(Selection::TRANSFORM).any(|transform| counting.contains(&transform))
        || selection.values(Selection::HEAP).next().is_some()
}

/// Whether a transform was among those of a run with this selection.
fn has_transform(selection: &str, wanted: &str) -> bool {
    Selection::parse(selection).values(Selection::TRANSFORM).any(|transform| transform == wanted)
}

/// Class initialisers, and work of the machine: done once, wherever it is needed first.
pub(crate) fn is_once(name: &str) -> bool {
    name.contains(".<clinit>(") || matches!(name, "(class loading)" | "(invokedynamic linking)")
}

/// Whether a name is that of a method, and not of a link or a limit.
pub(crate) fn is_method(name: &str) -> bool {
    !name.starts_with('(')
}

/// Where the figures of a context of the model go.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Index of the node; none: it is outside of the part that is gathered.
    place: Option<usize>,
    /// Index of the thread.
    thread: usize,
}

/// A run that is being gathered.
struct Gathered<'a> {
    run: Run,
    /// Where contexts begin; none: only below links.
    top: Option<usize>,
    names: BTreeMap<String, usize>,
    threads: BTreeMap<&'a str, usize>,
    /// Nodes by caller and name.
    children: HashMap<(usize, usize), usize>,
    /// By index of the model's node.
    places: Vec<Place>,
}

impl<'a> Gathered<'a> {
    fn place(&mut self, node: &model::Node, name: &'a str, part: Option<&str>) -> Result<Place, Refusal> {
        let above = self.places.get(node.parent.0 as usize).copied();
        let Place { place: mut parent, thread } =
            above.unwrap_or(Place { place: self.top, thread: usize::MAX });
        Ok(match node.kind {
            Kind::Root | Kind::Process => Place { place: self.top, thread },
            Kind::Thread => {
                let next = self.threads.len();
                // Below the context that started it, if links are followed.
                Place { place: parent, thread: *self.threads.entry(name).or_insert(next) }
            }
            Kind::Link if part == Some(name) => Place { place: Some(0), thread },
            Kind::Method | Kind::Link | Kind::Deeper => {
                let bare = name.strip_prefix("call ").unwrap_or(name);
                if bare.starts_with('#') && bare[1..].starts_with(|c: char| c.is_ascii_digit()) {
                    return Err(Refusal::Unnamed(name.to_owned()));
                }
                if is_once(name) {
                    parent = self.top;
                }
                Place { place: parent.map(|parent| self.child(parent, name, thread)), thread }
            }
        })
    }

    fn child(&mut self, parent: usize, name: &str, thread: usize) -> usize {
        let next = self.names.len();
        let name = *self.names.entry(stable(name).into_owned()).or_insert(next);
        if name == next {
            self.run.threads.push(BTreeSet::new());
        }
        self.run.threads[name].insert(thread);
        let next = self.run.nodes.len();
        let place = *self.children.entry((parent, name)).or_insert(next);
        if place == next {
            self.run.nodes.push(Node { parent, name, figures: Figures::default() });
        }
        place
    }

    /// The run, with all names.
    fn named(self) -> Run {
        let Gathered { mut run, names, threads, .. } = self;
        run.names = vec![String::new(); names.len()];
        for (name, index) in names {
            run.names[index] = name;
        }
        run.thread_names = vec![String::new(); threads.len()];
        for (name, index) in threads {
            run.thread_names[index] = name.to_owned();
        }
        run
    }
}

impl Run {
    /// Whether a figure was counted at all: 0 of what nobody counts is no answer.
    ///
    /// # Errors
    /// It was not, and what to do.
    pub fn counts(&self, figure: Figure) -> Result<(), Refusal> {
        let is_there = self.nodes.iter().any(|node| node.figures[figure as usize] > 0);
        let has_heap = counts_objects(&self.conditions.selection);
        let (what, cure) = match figure {
            Figure::Calls => return Ok(()),
            Figure::Allocations | Figure::Bytes if has_heap => return Ok(()),
            Figure::Allocations => {
                ("allocations", "add the transform `allocation`, or run with --heap counts")
            }
            Figure::Bytes => ("bytes", "add the transform `allocation`, or run with --heap counts"),
            Figure::Bytecodes if has_transform(&self.conditions.selection, "bytecodes") => return Ok(()),
            Figure::Bytecodes => ("executed bytecodes", "add the transform `bytecodes`"),
            Figure::Remote => ("remote calls", "limit the calls of the methods that make them"),
        };
        if is_there { Ok(()) } else { Err(Refusal::NotCounted { what, cure }) }
    }

    /// Gathers a run from its model, which must be of one whole process, with threads.
    ///
    /// # Errors
    /// Methods without names, or none at all.
    pub fn new(label: String, conditions: Conditions, model: &Arcflow) -> Result<Run, Refusal> {
        Run::of_part(label, conditions, model, None)
    }

    /// The same, of what lies below the links of this name in a model in which links are followed.
    ///
    /// # Errors
    /// There is no such link either.
    pub fn of_part(
        label: String,
        conditions: Conditions,
        model: &Arcflow,
        part: Option<&str>,
    ) -> Result<Run, Refusal> {
        let mut gathered = Gathered {
            run: Run::empty(label, conditions),
            top: part.is_none().then_some(0),
            names: BTreeMap::new(),
            threads: BTreeMap::new(),
            children: HashMap::default(),
            places: Vec::with_capacity(model.nodes().len()),
        };
        let mut is_there = part.is_none();
        let resources: Vec<_> = Figure::ALL[1..].iter().map(|figure| model.resource(figure.word())).collect();
        for id in model.ids() {
            let node = model.node(id);
            let at = gathered.place(node, model.name(node.consumer), part)?;
            is_there |= node.kind == Kind::Link && part == Some(model.name(node.consumer));
            if let Some(place) = at.place {
                // A thread that was started in a method is no call of it.
                let is_call = matches!(node.kind, Kind::Method | Kind::Link | Kind::Deeper) && place != 0;
                let base = model.base(id);
                let mut figures = Figures::default();
                figures[0] = if is_call { node.n } else { 0 };
                for (figure, resource) in figures[1..].iter_mut().zip(&resources) {
                    *figure = resource.map_or(0, |r| base[r] as u64);
                }
                add(&mut gathered.run.nodes[place].figures, &figures);
            }
            gathered.places.push(at);
        }
        let mut run = gathered.named();
        if let (Some(part), false) = (part, is_there) {
            return Err(Refusal::NoPart(part.to_owned()));
        }
        if part.is_none() && !run.names.iter().any(|name| is_method(name)) {
            return Err(Refusal::Empty);
        }
        run.order();
        Ok(run)
    }

    /// Puts contexts in the order of their paths, so that what lies below one follows it. Contexts without a figure,
    /// which are known by samples of another run alone, are left out: chance says which there are.
    fn order(&mut self) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut has_figures: Vec<bool> =
            self.nodes.iter().map(|node| node.figures != Figures::default()).collect();
        for (i, node) in self.nodes.iter().enumerate().skip(1).rev() {
            if has_figures[i] {
                has_figures[node.parent] = true;
                children[node.parent].push(i);
            }
        }
        let mut ordered = Vec::with_capacity(self.nodes.len());
        let mut stack = vec![(0, 0)];
        while let Some((i, parent)) = stack.pop() {
            let at = ordered.len();
            ordered.push(Node { parent, ..self.nodes[i].clone() });
            children[i].sort_by_key(|&child| std::cmp::Reverse(self.name(child).to_owned()));
            stack.extend(children[i].iter().map(|&child| (child, at)));
        }
        self.nodes = ordered;
    }

    /// With the names of all methods that were instrumented, called or not.
    #[must_use]
    pub fn with_instrumented<'n>(mut self, names: impl Iterator<Item = &'n str>) -> Run {
        let names = names.filter(|name| is_method(name) && !name.starts_with('#'));
        self.instrumented = names.map(|name| stable(name).into_owned()).collect();
        self
    }

    /// A run without a call.
    pub fn empty(label: String, conditions: Conditions) -> Run {
        let root = Node { parent: 0, name: usize::MAX, figures: Figures::default() };
        let (names, threads, thread_names) = (Vec::new(), Vec::new(), Vec::new());
        let instrumented = BTreeSet::new();
        Run { label, conditions, names, nodes: vec![root], threads, thread_names, instrumented }
    }

    /// The name of a context's last part; of the root `(program)`.
    pub fn name(&self, node: usize) -> &str {
        self.names.get(self.nodes[node].name).map_or("(program)", String::as_str)
    }

    /// Whether there are contexts.
    pub fn has_contexts(&self) -> bool {
        self.conditions.record != "counts"
    }

    /// The figures of each method.
    pub fn methods(&self) -> BTreeMap<&str, Figures> {
        self.methods_in(|_| true)
    }

    /// The figures of each method in some of its contexts.
    pub(super) fn methods_in(&self, counts: impl Fn(usize) -> bool) -> BTreeMap<&str, Figures> {
        let mut methods: BTreeMap<&str, Figures> = BTreeMap::new();
        for (i, node) in self.nodes.iter().enumerate().skip(1) {
            if is_method(self.name(i)) && counts(i) {
                add(methods.entry(self.name(i)).or_default(), &node.figures);
            }
        }
        methods
    }

    /// A context and its callers, innermost first, without the root.
    pub fn chain(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors((node != 0).then_some(node), |&at| {
            Some(self.nodes[at].parent).filter(|&parent| parent != 0)
        })
    }

    /// The innermost method in which all of these contexts have their share of a figure, calls being those that it
    /// makes; none: the program's start.
    pub fn common(&self, contexts: &[usize], figure: Figure) -> Option<usize> {
        let having = contexts.iter().filter(|&&i| self.nodes[i].figures[figure as usize] > 0);
        let callers = having.map(|&i| {
            let from = if figure == Figure::Calls { self.nodes[i].parent } else { i };
            let mut callers: Vec<usize> = self.chain(from).collect();
            callers.reverse();
            callers
        });
        let common = callers.reduce(|a, b| {
            let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            a[..shared].to_vec()
        })?;
        common.into_iter().rev().find(|&i| is_method(self.name(i)))
    }

    /// The names of a context's path, outermost first.
    pub fn path(&self, node: usize) -> Vec<String> {
        let mut path: Vec<_> = self.chain(node).map(|at| self.name(at).to_owned()).collect();
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests;
