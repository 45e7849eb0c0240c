//! Replays traces: from the events of a thread to its calls, as seed 001's appendix does it, and from the calls to the
//! same calling context tree that a tree recorder writes.
//!
//! Events are read piece by piece, so that memory depends on contexts and depth, not on the length of the trace.
//!
//! | | |
//! |---|---|
//! | [`profile`] | replays every trace of a profile, in parallel; then a trace is a tree like any other |
//! | [`thread`], [`tree`] | the same for one thread |
//! | [`replay`], [`replay_part`] | tells a [`Visitor`] what happened, call by call |

mod calls;
mod contexts;
mod pieces;
mod tree_builder;

use std::collections::HashMap;

use instrument_trace::{Damage, Error, Frame, Profile, Source, Thread, Tree, TreeConsumer};
use rayon::prelude::*;

pub use calls::{CallEnd, Key, Visitor};
pub(crate) use contexts::{Contexts, Finder, Place, code, consumer};
pub use pieces::{Open, Replayed, Start, replay, replay_part};
pub(crate) use tree_builder::{Call, TreeBuilder};
pub use tree_builder::{Limits, LinkMade};

/// Replays the traces of a profile, threads in parallel, with the limits that a recorder has. Links get the contexts in
/// which they were made; what is wrong with the traces is added to [`Profile::damage`].
///
/// # Errors
/// When the source fails.
pub fn profile(source: &(impl Source + Sync), profile: &mut Profile) -> Result<(), Error> {
    let threads = profile.threads.par_iter_mut().filter(|t| is_to_replay(t));
    let replayed = threads.map(|t| thread(source, t, &Limits::default()));
    let found = replayed.collect::<Result<Vec<_>, Error>>()?;
    add(profile, found);
    Ok(())
}

/// Whether a thread has a trace whose tree is not known.
pub(crate) fn is_to_replay(thread: &Thread) -> bool {
    !thread.pieces.is_empty() && thread.tree.is_none()
}

/// Gives a profile what its traces tell beside the figures of their threads.
pub(crate) fn add(profile: &mut Profile, all: Vec<Found>) {
    let mut made: HashMap<(u32, u32), LinkMade> = HashMap::new();
    for found in all {
        profile.damage.extend(found.damage);
        made.extend(found.links.into_iter().map(|link| ((link.copy, link.link), link)));
    }
    for link in profile.links.iter_mut().filter(|link| link.node == 0) {
        if let Some(made) = made.get(&(link.copy, link.number)).filter(|made| made.thread == link.thread) {
            link.node = made.node;
        }
    }
}

/// What the events of a thread tell beside its figures.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Links, each where it was made first.
    pub links: Vec<LinkMade>,
    /// What is wrong with the trace.
    pub damage: Vec<Damage>,
}

/// Replays the trace of a thread, and gives the thread what a tree recorder would have given it: tree, stack, counts,
/// allocations, last event and pause. To be called once.
///
/// # Errors
/// When the source fails.
pub fn thread(source: &impl Source, thread: &mut Thread, limits: &Limits) -> Result<Found, Error> {
    let mut builder = TreeBuilder::new(limits);
    let replayed = replay(source, thread, &mut builder)?;
    Ok(fill(thread, replayed, builder))
}

/// Gives a thread what its trace told to the builder of a tree.
pub(crate) fn fill(thread: &mut Thread, replayed: Replayed<Call>, builder: TreeBuilder) -> Found {
    let mut found = Found { links: builder.links_made(thread), damage: replayed.damage };
    thread.last_event = replayed.last_event;
    // The recorder sums these up itself, too; an event of it may have found no room, or be lost with its piece.
    thread.pause = thread.pause.max(replayed.pause);
    thread.dropped = thread.dropped.max(replayed.dropped).saturating_add(builder.dropped());
    thread.stack = replayed.open.iter().map(|open| frame(open, builder.frame(&open.call))).collect();
    let (mut tree, allocations) = builder.finish();
    for frame in &thread.stack {
        if let Some(node) = tree.node_mut(frame.node) {
            node.open += 1;
        }
    }
    thread.tree = Some(tree);
    thread.tree_allocations = allocations;
    thread.sum_up();
    found.damage.shrink_to_fit();
    found
}

fn frame<C>(open: &Open<C>, (node, since): (u32, u64)) -> Frame {
    let (id, link) = match open.consumer {
        TreeConsumer::Link(link) => (link, true),
        consumer => (consumer.method().unwrap_or(0), false),
    };
    Frame { id, pending: open.pending, link, node, since }
}

/// The tree of a thread's trace. Frames that are open in the end count up to the last event.
///
/// # Errors
/// When the source fails.
pub fn tree(source: &impl Source, thread: &Thread) -> Result<Tree, Error> {
    let mut replayed = thread.clone();
    self::thread(source, &mut replayed, &Limits::default())?;
    replayed.measure_open(replayed.last_event);
    Ok(replayed.tree.unwrap_or_default())
}
