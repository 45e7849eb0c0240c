//! Consumers and the arcs between them: what xprof and xarc print (seed 001).
//!
//! A consumer has as many contexts as there are ways to it, and some may lie within others (recursion). A context is
//! *topmost* if no context of the same consumer is above it. Then, for consumers A and C:
//!
//! - self(calls), self(base): sums over all contexts of A;
//! - self(cum): the sum of cum over the topmost contexts of A: nothing is counted twice;
//! - parent(calls), parent(base): the same by caller; parent(cum): cum of the topmost contexts by their caller, so that a
//!   nested call has 0: what it consumed is there already, with the call that it is part of;
//! - child(calls), child(base): by callee; child(cum) over A -> C: cum of the contexts of C that A called, less the cum of the
//!   next contexts of A at or below each of them: that is consumed by A itself once more.
//!
//! With this the four invariants hold for every tree (see [`crate::invariants`]): below a context of A, cum is base plus the cum
//! of its children; what these lose is what the nested contexts of A account for in turn.

use crate::hash::HashMap;
use crate::model::{Arcflow, Consumer, Kind, NodeId};

/// A consumer of one kind: a thread and a method may have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArcId(pub u32);

/// What is known of a consumer irrespective of context.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    pub kind: Kind,
    /// Its name.
    pub consumer: Consumer,
    /// self(calls).
    pub calls: u64,
    /// Contexts in which it was met.
    pub contexts: u32,
}

/// One consumer calling another.
#[derive(Debug, Clone, Copy)]
pub struct Arc {
    /// The caller.
    pub parent: FunctionId,
    /// The callee.
    pub child: FunctionId,
    /// Calls over this arc.
    pub calls: u64,
}

/// All consumers of a model, and all arcs between them.
#[derive(Debug, Clone)]
pub struct Arcs {
    width: usize,
    functions: Vec<Function>,
    self_base: Vec<f64>,
    self_cum: Vec<f64>,
    arcs: Vec<Arc>,
    base: Vec<f64>,
    parent_cum: Vec<f64>,
    child_cum: Vec<f64>,
    /// By callee and by caller: where the arcs of each begin, and the arcs.
    by_child: (Vec<u32>, Vec<ArcId>),
    by_parent: (Vec<u32>, Vec<ArcId>),
    of_node: Vec<FunctionId>,
}

impl Arcs {
    /// The virtual root.
    pub const ROOT: FunctionId = FunctionId(0);

    /// Takes one walk over the tree:
    ///
    /// 1. on the way down, the place of the innermost open context of each consumer is kept;
    /// 2. a context without one is topmost: its cum goes to its consumer and to the arc that led to it;
    /// 3. for a nested one, the child through which the enclosing context led to it loses its cum.
    pub fn new(model: &Arcflow) -> Arcs {
        let width = model.resources().len();
        let cum = model.cum();
        let children = model.children();
        let mut build = Builder::new(model, width);
        // The path to the current node: it, the next of its children, and the place that its consumer had before.
        let mut path: Vec<(NodeId, usize, Option<u32>)> = Vec::new();
        let mut open: Vec<Option<u32>> = vec![None; build.arcs.functions.len()];
        path.push((Arcflow::ROOT, 0, None));
        open[0] = Some(0);
        build.root(model, &cum);
        while let Some((node, next, _)) = path.last_mut() {
            let node = *node;
            let Some(&child) = children.of(node).get(*next) else {
                let (_, _, before) = path.pop().expect("a path that is not empty");
                open[build.arcs.of_node[node.0 as usize].0 as usize] = before;
                continue;
            };
            *next += 1;
            let function = build.arcs.of_node[child.0 as usize];
            let place = path.len() as u32;
            let before = open[function.0 as usize].replace(place);
            path.push((child, 0, before));
            let within = before.map(|enclosing| path[enclosing as usize + 1].0);
            build.context(model, node, child, within, &cum);
        }
        build.finish()
    }

    /// The consumers; the first is the virtual root.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// A consumer.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// Ids of all consumers but the virtual root.
    pub fn ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (1..self.functions.len() as u32).map(FunctionId)
    }

    /// The consumer of a context.
    pub fn of(&self, node: NodeId) -> FunctionId {
        self.of_node[node.0 as usize]
    }

    /// self(base), by resource.
    pub fn self_base(&self, id: FunctionId) -> &[f64] {
        &self.self_base[id.0 as usize * self.width..][..self.width]
    }

    /// self(cum), by resource.
    pub fn self_cum(&self, id: FunctionId) -> &[f64] {
        &self.self_cum[id.0 as usize * self.width..][..self.width]
    }

    pub fn arc(&self, id: ArcId) -> &Arc {
        &self.arcs[id.0 as usize]
    }

    /// The arcs that lead to a consumer.
    pub fn parents(&self, id: FunctionId) -> &[ArcId] {
        slice(&self.by_child, id)
    }

    /// The arcs that leave a consumer.
    pub fn children(&self, id: FunctionId) -> &[ArcId] {
        slice(&self.by_parent, id)
    }

    /// parent(base) for the callee, child(base) for the caller.
    pub fn base(&self, id: ArcId) -> &[f64] {
        &self.base[id.0 as usize * self.width..][..self.width]
    }

    /// parent(cum), for the callee.
    pub fn parent_cum(&self, id: ArcId) -> &[f64] {
        &self.parent_cum[id.0 as usize * self.width..][..self.width]
    }

    /// child(cum), for the caller.
    pub fn child_cum(&self, id: ArcId) -> &[f64] {
        &self.child_cum[id.0 as usize * self.width..][..self.width]
    }

    /// What everything consumed together, by resource.
    pub fn total(&self) -> &[f64] {
        self.self_cum(Self::ROOT)
    }
}

