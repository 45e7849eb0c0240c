//! What happened since a snapshot: the figures of a profile less those of an earlier copy of it.
//!
//! Contexts of threads are the same if the callers are. A thread that ended in between may have been added to a sum of ended ones: then
//! what it had before is taken from these. A call that was open when the window began counts as begun there, so the counts balance as in any
//! profile, and its time counts from there. The shortest and the longest call of a context are known only where the window has both; else they
//! are left out. What is recorded event by event (objects, remote calls) is not cut; waits are.

use std::collections::{BTreeSet, HashMap};

use instrument_trace::{
    Allocation, Closes, Method, NO_MIN, Profile, RegionTiming, Thread, ThreadKind, Tree, TreeAllocation,
    TreeConsumer, TreeNode,
};

use crate::model::{Arcflow, NodeId};

/// Why there is no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Another process.
    #[error("it is of another process")]
    OtherProcess,
    /// Made after the profile.
    #[error("it is later than the profile")]
    Later,
}

/// Takes from a profile what an earlier snapshot of it has, and notes when the window begins: [`Profile::window_clock`]. Traces must have been
/// replayed, on both sides.
///
/// # Errors
/// They do not belong together.
pub fn since(profile: &mut Profile, mut snapshot: Profile) -> Result<(), Mismatch> {
    if (profile.nonce, profile.pid, profile.start_clock)
        != (snapshot.nonce, snapshot.pid, snapshot.start_clock)
    {
        return Err(Mismatch::OtherProcess);
    }
    if is_later(&snapshot, profile) {
        return Err(Mismatch::Later);
    }
    // An entry that is not timed hides when the last one was: the snapshot may show a later moment than the profile.
    let begin = last_moment(&snapshot).min(last_moment(profile));
    profile.window_clock = begin;
    let key = |thread: &Thread| (thread.copy, thread.ordinal);
    let own = |thread: &&mut Thread| thread.kind == ThreadKind::Thread;
    let mut now: HashMap<(u32, u32), &mut Thread> =
        profile.threads.iter_mut().filter(own).map(|thread| (key(thread), thread)).collect();
    // What is to be taken from sums of ended ones.
    let mut ended: Vec<&mut Thread> = Vec::new();
    for before in &mut snapshot.threads {
        let later = if before.kind == ThreadKind::Thread { now.get_mut(&key(before)) } else { None };
        let open = Open::new(before, later.as_deref(), begin);
        match later {
            Some(later) => {
                subtract(later, before, &open);
                for &(i, ns) in &open.still {
                    let frame = &mut later.stack[i];
                    frame.since += if frame.since == 0 { 0 } else { ns };
                }
                later.start = later.start.max(begin);
                sum_up(later);
            }
            None => {
                open.count_as_begun(before);
                ended.push(before);
            }
        }
    }
    drop(now);
    let mut changed = BTreeSet::new();
    for before in ended {
        let sums = profile.threads.iter().enumerate();
        let sums = sums.filter_map(|(i, sum)| sum.adds_up(before).map(|rank| (rank, i)));
        let Some((_, i)) = sums.min() else { continue };
        let after = &mut profile.threads[i];
        subtract(after, before, &Open::default());
        if let (ThreadKind::Ended(all), ThreadKind::Ended(some)) = (after.kind, before.kind) {
            after.kind = ThreadKind::Ended(all.saturating_sub(some));
        }
        changed.insert(i);
    }
    changed.into_iter().for_each(|i| sum_up(&mut profile.threads[i]));
    profile.dropped = profile.dropped.saturating_sub(snapshot.dropped);
    profile.pauses.retain(|pause| pause.end == 0 || pause.end > begin);
    profile.pauses.iter_mut().for_each(|pause| pause.start = pause.start.max(begin));
    subtract_regions(&mut profile.regions, &snapshot.regions);
    Ok(())
}

/// Whether what only grows is more in the first one.
fn is_later(one: &Profile, other: &Profile) -> bool {
    let calls = |profile: &Profile| {
        let mut calls: HashMap<u32, u64> = HashMap::new();
        for (&id, method) in profile.threads.iter().flat_map(|thread| &thread.methods) {
            let sum = calls.entry(id).or_default();
            *sum = sum.saturating_add(method.entries);
        }
        calls
    };
    if one.beat_clock > other.beat_clock || one.shutdown_clock > other.shutdown_clock {
        return true;
    }
    if one.dropped < other.dropped {
        return false;
    }
    let others = calls(other);
    calls(one).into_iter().any(|(id, entries)| entries > others.get(&id).copied().unwrap_or(0))
}

