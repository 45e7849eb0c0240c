//! The arcflow model AF0 (seed 001): a set of triples (consumer context, n, resource consumption list) and a vector of
//! labels, kept as the call tree that it is isomorphic to.
//!
//! A node is a context: its consumer and, by its ancestors, the consumers responsible for it. Node 0 is the virtual root;
//! beneath it may lie processes, threads, links and methods. A node holds *n* and, for each resource, the *base*: what it
//! consumed itself. *cum*, base and that of all below, follows from the tree.

mod parts;

use crate::correction::Correction;

pub use parts::{Children, Group};

use crate::hash::HashMap;
use crate::origin::{Origin, Origins};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Such as `wall`, `cpu`, `allocations`.
    pub name: String,
    /// Unit of its figures, such as `ns`, `bytes`; empty for a number of things.
    pub unit: String,
}

/// What a node's consumer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The one above all.
    Root,
    Process,
    Thread,
    /// Work done on behalf of another context: a started thread, a task handed over.
    Link,
    /// Calls past a limit of the recorder, known by method only.
    Deeper,
    /// A method, function, or whatever the input calls its consumers.
    Method,
}

/// How many kinds there are.
pub(crate) const KINDS: usize = Kind::WORDS.len();

impl Kind {
    const WORDS: [(Kind, &str); 6] = [
        (Kind::Root, "root"),
        (Kind::Process, "process"),
        (Kind::Thread, "thread"),
        (Kind::Link, "link"),
        (Kind::Deeper, "deeper"),
        (Kind::Method, "method"),
    ];

    /// Whether users look it up by its name: a method or a link.
    pub fn is_looked_up(self) -> bool {
        matches!(self, Kind::Method | Kind::Link)
    }

    /// The word for it in exports.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].1
    }

    /// The kind that a word stands for.
    pub fn from_word(word: &str) -> Option<Kind> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }
}

/// Index of a node; a parent's is lower than its children's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Index of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Consumer(pub u32);

/// A context.
#[derive(Debug, Clone)]
pub struct Node {
    /// Whose context it is within; the root is its own parent.
    pub parent: NodeId,
    pub consumer: Consumer,
    /// What the consumer is.
    pub kind: Kind,
    /// Times this context was met.
    pub n: u64,
}

/// What tells a child from all others: one word, for there are millions.
fn child_key(parent: NodeId, kind: Kind, consumer: Consumer) -> u64 {
    let word = u64::from(consumer.0) * KINDS as u64 + kind as u64;
    debug_assert!(word <= u64::from(u32::MAX), "so many names are not in memory");
    u64::from(parent.0) << 32 | word
}

/// A part of the life of a process, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How long after its start it begins.
    pub begin: u64,
    /// How long it is.
    pub length: u64,
}

/// All samples of a model, those in probes too, and the CPU time that they stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) samples: f64,
    pub(crate) ns: f64,
}

/// The model. Figures are `f64`: whole numbers up to 2^53 are exact, sums of them too.
#[derive(Debug, Clone)]
pub struct Arcflow {
    /// What a consumer is, such as `methods`.
    pub consumers: String,
    /// What n counts, such as `calls`.
    pub occurrences: String,
    /// Where the methods among the consumers come from, as far as that is known.
    pub origins: Origins,
    /// Whether its times are without the cost of the probes.
    pub correction: Correction,
    /// The time that the figures are of, if that is not the whole life of the process.
    pub window: Option<Window>,
    /// Its times are of another run than its calls, which did other work: they are not divided by these.
    pub has_other_times: bool,
    /// The first resource of each file beside the profile, which is shown beside the usual ones.
    pub beside: Vec<String>,
    /// Where this is a part of a model: sums of that model, which say how sure a share of samples is.
    pub(crate) whole: Option<Sampled>,
    resources: Vec<Resource>,
    names: Vec<String>,
    by_name: HashMap<String, Consumer>,
    nodes: Vec<Node>,
    /// Base, node by node, resources within.
    base: Vec<f64>,
    /// By [`child_key`].
    children: HashMap<u64, NodeId>,
}

