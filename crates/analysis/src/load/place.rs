//! Where each node of each thread's tree stands in the model.
//!
//! What hangs together is a *unit*: a thread, and, if links are followed, what ran on behalf of one. A unit stands below the
//! context that caused it, which is part of another unit; so units are placed causes first:
//!
//! 1. give every node its unit: the next link frame above it, or its thread;
//! 2. find what caused each unit;
//! 3. place each unit when its cause has a place. One that caused itself over others
//!    stands below its process, and is counted.

use instrument_trace::{Link, LinkKind, Profile, Tree, TreeConsumer};

use crate::hash::HashMap;
use crate::model::{Arcflow, Consumer, Kind, NodeId};

/// What the placing needs to know and make.
pub(crate) struct Placing<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) model: &'a mut Arcflow,
    /// The process.
    pub(crate) process: NodeId,
    /// Names of the threads by index; `None`: it is left out.
    pub(crate) threads: &'a [Option<String>],
    /// Follow links.
    pub(crate) links: bool,
    /// Name of a method by copy and id.
    pub(crate) method: &'a (dyn Fn(u32, u32) -> String + 'a),
    /// Links that remote calls are served under, each apart from the others.
    pub(crate) apart: bool,
    /// Consumers of methods, by copy and id.
    pub(crate) known: &'a mut HashMap<(u32, u32), Consumer>,
}

#[derive(Debug)]
pub(crate) struct Places {
    /// By index of the thread.
    pub(crate) threads: Vec<NodeId>,
    /// By index of the thread and of the node.
    pub(crate) nodes: Vec<Vec<NodeId>>,
    /// Of threads that are in no region; the root: they are left out.
    pub(crate) unknown: NodeId,
    /// Units that caused themselves.
    pub(crate) circular: u64,
}

