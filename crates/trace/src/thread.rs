//! The figures of a thread, whatever way they were recorded.

use std::collections::BTreeMap;

use crate::format::ENDED_NAME_ROOM;
use crate::method::Method;
use crate::thread_samples::ThreadSamples;
use crate::tree::Tree;

/// Whose figures a [`Thread`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadKind {
    /// One thread.
    Thread,
    /// The sum of this many threads that ended.
    Ended(u64),
}

/// The figures of a thread. Clocks are ns, 0 where they are unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    /// Copy of the runtime that recorded it.
    pub copy: u32,
    /// Number of the thread, or of a sum of ended ones, among those of its copy, from 1; 0 for the sum of those that are in no other.
    pub ordinal: u32,
    /// One thread or many.
    pub kind: ThreadKind,
    /// Name at the first event; of a sum of ended ones that of their pool, with `*` in the place of numbers, if it has one.
    pub name: String,
    /// Clock at the first event.
    pub start: u64,
    /// Clock when the thread was first seen to have ended.
    pub end: u64,
    /// Number of the link that started it; 0: none.
    pub link: u32,
    /// ns that the recorder took for itself; they are left out of every time.
    pub pause: u64,
    /// Clock at the last event; of a trace only after it has been replayed.
    pub last_event: u64,
    /// Events not recorded.
    pub dropped: u64,
    /// Recording stopped before the thread ended.
    pub stopped: bool,
    /// The process ended while the shadow stack was being repaired: calls need not balance here.
    pub in_transition: bool,
    /// Shadow stack, outermost frame first.
    pub stack: Vec<Frame>,
    /// Exits of all methods, where the recorder counts them for the thread: those of each method follow from them.
    pub(crate) exits: Option<u64>,
    /// Figures of contexts and methods that are not there.
    pub(crate) homeless: u64,
    /// So many of these are more than what the methods have (less, if negative): 0 but for a damaged profile, and for one that is being written.
    pub excess_exits: i128,
    /// Counts by method id; those of a tree are the sums over its contexts.
    pub methods: BTreeMap<u32, Method>,
    /// Objects and arrays made, by method.
    pub allocations: Vec<Allocation>,
    /// The calling context tree, if there is one.
    pub tree: Option<Tree>,
    /// What a sampler noted of it beside the samples of its tree, if there was one.
    pub samples: Option<ThreadSamples>,
    /// Objects and arrays made, by node of the tree.
    pub tree_allocations: Vec<TreeAllocation>,
    /// Where the events of a trace are, in their order.
    pub pieces: Vec<Piece>,
}

/// A frame that was open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    /// Method id; of a link frame the number of the link.
    pub id: u32,
    /// A constructor whose super() or this() has not returned.
    pub pending: bool,
    /// Not a method: what lies above runs on behalf of a link.
    pub link: bool,
    /// Number of its node in the tree; 0: there is no tree.
    pub node: u32,
    /// Clock at its entry, moved on by what the recorder took for itself since; 0: this call is not timed.
    pub since: u64,
}

/// Objects or arrays of a class made under one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// Method on top of the shadow stack.
    pub method: Option<u32>,
    /// Number of the class in [`crate::Copy::class_names`].
    pub class: u32,
    /// How many.
    pub count: u64,
}

/// Objects or arrays of a class made in one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeAllocation {
    /// Number of the node of the topmost frame; 0: none.
    pub node: u32,
    /// Number of the class in [`crate::Copy::class_names`].
    pub class: u32,
    /// How many.
    pub count: u64,
    /// Their bytes; classes of unknown size count as 0.
    pub bytes: u64,
}

/// A piece of a thread's events: words for [`crate::Event::decode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// File offset of its first event.
    pub offset: u64,
    /// Clock at its beginning.
    pub clock: u64,
    /// Its number within the thread, from 1.
    pub number: u32,
    /// Room for its events, in bytes.
    pub length: u32,
}