impl Arcflow {
    /// The virtual root.
    pub const ROOT: NodeId = NodeId(0);

    /// A model with nothing but its root.
    pub fn new(resources: Vec<Resource>) -> Arcflow {
        let mut model = Arcflow {
            consumers: "methods".into(),
            occurrences: "calls".into(),
            origins: Origins::default(),
            correction: Correction::None,
            window: None,
            has_other_times: false,
            beside: Vec::new(),
            whole: None,
            base: vec![0.0; resources.len()],
            resources,
            names: Vec::new(),
            by_name: HashMap::default(),
            nodes: Vec::new(),
            children: HashMap::default(),
        };
        let consumer = model.consumer("(root)");
        model.nodes.push(Node { parent: Self::ROOT, consumer, kind: Kind::Root, n: 0 });
        model
    }

    /// The resources, in the order of every list of figures.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The consumer of a name.
    pub fn consumer(&mut self, name: &str) -> Consumer {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let consumer = Consumer(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), consumer);
        consumer
    }

    /// The names of all consumers.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The origins, of `all`, of methods that it has a consumer for.
    pub fn origins_of(&self, all: impl IntoIterator<Item = (String, Origin)>) -> Origins {
        Origins::new(all.into_iter().filter(|(name, _)| self.has_consumer(name)))
    }

    /// Whether there is a consumer of a name.
    pub(crate) fn has_consumer(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// An empty model of the same resources that calls things as this one does.
    #[must_use]
    pub fn emptied(&self) -> Arcflow {
        let mut model = self.emptied_with(self.resources.clone());
        model.whole = self.sampled();
        model
    }

    /// What samples are samples of: running time or, where another event than CPU time was sampled, the first resource.
    pub(crate) fn sampled_resource(&self) -> Option<usize> {
        let samples = self.resource("samples")?;
        self.resource("running").or(Some(0)).filter(|&resource| resource != samples)
    }

    /// Sums of the model, or of the one that it is a part of, if its times are samples.
    pub(crate) fn sampled(&self) -> Option<Sampled> {
        let sums = || {
            let (running, samples) = (self.sampled_resource()?, self.resource("samples")?);
            let sum = |r: usize| self.ids().map(|id| self.base(id)[r]).sum();
            let (samples, running): (f64, f64) = (sum(samples), sum(running));
            // Of samples in probes their time is known: each sample is a share of all of them.
            let probes = self.resource("probes").map_or(0.0, sum);
            let all = if running > 0.0 { samples * (1.0 + probes / running) } else { samples };
            Some(Sampled { samples: all, ns: running + probes })
        };
        self.whole.or_else(sums)
    }

    /// The same of other resources.
    #[must_use]
    pub(crate) fn emptied_with(&self, resources: Vec<Resource>) -> Arcflow {
        let mut model = Arcflow::new(resources);
        model.consumers.clone_from(&self.consumers);
        model.occurrences.clone_from(&self.occurrences);
        model.origins = self.origins.clone();
        model.correction.clone_from(&self.correction);
        model.window = self.window;
        model.has_other_times = self.has_other_times;
        model.beside.clone_from(&self.beside);
        model
    }

    /// Gives a context another name, which no context beside it may have.
    pub(crate) fn rename(&mut self, id: NodeId, name: &str) {
        let consumer = self.consumer(name);
        let Node { parent, consumer: before, kind, .. } = self.nodes[id.0 as usize];
        self.children.remove(&child_key(parent, kind, before));
        let other = self.children.insert(child_key(parent, kind, consumer), id);
        debug_assert!(other.is_none_or(|other| other == id), "two contexts of one name");
        self.nodes[id.0 as usize].consumer = consumer;
    }

    /// A consumer's name.
    pub fn name(&self, consumer: Consumer) -> &str {
        &self.names[consumer.0 as usize]
    }

    /// The child of a node with this consumer, made if it is not there.
    pub fn child(&mut self, parent: NodeId, kind: Kind, consumer: Consumer) -> NodeId {
        let next = NodeId(self.nodes.len() as u32);
        let id = *self.children.entry(child_key(parent, kind, consumer)).or_insert(next);
        if id == next {
            self.nodes.push(Node { parent, consumer, kind, n: 0 });
            self.base.resize(self.base.len() + self.resources.len(), 0.0);
        }
        id
    }

    /// The child of a node with this consumer, if it is there.
    pub(crate) fn existing_child(&self, parent: NodeId, kind: Kind, consumer: Consumer) -> Option<NodeId> {
        self.children.get(&child_key(parent, kind, consumer)).copied()
    }

    /// Adds resources that others have recorded; nothing has consumed any yet.
    pub(crate) fn widen(&mut self, more: Vec<Resource>) {
        let (before, after) = (self.resources.len(), self.resources.len() + more.len());
        let mut base = vec![0.0; self.nodes.len() * after];
        for (to, from) in base.chunks_mut(after.max(1)).zip(self.base.chunks(before.max(1))) {
            to[..before].copy_from_slice(&from[..before]);
        }
        self.base = base;
        self.beside.extend(more.first().map(|resource| resource.name.clone()));
        self.resources.extend(more);
    }

    /// Makes room for so many nodes more at most.
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes);
        self.base.reserve(nodes * self.resources.len());
        self.children.reserve(nodes);
    }

    /// All nodes, parents before children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Counts that a context was met `times` more.
    pub fn meet(&mut self, id: NodeId, times: u64) {
        let n = &mut self.nodes[id.0 as usize].n;
        *n = n.saturating_add(times);
    }

    /// What a node consumed itself, by resource.
    pub fn base(&self, id: NodeId) -> &[f64] {
        let width = self.resources.len();
        &self.base[id.0 as usize * width..][..width]
    }

    /// The same, to be changed.
    pub fn base_mut(&mut self, id: NodeId) -> &mut [f64] {
        let width = self.resources.len();
        &mut self.base[id.0 as usize * width..][..width]
    }

    /// What each node consumed with all below it: node by node, resources within.
    pub fn cum(&self) -> Vec<f64> {
        let width = self.resources.len();
        let mut cum = self.base.clone();
        for i in (1..self.nodes.len()).rev() {
            let parent = self.nodes[i].parent.0 as usize;
            for r in 0..width {
                cum[parent * width + r] += cum[i * width + r];
            }
        }
        cum
    }

    /// Adds another model with the same resources, context by context.
    pub fn merge(&mut self, other: &Arcflow) {
        assert_eq!(self.resources, other.resources, "models of different resources");
        self.origins.merge(&other.origins);
        self.correction = self.correction.with(&other.correction);
        self.window = self.window.filter(|window| other.window == Some(*window));
        self.has_other_times |= other.has_other_times;
        let mut places = vec![Self::ROOT; other.nodes.len()];
        for (i, node) in other.nodes.iter().enumerate() {
            let id = if i == 0 {
                Self::ROOT
            } else {
                let consumer = self.consumer(other.name(node.consumer));
                self.child(places[node.parent.0 as usize], node.kind, consumer)
            };
            places[i] = id;
            self.meet(id, node.n);
            let base = other.base(NodeId(i as u32)).to_vec();
            for (sum, value) in self.base_mut(id).iter_mut().zip(base) {
                *sum += value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_merge_and_add_up() {
        let wall = || vec![Resource { name: "wall".into(), unit: "ns".into() }];
        let build = |names: &[&str], base: f64| {
            let mut model = Arcflow::new(wall());
            let mut at = Arcflow::ROOT;
            for name in names {
                let consumer = model.consumer(name);
                at = model.child(at, Kind::Method, consumer);
            }
            model.meet(at, 1);
            model.base_mut(at)[0] += base;
            model
        };
        let mut sum = build(&["main", "a"], 2.0);
        sum.merge(&build(&["main", "b", "a"], 3.0));
        sum.merge(&build(&["main", "a"], 4.0));
        assert_eq!(sum.nodes().len(), 5);
        assert_eq!(sum.cum(), [9.0, 9.0, 6.0, 3.0, 3.0]);
        assert_eq!(sum.nodes().iter().map(|n| n.n).collect::<Vec<_>>(), [0, 0, 2, 0, 1]);
    }
}