/// A thread, or a link frame in it: indices of the thread and of the node.
#[derive(Debug, Clone, Copy)]
struct Unit {
    thread: usize,
    node: Option<usize>,
    /// Thread and node that caused it.
    cause: Option<(usize, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Open,
    Placed,
}

/// What reports call a part of a program that has a name of its own.
pub(crate) fn boundary(profile: &Profile, copy: u32, link: u32) -> String {
    let name = profile.copies.get(&copy).and_then(|copy| copy.boundary_name(link));
    boundary_name(name.unwrap_or("without a name"))
}

/// The same of its name.
pub(crate) fn boundary_name(name: &str) -> String {
    format!("(boundary {name})")
}

/// What reports call a call that began before the recording.
pub(crate) fn running(
    profile: &Profile,
    method: &dyn Fn(u32, u32) -> String,
    copy: u32,
    link: u32,
) -> String {
    let id = profile.copies.get(&copy).and_then(|of| of.running_method(link));
    id.map_or_else(|| format!("({RUNNING})"), |id| format!("({RUNNING} {})", method(copy, id)))
}

/// What work on behalf of another context is called, by [`Placing::task`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkName<'a> {
    /// By its kind alone.
    Kind(LinkKind),
    /// By its kind and the method that caused it.
    Of(LinkKind, &'a str),
    /// By the name that the program gave it.
    Boundary(&'a str),
    /// Of this method, and begun before the recording.
    Running(&'a str),
}

/// Reads such a name; none: it is another one.
pub(crate) fn link_name(name: &str) -> Option<LinkName<'_>> {
    let machine = [LinkKind::ClassLoading, LinkKind::DynamicLinking];
    if let Some(kind) = machine.into_iter().find(|kind| kind.machine_work() == Some(name)) {
        return Some(LinkName::Kind(kind));
    }
    let inner = name.strip_prefix('(')?.strip_suffix(')')?;
    let words = [(TASK, LinkKind::HandOver), (STARTED, LinkKind::Start)];
    let of = words.into_iter().find_map(|(word, kind)| Some((kind, inner.strip_prefix(word)?)));
    match of {
        Some((kind, "")) => Some(LinkName::Kind(kind)),
        Some((kind, rest)) => Some(LinkName::Of(kind, rest.strip_prefix(" of ")?)),
        None if name == SERVED => Some(LinkName::Kind(LinkKind::Served)),
        None => match inner.strip_prefix(RUNNING).and_then(|rest| rest.strip_prefix(' ')) {
            Some(method) => Some(LinkName::Running(method)),
            None => Some(LinkName::Boundary(inner.strip_prefix("boundary ")?)),
        },
    }
}

/// What work on behalf of another context is called where its cause does not matter.
pub(crate) fn link_text(profile: &Profile, copy: u32, number: u32) -> String {
    let link = profile.links.iter().find(|link| (link.copy, link.number) == (copy, number));
    match link.map(|link| link.kind) {
        Some(LinkKind::Boundary) => boundary(profile, copy, number),
        Some(LinkKind::Served) => SERVED.to_owned(),
        Some(LinkKind::Start) => format!("({STARTED})"),
        kind => kind.and_then(LinkKind::machine_work).map_or_else(|| format!("({TASK})"), str::to_owned),
    }
}

const TASK: &str = "task";
const RUNNING: &str = "running";
const STARTED: &str = "started thread";
const SERVED: &str = "(remote calls)";

pub(crate) fn place(mut placing: Placing<'_>) -> Places {
    let units = Units::new(&placing);
    let nodes = placing.profile.threads.iter().map(|t| t.tree.as_ref().map_or(0, |tree| tree.nodes.len()));
    let mut places = Places {
        threads: vec![placing.process; placing.threads.len()],
        nodes: nodes.map(|count| vec![Arcflow::ROOT; count]).collect(),
        unknown: placing.process,
        circular: 0,
    };
    let mut state = vec![State::Waiting; units.all.len()];
    for first in 0..units.all.len() {
        let mut stack = vec![first];
        while let Some(&unit) = stack.last() {
            if state[unit] == State::Placed {
                stack.pop();
                continue;
            }
            let cause = units.all[unit].cause.map(|(thread, node)| units.of[thread][node] as usize);
            let mut parent = units.all[unit].cause;
            match cause.map(|cause| state[cause]) {
                // It is placed when its unit's turn comes again, unless it leads back to that.
                Some(State::Waiting) => {
                    state[unit] = State::Open;
                    stack.extend(cause);
                    continue;
                }
                Some(State::Placed) | None => {}
                Some(State::Open) => {
                    places.circular += 1;
                    parent = None;
                }
            }
            let above = parent.map_or(placing.process, |(thread, node)| places.nodes[thread][node]);
            placing.unit(&units, unit, above, parent.is_some(), &mut places);
            state[unit] = State::Placed;
            stack.pop();
        }
    }
    places
}

#[derive(Default)]
struct Units<'a> {
    /// By copy and number.
    links: HashMap<(u32, u32), &'a Link>,
    /// Indices of the threads by copy and ordinal.
    ordinals: HashMap<(u32, u32), usize>,
    all: Vec<Unit>,
    /// By thread and node.
    of: Vec<Vec<u32>>,
    /// The nodes of each unit, in order.
    members: Vec<Vec<u32>>,
}

impl<'a> Units<'a> {
    fn new(placing: &Placing<'a>) -> Units<'a> {
        let profile = placing.profile;
        let links: HashMap<_, _> = profile.links.iter().map(|l| ((l.copy, l.number), l)).collect();
        let ordinals: HashMap<_, _> =
            profile.threads.iter().enumerate().map(|(i, t)| ((t.copy, t.ordinal), i)).collect();
        let cause = |copy: u32, number: u32| {
            let link = links.get(&(copy, number)).filter(|_| placing.links)?;
            let &thread = ordinals.get(&(copy, link.thread))?;
            placing.threads[thread].as_ref()?;
            let node = (link.node as usize).checked_sub(1)?;
            let tree = profile.threads[thread].tree.as_ref()?;
            (node < tree.nodes.len()).then_some((thread, node))
        };
        let mut units = Units::default();
        for (thread, of) in profile.threads.iter().enumerate() {
            let mut numbers = Vec::new();
            if placing.threads[thread].is_some() {
                let own = units.push(Unit { thread, node: None, cause: cause(of.copy, of.link) });
                for (i, node) in of.tree.iter().flat_map(|tree| tree.nodes.iter().enumerate()) {
                    let above = (node.parent as usize).checked_sub(1).map_or(own, |p| numbers[p]);
                    let cause = match node.consumer {
                        TreeConsumer::Link(number) => cause(of.copy, number),
                        _ => None,
                    };
                    let unit = match cause {
                        Some(_) => units.push(Unit { thread, node: Some(i), cause }),
                        None => above,
                    };
                    units.members[unit as usize].push(i as u32);
                    numbers.push(unit);
                }
            }
            units.of.push(numbers);
        }
        (units.links, units.ordinals) = (links, ordinals);
        units
    }

    fn push(&mut self, unit: Unit) -> u32 {
        self.all.push(unit);
        self.members.push(Vec::new());
        self.all.len() as u32 - 1
    }
}

impl Placing<'_> {
    /// Makes the nodes of a unit, `above` being placed.
    fn unit(&mut self, units: &Units<'_>, unit: usize, above: NodeId, caused: bool, places: &mut Places) {
        let Unit { thread, node, .. } = units.all[unit];
        let profile = self.profile;
        let of = &profile.threads[thread];
        if node.is_none() {
            let name = self.threads[thread].as_deref().unwrap_or_default();
            let consumer = self.model.consumer(name);
            places.threads[thread] = self.model.child(above, Kind::Thread, consumer);
        }
        let Some(tree) = &of.tree else { return };
        for &i in &units.members[unit] {
            let i = i as usize;
            let made = &tree.nodes[i];
            let parent = if Some(i) == node {
                above
            } else {
                let index = (made.parent as usize).checked_sub(1);
                index.map_or(places.threads[thread], |p| places.nodes[thread][p])
            };
            if self.is_nested_machine_work(units, of.copy, tree, i) {
                places.nodes[thread][i] = parent;
                continue;
            }
            let (kind, consumer) = match made.consumer {
                TreeConsumer::Method(id) => (Kind::Method, self.consumer(of.copy, id)),
                TreeConsumer::Deeper => (Kind::Deeper, self.model.consumer("(deeper)")),
                TreeConsumer::Link(_) if caused && Some(i) == node => {
                    (Kind::Link, self.model.consumer("(task)"))
                }
                TreeConsumer::Link(number) => {
                    let name = self.task(units, of.copy, number);
                    (Kind::Link, self.model.consumer(&name))
                }
            };
            places.nodes[thread][i] = self.model.child(parent, kind, consumer);
        }
    }