fn slice((starts, all): &(Vec<u32>, Vec<ArcId>), id: FunctionId) -> &[ArcId] {
    let at = id.0 as usize;
    &all[starts[at] as usize..starts[at + 1] as usize]
}

struct Builder {
    arcs: Arcs,
    by_ends: HashMap<(FunctionId, FunctionId), ArcId>,
}

impl Builder {
    fn new(model: &Arcflow, width: usize) -> Builder {
        let mut ids = HashMap::default();
        let mut functions = Vec::new();
        let of_node = model.nodes().iter().map(|node| {
            *ids.entry((node.kind, node.consumer)).or_insert_with(|| {
                functions.push(Function { kind: node.kind, consumer: node.consumer, calls: 0, contexts: 0 });
                FunctionId(functions.len() as u32 - 1)
            })
        });
        let of_node = of_node.collect();
        let figures = vec![0.0; functions.len() * width];
        let arcs = Arcs {
            width,
            self_base: figures.clone(),
            self_cum: figures,
            functions,
            arcs: Vec::new(),
            base: Vec::new(),
            parent_cum: Vec::new(),
            child_cum: Vec::new(),
            by_child: (Vec::new(), Vec::new()),
            by_parent: (Vec::new(), Vec::new()),
            of_node,
        };
        Builder { arcs, by_ends: HashMap::default() }
    }

    fn root(&mut self, model: &Arcflow, cum: &[f64]) {
        let width = self.arcs.width;
        self.arcs.functions[0].calls = model.node(Arcflow::ROOT).n;
        self.arcs.functions[0].contexts = 1;
        self.arcs.self_base[..width].copy_from_slice(model.base(Arcflow::ROOT));
        self.arcs.self_cum[..width].copy_from_slice(&cum[..width]);
    }

    fn arc(&mut self, parent: FunctionId, child: FunctionId) -> ArcId {
        let arcs = &mut self.arcs;
        *self.by_ends.entry((parent, child)).or_insert_with(|| {
            arcs.arcs.push(Arc { parent, child, calls: 0 });
            for figures in [&mut arcs.base, &mut arcs.parent_cum, &mut arcs.child_cum] {
                figures.resize(arcs.arcs.len() * arcs.width, 0.0);
            }
            ArcId(arcs.arcs.len() as u32 - 1)
        })
    }

    /// Accounts for `node`, called by `parent`. `within`: it is nested, and this is the child through which the next context of the
    /// same consumer led to it.
    fn context(
        &mut self,
        model: &Arcflow,
        parent: NodeId,
        node: NodeId,
        within: Option<NodeId>,
        cum: &[f64],
    ) {
        let width = self.arcs.width;
        let function = self.arcs.of(node);
        let arc = self.arc(self.arcs.of(parent), function);
        let through = within.map(|child| self.arc(function, self.arcs.of(child)));
        let n = model.node(node).n;
        let arcs = &mut self.arcs;
        let met = &mut arcs.functions[function.0 as usize];
        met.calls = met.calls.saturating_add(n);
        met.contexts += 1;
        let calls = &mut arcs.arcs[arc.0 as usize].calls;
        *calls = calls.saturating_add(n);

        let (at, arc) = (function.0 as usize * width, arc.0 as usize * width);
        for (r, (&base, &cum)) in model.base(node).iter().zip(&cum[node.0 as usize * width..]).enumerate() {
            arcs.self_base[at + r] += base;
            arcs.base[arc + r] += base;
            arcs.child_cum[arc + r] += cum;
            match through {
                None => {
                    arcs.self_cum[at + r] += cum;
                    arcs.parent_cum[arc + r] += cum;
                }
                Some(through) => arcs.child_cum[through.0 as usize * width + r] -= cum,
            }
        }
    }

    fn finish(mut self) -> Arcs {
        let sorted = |end: fn(&Arc) -> FunctionId| {
            let mut starts = vec![0u32; self.arcs.functions.len() + 1];
            for arc in &self.arcs.arcs {
                starts[end(arc).0 as usize + 1] += 1;
            }
            for i in 0..self.arcs.functions.len() {
                starts[i + 1] += starts[i];
            }
            let mut all: Vec<ArcId> = (0..self.arcs.arcs.len() as u32).map(ArcId).collect();
            all.sort_by_key(|id| end(&self.arcs.arcs[id.0 as usize]));
            (starts, all)
        };
        let (by_child, by_parent) = (sorted(|arc| arc.child), sorted(|arc| arc.parent));
        self.arcs.by_child = by_child;
        self.arcs.by_parent = by_parent;
        self.arcs
    }
}
