//! From calls to the calling context tree. What a call touches of its context is one cache line.

use instrument_trace::{Closes, NO_MIN, Thread, Tree, TreeAllocation, TreeConsumer, TreeNode};

use super::calls::{CallEnd, Visitor};
use super::contexts::{ABOVE_ALL, Children, Contexts, DEEPER, Place, code, consumer, pair};
use crate::hash::HashMap;

/// How large trees may become. Calls past a limit are *deeper*: counted per method only, as a tree recorder does it.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Frames that contexts may have above each other.
    pub depth: usize,
    /// Contexts of a thread.
    pub contexts: usize,
    /// Pairs of context and class that are kept apart; objects of more count as dropped.
    pub allocations: usize,
    /// Links of a thread; more that are made count as dropped.
    pub links: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 10_000, contexts: 1_000_000, allocations: 1 << 22, links: 1 << 20 }
    }
}

/// Where a link was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkMade {
    /// Number of the link.
    pub link: u32,
    /// Copy of the runtime that gave it.
    pub copy: u32,
    /// Ordinal of the thread that made it.
    pub thread: u32,
    /// The context; 0: none.
    pub node: u32,
    /// Clock when it was made first.
    pub clock: u64,
}

/// What the hot path touches of a context. Index 0 is what lies above all contexts.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Hot {
    squares: u128,
    entries: u64,
    exits: u64,
    ns: u64,
    min: u64,
    max: u64,
    /// The child that was entered last: its code and its number.
    last_child: (u32, u32),
}

const EMPTY: Hot =
    Hot { squares: 0, entries: 0, exits: 0, ns: 0, min: NO_MIN, max: 0, last_child: (u32::MAX, 0) };

/// Beside the contexts that a limit allows there may be this many methods and unmatched events past it.
const PAST_LIMIT: usize = 1 << 20;

/// A call of the tree builder.
pub(crate) struct Call {
    /// Clock at its entry, less all pauses before it.
    start: u64,
    node: u32,
    /// It is past a limit.
    deep: bool,
}

pub(crate) struct TreeBuilder {
    limits: Limits,
    hot: Vec<Hot>,
    /// Of each context: its caller, its code.
    places: Vec<(u32, u32)>,
    /// Closes other than exits, and unmatched events.
    rare: HashMap<u32, (Closes, u64)>,
    children: Children,
    /// The one node of calls past a limit; 0: there is none yet.
    deeper: u32,
    pause: u64,
    made: HashMap<u64, usize>,
    allocations: Vec<TreeAllocation>,
    links: HashMap<u32, (u32, u64)>,
    /// Events that found no room.
    dropped: u64,
}

impl Call {
    /// Whose call it is.
    pub(crate) fn place(&self) -> Place {
        Place { node: self.node, is_deep: self.deep }
    }
}

impl TreeBuilder {
    pub(crate) fn new(limits: &Limits) -> TreeBuilder {
        // Numbers of nodes have 32 bits.
        let contexts = limits.contexts.min(u32::MAX as usize - 2 * PAST_LIMIT);
        TreeBuilder {
            limits: Limits { contexts, ..limits.clone() },
            hot: vec![EMPTY],
            places: vec![ABOVE_ALL],
            rare: HashMap::default(),
            children: HashMap::default(),
            deeper: 0,
            pause: 0,
            made: HashMap::default(),
            allocations: Vec::new(),
            links: HashMap::default(),
            dropped: 0,
        }
    }

    /// The context of a consumer under its caller, and whether it is past a limit.
    #[inline(always)]
    fn context(&mut self, consumer: TreeConsumer, caller: Option<&Call>, depth: usize) -> (u32, bool) {
        let (parent, deep) = caller.map_or((0, false), |call| (call.node, call.deep));
        if !deep
            && depth < self.limits.depth
            && let Some(node) = self.child(parent, code(consumer), self.limits.contexts)
        {
            return (node, false);
        }
        (self.deep_child(code(consumer)), true)
    }

    #[inline(always)]
    fn child(&mut self, parent: u32, code: u32, limit: usize) -> Option<u32> {
        let (last, child) = self.hot[parent as usize].last_child;
        if last == code { Some(child) } else { self.other_child(parent, code, limit) }
    }

    /// A child that was not entered last: known, or new if there may be one more.
    #[inline(never)]
    fn other_child(&mut self, parent: u32, code: u32, limit: usize) -> Option<u32> {
        let next = self.hot.len();
        let child = match self.children.get(&pair(parent, code)) {
            Some(&known) => known,
            None if next > limit => return None,
            None => {
                self.children.insert(pair(parent, code), next as u32);
                self.hot.push(EMPTY);
                self.places.push((parent, code));
                next as u32
            }
        };
        self.hot[parent as usize].last_child = (code, child);
        Some(child)
    }

    /// The node of a method past the limits. Where there are too many of them, the deeper node has their counts.
    #[cold]
    fn deep_child(&mut self, code: u32) -> u32 {
        let limit = self.limits.contexts + PAST_LIMIT;
        if self.deeper == 0 {
            self.deeper = self.child(0, DEEPER, usize::MAX).unwrap_or(0);
        }
        self.child(self.deeper, code, limit).unwrap_or(self.deeper)
    }