    /// The consumer of a method; its name is asked for once.
    fn consumer(&mut self, copy: u32, id: u32) -> Consumer {
        let (model, method) = (&mut *self.model, self.method);
        *self.known.entry((copy, id)).or_insert_with(|| model.consumer(&method(copy, id)))
    }

    /// Whether a node is work of the virtual machine within the same work: the superclass of a class that is loaded.
    fn is_nested_machine_work(&self, units: &Units<'_>, copy: u32, tree: &Tree, index: usize) -> bool {
        let node = &tree.nodes[index];
        let TreeConsumer::Link(number) = node.consumer else { return false };
        tree.node(node.parent).is_some_and(|above| above.consumer == node.consumer)
            && units.links.get(&(copy, number)).is_some_and(|link| link.kind.machine_work().is_some())
    }

    /// The name of a task that stays with its thread: where it came from.
    fn task(&self, units: &Units<'_>, copy: u32, number: u32) -> String {
        let link = units.links.get(&(copy, number));
        if let Some(work) = link.and_then(|link| link.kind.machine_work()) {
            return work.to_owned();
        }
        let method = link.and_then(|link| {
            let &thread = units.ordinals.get(&(copy, link.thread))?;
            let tree = self.profile.threads[thread].tree.as_ref()?;
            tree.node(link.node)?.consumer.method()
        });
        let word = match link.map(|link| link.kind) {
            Some(LinkKind::Start) => STARTED,
            Some(LinkKind::Served) if self.apart => return format!("(remote calls {copy}.{number})"),
            Some(LinkKind::Served) => return SERVED.into(),
            Some(LinkKind::Boundary) => return boundary(self.profile, copy, number),
            Some(LinkKind::Running) => return running(self.profile, self.method, copy, number),
            _ => TASK,
        };
        match method {
            Some(id) => format!("({word} of {})", (self.method)(copy, id)),
            None => format!("({word})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_links_are_read_as_they_are_made() {
        assert_eq!(link_name("(class loading)"), Some(LinkName::Kind(LinkKind::ClassLoading)));
        assert_eq!(link_name("(task)"), Some(LinkName::Kind(LinkKind::HandOver)));
        assert_eq!(link_name("(task of A.b(I)V)"), Some(LinkName::Of(LinkKind::HandOver, "A.b(I)V")));
        assert_eq!(link_name("(started thread of A.b()V)"), Some(LinkName::Of(LinkKind::Start, "A.b()V")));
        assert_eq!(link_name(SERVED), Some(LinkName::Kind(LinkKind::Served)));
        assert_eq!(link_name(&boundary_name("test (1)")), Some(LinkName::Boundary("test (1)")));
        assert_eq!(link_name("(running A.b()V)"), Some(LinkName::Running("A.b()V")));
        for other in ["(running)", "(tasks)", "(remote calls 1.2)", "task", "()", ""] {
            assert_eq!(link_name(other), None, "{other}");
        }
    }
}