/// The latest moment that a profile shows.
fn last_moment(profile: &Profile) -> u64 {
    let events = profile.threads.iter().map(|thread| thread.last_event).max().unwrap_or(0);
    events.max(profile.beat_clock).max(profile.shutdown_clock)
}

/// The calls of a thread that were open when the window began.
#[derive(Default)]
struct Open {
    methods: HashMap<u32, u64>,
    /// By context of the earlier tree: how many, and the time until then of those that have ended since.
    nodes: HashMap<u32, (u64, u64)>,
    /// The frames that are open still, by their place on the stack, and their time until then.
    still: Vec<(usize, u64)>,
}

impl Open {
    fn new(before: &Thread, later: Option<&&mut Thread>, begin: u64) -> Open {
        let mut open = Open::default();
        if before.kind != ThreadKind::Thread || before.end != 0 {
            return open;
        }
        let mut is_open = true;
        for (i, frame) in before.stack.iter().enumerate() {
            // Frames above one that has ended have ended. The recorder moves those on that stay by what it takes for itself.
            is_open &= later.is_some_and(|later| {
                let taken = later.pause.saturating_sub(before.pause);
                later.stack.get(i).is_some_and(|same| {
                    (same.node, same.id, same.link) == (frame.node, frame.id, frame.link)
                        && same.since <= frame.since.saturating_add(taken)
                })
            });
            if !frame.link {
                *open.methods.entry(frame.id).or_default() += 1;
            }
            let of = open.nodes.entry(frame.node).or_default();
            of.0 += 1;
            let ns = if frame.since == 0 { 0 } else { begin.saturating_sub(frame.since) };
            if is_open {
                open.still.push((i, ns));
            } else {
                of.1 += ns;
            }
        }
        open
    }

    /// For a thread that is not found again: then its tree is taken from that of others as a whole.
    fn count_as_begun(&self, before: &mut Thread) {
        for (id, calls) in &self.methods {
            if let Some(method) = before.methods.get_mut(id) {
                method.entries = method.entries.saturating_sub(*calls);
                method.open = method.open.saturating_sub(*calls);
            }
        }
        let Some(tree) = &mut before.tree else { return };
        for (&number, &(calls, ns)) in &self.nodes {
            if let Some(node) = tree.node_mut(number) {
                node.entries = node.entries.saturating_sub(calls);
                node.open = node.open.saturating_sub(calls);
                node.ns = node.ns.saturating_add(ns);
            }
        }
    }
}

fn sum_up(thread: &mut Thread) {
    thread.sum_up();
    thread.methods.retain(|_, method| *method != Method::default());
}

/// Takes the figures of an earlier thread from a later one.
fn subtract(later: &mut Thread, before: &Thread, open: &Open) {
    later.dropped = later.dropped.saturating_sub(before.dropped);
    later.pause = later.pause.saturating_sub(before.pause);
    if let (Some(samples), Some(earlier)) = (&mut later.samples, &before.samples) {
        samples.subtract(earlier);
    }
    if let (Some(tree), Some(earlier)) = (&mut later.tree, &before.tree) {
        let places = places(tree, earlier);
        for (i, node) in earlier.nodes.iter().enumerate() {
            let Some(target) = tree.node_mut(places[i + 1]) else { continue };
            let (calls, ns) = open.nodes.get(&(i as u32 + 1)).copied().unwrap_or_default();
            subtract_node(target, node, calls, ns);
        }
        for (&node, durations) in &earlier.durations {
            let place = places.get(node as usize).copied().unwrap_or(0);
            if let Some(of) = tree.durations.get_mut(&place) {
                of.subtract(durations);
            }
        }
        tree.durations_left_out = tree.durations_left_out.saturating_sub(earlier.durations_left_out);
        tree.recursive = tree.recursive.saturating_sub(earlier.recursive);
        let made = before.tree_allocations.iter();
        let earlier: HashMap<_, _> = made
            .map(|made| {
                ((places.get(made.node as usize).copied().unwrap_or(0), made.class), (made.count, made.bytes))
            })
            .collect();
        for made in &mut later.tree_allocations {
            let (count, bytes) = earlier.get(&(made.node, made.class)).copied().unwrap_or_default();
            let TreeAllocation { count: all, bytes: all_bytes, .. } = made;
            *all = all.saturating_sub(count);
            *all_bytes = all_bytes.saturating_sub(bytes);
        }
        later.tree_allocations.retain(|made| made.count > 0);
        return;
    }
    for (id, method) in &before.methods {
        if let Some(target) = later.methods.get_mut(id) {
            *target = difference(target, method, open.methods.get(id).copied().unwrap_or(0));
        }
    }
    for made in &before.allocations {
        let same = |other: &&mut Allocation| (other.method, other.class) == (made.method, made.class);
        if let Some(target) = later.allocations.iter_mut().find(same) {
            target.count = target.count.saturating_sub(made.count);
        }
    }
    later.allocations.retain(|made| made.count > 0);
}

