//! A thread's calling context tree.

use std::collections::BTreeMap;

use crate::durations::ContextDurations;
use crate::hash::HashMap;
use crate::method::{Closes, Method};

/// [`TreeNode::min`] of a context none of whose calls was timed to its end.
pub const NO_MIN: u64 = i64::MAX as u64;

/// Whose node it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeConsumer {
    /// A method, by its id.
    Method(u32),
    /// What runs on behalf of a link, by its number.
    Link(u32),
    /// Calls past a limit of depth or contexts: its children are methods that are known without their callers.
    Deeper,
}

impl TreeConsumer {
    /// The method id.
    pub fn method(self) -> Option<u32> {
        match self {
            TreeConsumer::Method(id) => Some(id),
            _ => None,
        }
    }
}

/// A context: a consumer under its callers. Times are ns, what was called from it included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeNode {
    /// Whose node it is.
    pub consumer: TreeConsumer,
    /// Number of the node that called it, lower than its own; 0: nothing instrumented did.
    pub parent: u32,
    /// Calls.
    pub entries: u64,
    /// Ends of calls.
    pub closes: Closes,
    /// Events that fitted no frame.
    pub unmatched: u64,
    /// Frames still open: on the shadow stack, or when their thread ended.
    pub open: u64,
    /// Sum over the calls that ended; an estimate if not all of them were timed.
    pub ns: u64,
    /// The shortest that was timed; [`NO_MIN`] if there is none.
    pub min: u64,
    /// The longest that was timed.
    pub max: u64,
    /// Sum of the squares of the calls that ended, ns²; an estimate as `ns` is.
    pub sum_squares: f64,
    /// If only some calls are timed: those that were, and ended; else 0.
    pub timed: u64,
    /// Samples that met it as the innermost recorded call, outside of probes, if there are samples.
    pub samples: u64,
    /// CPU time of the calls that ended, if it is recorded.
    pub cpu_ns: u64,
    /// Variance of `ns`, ns²: 0 if all calls were timed.
    pub variance: f64,
    /// Time of frames that were open when their thread ended, up to its last event. That of frames on the shadow stack
    /// is added by [`crate::Thread::measure_open`].
    pub open_ns: u64,
    /// Instructions that the calls which have ended executed themselves, if that is recorded.
    pub bytecodes: u64,
}

/// A calling context tree. Nodes are numbered from 1: node *n* is at index *n* - 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// Only some calls are timed: times are estimates, with a variance.
    pub sampled: bool,
    /// Nodes have samples, and only calls of methods that block are timed: times are those of these calls alone, and no estimates.
    pub has_samples: bool,
    /// CPU time is recorded.
    pub cpu: bool,
    /// Contexts, callers before what they call.
    pub nodes: Vec<TreeNode>,
    /// The durations of calls, by number of the context, where they are kept.
    pub durations: BTreeMap<u32, ContextDurations>,
    /// Calls of these contexts whose durations found no room.
    pub durations_left_out: u64,
    /// How often recursion got no context, since there was room for few more: what is called within it is in the contexts where it began.
    pub recursive: u64,
}

impl TreeNode {
    /// A context that was never entered.
    pub fn new(consumer: TreeConsumer, parent: u32) -> TreeNode {
        TreeNode {
            consumer,
            parent,
            entries: 0,
            closes: Closes::default(),
            unmatched: 0,
            open: 0,
            ns: 0,
            min: NO_MIN,
            max: 0,
            sum_squares: 0.0,
            timed: 0,
            samples: 0,
            cpu_ns: 0,
            variance: 0.0,
            open_ns: 0,
            bytecodes: 0,
        }
    }

    /// Its counts, as those of a method.
    pub fn counts(&self) -> Method {
        Method {
            entries: self.entries,
            closes: self.closes,
            unmatched: self.unmatched,
            open: self.open,
            bytecodes: self.bytecodes,
            samples: self.samples,
        }
    }

    /// Adds the figures of `other`.
    pub fn add(&mut self, other: &TreeNode) {
        let mut counts = self.counts();
        counts.add(&other.counts());
        let Method { entries, closes, unmatched, open, bytecodes, samples } = counts;
        *self = TreeNode {
            entries,
            closes,
            unmatched,
            open,
            bytecodes,
            ns: self.ns.saturating_add(other.ns),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum_squares: self.sum_squares + other.sum_squares,
            timed: self.timed.saturating_add(other.timed),
            samples,
            cpu_ns: self.cpu_ns.saturating_add(other.cpu_ns),
            variance: self.variance + other.variance,
            open_ns: self.open_ns.saturating_add(other.open_ns),
            ..*self
        };
    }
}

impl Tree {
    /// The node of a number; 0 is none.
    pub fn node(&self, number: u32) -> Option<&TreeNode> {
        self.nodes.get((number as usize).checked_sub(1)?)
    }

    /// The same, to be changed.
    pub fn node_mut(&mut self, number: u32) -> Option<&mut TreeNode> {
        self.nodes.get_mut((number as usize).checked_sub(1)?)
    }

    /// By index, the nodes that stand for calls past a limit, [`TreeConsumer::Deeper`] and what is beneath it: their calls are counted, but
    /// neither timed nor placed under their callers.
    pub fn past_limits(&self) -> Vec<bool> {
        let mut past = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let parent = (node.parent as usize).checked_sub(1);
            past.push(node.consumer == TreeConsumer::Deeper || parent.is_some_and(|parent| past[parent]));
        }
        past
    }

    /// Adds another tree, context by context. Returns the numbers here of its nodes, by their numbers there.
    pub fn absorb(&mut self, other: &Tree) -> Vec<u32> {
        self.sampled |= other.sampled;
        self.has_samples |= other.has_samples;
        self.cpu |= other.cpu;
        let known = self.nodes.iter().enumerate().map(|(i, n)| ((n.parent, n.consumer), i as u32 + 1));
        let mut numbers = known.collect::<HashMap<_, _>>();
        let mut places = vec![0];
        for node in &other.nodes {
            let parent = places.get(node.parent as usize).copied().unwrap_or(0);
            let next = self.nodes.len() as u32 + 1;
            let number = *numbers.entry((parent, node.consumer)).or_insert(next);
            if number == next {
                self.nodes.push(TreeNode::new(node.consumer, parent));
            }
            self.nodes[number as usize - 1].add(node);
            places.push(number);
        }
        for (node, durations) in &other.durations {
            if let Some(&place) = places.get(*node as usize).filter(|place| **place != 0) {
                self.durations.entry(place).or_default().merge(durations);
            }
        }
        self.durations_left_out = self.durations_left_out.saturating_add(other.durations_left_out);
        self.recursive = self.recursive.saturating_add(other.recursive);
        places
    }

    /// Counts by method id.
    pub fn methods(&self) -> BTreeMap<u32, Method> {
        let mut methods: HashMap<u32, Method> = HashMap::default();
        for node in &self.nodes {
            if let TreeConsumer::Method(id) = node.consumer {
                methods.entry(id).or_default().add(&node.counts());
            }
        }
        methods.into_iter().collect()
    }
}