impl Thread {
    pub(crate) fn new(copy: u32, ordinal: u32, kind: ThreadKind) -> Thread {
        Thread {
            copy,
            ordinal,
            kind,
            name: String::new(),
            start: 0,
            end: 0,
            link: 0,
            pause: 0,
            last_event: 0,
            dropped: 0,
            stopped: false,
            in_transition: false,
            stack: Vec::new(),
            exits: None,
            homeless: 0,
            excess_exits: 0,
            methods: BTreeMap::new(),
            allocations: Vec::new(),
            tree: None,
            samples: None,
            tree_allocations: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// Gives each method its exits, where the recorder counts those of all methods: the calls that neither ended in another way nor are open.
    /// If one more has ended or is open than was counted, an event of the topmost frame was being written. To be called once, when all counts are known.
    pub(crate) fn derive_exits(&mut self) {
        let Some(exits) = self.exits else { return };
        let mut known = 0;
        for method in self.methods.values_mut() {
            let left = method.balance();
            known += left;
            method.closes.exits = u64::try_from(left).unwrap_or(0);
        }
        let excess = i128::from(exits) - known;
        match self.stack.last().and_then(|top| self.methods.get_mut(&top.id)) {
            Some(top) if excess == 1 => {
                top.closes.exits =
                    u64::try_from(top.balance() + i128::from(top.closes.exits) + 1).unwrap_or(0);
            }
            _ => self.excess_exits = excess,
        }
    }

    /// Adds to [`crate::TreeNode::open_ns`] the time of the frames that are open, up to a clock: [`Thread::last_event`], or
    /// a later one at which they are known to have been open still. To be called once.
    pub fn measure_open(&mut self, until: u64) {
        let Some(tree) = &mut self.tree else { return };
        for frame in self.stack.iter().filter(|frame| frame.since != 0) {
            if let Some(node) = tree.node_mut(frame.node) {
                node.open_ns = node.open_ns.saturating_add(until.saturating_sub(frame.since));
            }
        }
    }

    /// Fills [`Thread::methods`] and [`Thread::allocations`] from the tree and its allocations, which must have been set.
    pub fn sum_up(&mut self) {
        let Some(tree) = &self.tree else { return };
        self.methods = tree.methods();
        let mut sums: BTreeMap<(Option<u32>, u32), u64> = BTreeMap::new();
        for made in &self.tree_allocations {
            let method = tree.node(made.node).and_then(|node| node.consumer.method());
            let sum = sums.entry((method, made.class)).or_default();
            *sum = sum.saturating_add(made.count);
        }
        let sums = sums.into_iter();
        self.allocations = sums.map(|((method, class), count)| Allocation { method, class, count }).collect();
    }
}

impl Thread {
    /// Whether a recorder adds a thread to this sum of ended ones, if it ends; the smallest number belongs to the sum that it prefers.
    #[must_use]
    pub fn adds_up(&self, thread: &Thread) -> Option<usize> {
        if self.kind == ThreadKind::Thread || self.copy != thread.copy {
            return None;
        }
        let fits = match thread.kind {
            ThreadKind::Ended(_) => return (self.ordinal == thread.ordinal).then_some(0),
            ThreadKind::Thread if self.ordinal == 0 => return Some(usize::MAX),
            ThreadKind::Thread if thread.name.is_empty() => {
                self.name.is_empty() && self.link != 0 && self.link == thread.link
            }
            ThreadKind::Thread => is_in_pool(&self.name, &thread.name),
        };
        fits.then(|| self.name.matches('*').count())
    }
}

/// Whether the name of a thread is that of a pool, in which `*` stands for a number. What a pool's name has no room for is cut off.
fn is_in_pool(pool: &str, name: &str) -> bool {
    let mut rest = name;
    for c in pool.chars() {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest = match rest.strip_prefix(c) {
            Some(same) => same,
            None if c == '*' && after.len() < rest.len() => after,
            None => return false,
        };
    }
    rest.is_empty() && !pool.is_empty() || pool.len() == ENDED_NAME_ROOM as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(name: &str, link: u32) -> Thread {
        Thread { name: name.to_owned(), link, ..Thread::new(1, 7, ThreadKind::Thread) }
    }

    fn sum(ordinal: u32, name: &str, link: u32) -> Thread {
        Thread { name: name.to_owned(), link, ..Thread::new(1, ordinal, ThreadKind::Ended(3)) }
    }

    #[test]
    fn a_thread_belongs_to_the_sum_of_its_pool() {
        let sums = [
            sum(0, "", 0),
            sum(8, "pool-1-thread-*", 0),
            sum(9, "pool-*-thread-*", 0),
            sum(10, "worker", 0),
            sum(11, "", 5),
        ];
        for (name, link, ordinal) in [
            ("pool-1-thread-17", 0, 8),
            ("pool-2-thread-17", 3, 9),
            ("pool-2-thread-1a", 0, 0),
            ("pool-1-thread-", 0, 0),
            ("worker", 5, 10),
            ("", 5, 11),
            ("", 6, 0),
            ("", 0, 0),
        ] {
            let thread = thread(name, link);
            let found = sums.iter().filter_map(|sum| Some((sum.adds_up(&thread)?, sum.ordinal))).min();
            assert_eq!(found.map(|(_, ordinal)| ordinal), Some(ordinal), "{name} {link}");
        }
        assert_eq!(sums[1].adds_up(&sum(8, "", 0)), Some(0));
        assert_eq!(sums[1].adds_up(&sum(9, "pool-1-thread-*", 0)), None);
        assert_eq!(thread("a", 0).adds_up(&thread("a", 0)), None);
    }
}