    /// Node and start of a call that is open in the end, as a shadow stack has them.
    pub(super) fn frame(&self, call: &Call) -> (u32, u64) {
        // The recorder moves the starts of open calls on when it takes time for itself.
        (call.node, if call.deep { 0 } else { call.start.saturating_add(self.pause) })
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn links_made(&self, thread: &Thread) -> Vec<LinkMade> {
        let (copy, thread) = (thread.copy, thread.ordinal);
        let links = self.links.iter();
        let links = links.map(|(&link, &(node, clock))| LinkMade { link, copy, thread, node, clock });
        let mut links = links.collect::<Vec<_>>();
        links.sort_unstable_by_key(|made| (made.clock, made.link));
        links
    }

    /// Its contexts, by which the same calls are found again; it takes no more calls then.
    pub(crate) fn take_contexts(&mut self) -> Contexts {
        Contexts {
            depth: self.limits.depth,
            places: self.places.clone(),
            children: std::mem::take(&mut self.children),
            deeper: self.deeper,
        }
    }

    pub(super) fn finish(mut self) -> (Tree, Vec<TreeAllocation>) {
        drop(std::mem::take(&mut self.children));
        let contexts = (0..).zip(self.hot.iter().zip(&self.places)).skip(1);
        let nodes = contexts.map(|(number, (hot, &(parent, code)))| {
            let (closes, unmatched) = self.rare.get(&number).copied().unwrap_or_default();
            TreeNode {
                entries: hot.entries,
                closes: Closes { exits: hot.exits, ..closes },
                unmatched,
                ns: hot.ns,
                min: hot.min,
                max: hot.max,
                sum_squares: hot.squares as f64,
                ..TreeNode::new(consumer(code), parent)
            }
        });
        let tree = Tree { nodes: nodes.collect(), ..Tree::default() };
        (tree, self.allocations)
    }
}

impl Visitor for TreeBuilder {
    type Call = Call;

    #[inline(always)]
    fn enter(
        &mut self,
        consumer: TreeConsumer,
        _pending: bool,
        caller: Option<&Call>,
        depth: usize,
        at: u64,
    ) -> Call {
        let (node, deep) = self.context(consumer, caller, depth);
        self.hot[node as usize].entries += 1;
        Call { start: at.saturating_sub(self.pause), node, deep }
    }

    #[inline(always)]
    fn leave(&mut self, call: Call, _consumer: TreeConsumer, how: CallEnd, _depth: usize, at: u64) {
        let hot = &mut self.hot[call.node as usize];
        if !call.deep && how != CallEnd::Surplus {
            let ns = at.saturating_sub(self.pause).saturating_sub(call.start);
            hot.ns = hot.ns.saturating_add(ns);
            hot.min = hot.min.min(ns);
            hot.max = hot.max.max(ns);
            hot.squares = hot.squares.saturating_add(u128::from(ns) * u128::from(ns));
        }
        if how == CallEnd::Exit {
            hot.exits += 1;
        } else {
            self.leave_otherwise(call.node, how);
        }
    }

    fn moved(&mut self, call: &mut Call, consumer: TreeConsumer, caller: Option<&Call>, depth: usize) {
        let (node, deep) = self.context(consumer, caller, depth);
        if !call.deep && !deep && node != call.node {
            self.hot[call.node as usize].entries -= 1;
            self.hot[node as usize].entries += 1;
            call.node = node;
        }
    }

    fn unmatched(&mut self, consumer: TreeConsumer, by: Option<&Call>, depth: usize, _at: u64) {
        let (node, _) = self.context(consumer, by, depth);
        self.rare.entry(node).or_default().1 += 1;
    }

    fn made(&mut self, class: u32, bytes: u64, by: Option<&Call>, _at: u64) {
        let node = by.map_or(0, |call| call.node);
        let next = self.allocations.len();
        let room = next < self.limits.allocations;
        let at = match self.made.entry(pair(node, class)) {
            std::collections::hash_map::Entry::Occupied(known) => *known.get(),
            std::collections::hash_map::Entry::Vacant(free) if room => {
                self.allocations.push(TreeAllocation { node, class, count: 0, bytes: 0 });
                *free.insert(next)
            }
            _ => {
                self.dropped += 1;
                return;
            }
        };
        let made = &mut self.allocations[at];
        made.count += 1;
        made.bytes = made.bytes.saturating_add(bytes);
    }

    fn link_made(&mut self, link: u32, by: Option<&Call>, at: u64) {
        let node = by.map_or(0, |call| call.node);
        if self.links.len() < self.limits.links || self.links.contains_key(&link) {
            self.links.entry(link).or_insert((node, at));
        } else {
            self.dropped += 1;
        }
    }

    fn pause(&mut self, ns: u64, _at: u64) {
        self.pause = self.pause.saturating_add(ns);
    }
}

impl TreeBuilder {
    #[cold]
    fn leave_otherwise(&mut self, node: u32, how: CallEnd) {
        let (closes, _) = self.rare.entry(node).or_default();
        match how {
            CallEnd::Exit => {}
            CallEnd::Unwind => closes.unwinds += 1,
            CallEnd::Aborted | CallEnd::Surplus => closes.aborted += 1,
            CallEnd::Unclosed => closes.unclosed += 1,
        }
    }
}