/// By number of an earlier context: that of the same one in the later tree; 0: there is none.
fn places(tree: &Tree, earlier: &Tree) -> Vec<u32> {
    let known: HashMap<(u32, TreeConsumer), u32> =
        tree.nodes.iter().enumerate().map(|(i, node)| ((node.parent, node.consumer), i as u32 + 1)).collect();
    let mut places = vec![0];
    for node in &earlier.nodes {
        let parent = places.get(node.parent as usize).copied().unwrap_or(0);
        let is_lost = node.parent != 0 && parent == 0;
        let place = known.get(&(parent, node.consumer)).copied().filter(|_| !is_lost);
        places.push(place.unwrap_or(0));
    }
    places
}

/// `open` calls count as begun in the window; `ns` is their time before it, as far as the later node has it.
fn subtract_node(later: &mut TreeNode, before: &TreeNode, open: u64, ns: u64) {
    let Method { entries, closes, unmatched, open, bytecodes, samples } =
        difference(&later.counts(), &before.counts(), open);
    // What has ended in the meantime may be among the ended, or among what was open at the end of its thread.
    let taken = before.ns.saturating_add(ns);
    let left = taken.saturating_sub(later.ns);
    let was_idle = before.closes.total() == 0;
    let is_known = was_idle || (later.min < before.min && later.max > before.max);
    *later = TreeNode {
        entries,
        closes,
        unmatched,
        open,
        bytecodes,
        ns: later.ns.saturating_sub(taken),
        min: if is_known { later.min } else { NO_MIN },
        max: if is_known { later.max } else { 0 },
        sum_squares: (later.sum_squares - before.sum_squares).max(0.0),
        timed: later.timed.saturating_sub(before.timed),
        samples,
        cpu_ns: later.cpu_ns.saturating_sub(before.cpu_ns),
        variance: (later.variance - before.variance).max(0.0),
        open_ns: later.open_ns.saturating_sub(before.open_ns.saturating_add(left)),
        ..*later
    };
}

fn difference(later: &Method, before: &Method, open: u64) -> Method {
    let closes = |of: fn(&Closes) -> u64| of(&later.closes).saturating_sub(of(&before.closes));
    Method {
        entries: later.entries.saturating_add(open).saturating_sub(before.entries),
        closes: Closes {
            exits: closes(|c| c.exits),
            unwinds: closes(|c| c.unwinds),
            aborted: closes(|c| c.aborted),
            unclosed: closes(|c| c.unclosed),
        },
        unmatched: later.unmatched.saturating_sub(before.unmatched),
        // Those of threads that had ended before are not of the window.
        open: later.open.saturating_sub(before.open.saturating_sub(open)),
        bytecodes: later.bytecodes.saturating_sub(before.bytecodes),
        samples: later.samples.saturating_sub(before.samples),
    }
}

fn subtract_regions(later: &mut [RegionTiming], before: &[RegionTiming]) {
    let key = |timing: &RegionTiming| (timing.copy, timing.thread, timing.number);
    let before: HashMap<_, _> = before.iter().map(|timing| (key(timing), timing)).collect();
    for timing in later {
        let Some(before) = before.get(&key(timing)) else { continue };
        let is_known = timing.min < before.min && timing.max > before.max;
        timing.passages = timing.passages.saturating_sub(before.passages);
        timing.ns = timing.ns.saturating_sub(before.ns);
        timing.left_otherwise = timing.left_otherwise.saturating_sub(before.left_otherwise);
        if !is_known {
            (timing.min, timing.max) = (NO_MIN, 0);
        }
    }
}

/// A model without the contexts that nothing happened in, nor below them.
#[must_use]
pub fn without_idle(model: &Arcflow) -> Arcflow {
    let mut is_used: Vec<bool> = model
        .ids()
        .map(|id| {
            let is_counted =
                matches!(model.node(id).kind, crate::model::Kind::Method | crate::model::Kind::Link);
            is_counted && model.node(id).n > 0 || model.base(id).iter().any(|value| *value != 0.0)
        })
        .collect();
    for i in (1..is_used.len()).rev() {
        is_used[model.nodes()[i].parent.0 as usize] |= is_used[i];
    }
    model.with_contexts(|NodeId(i)| is_used[i as usize])
}
