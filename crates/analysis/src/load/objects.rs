//! The figures of biographies, in the model.
//!
//! A context is a chain of methods that begins in its thread, without link frames: figures of objects made by a task stand below the
//! thread that ran it. Those of threads that ended stand below the ended threads.

use instrument_trace::{Profile, ThreadKind, TreeConsumer};

use super::MethodNames;
use crate::hash::HashMap;
use crate::heap::object_lifetimes::ObjectLifetimes;
use crate::model::{Arcflow, Kind, NodeId};

/// Indices of the resources.
pub(crate) struct Columns {
    pub(crate) live: usize,
    pub(crate) live_bytes: usize,
    /// Allocations and bytes, unless they were counted as well.
    pub(crate) made: Option<(usize, Option<usize>)>,
}

/// What the placing needs to know.
pub(crate) struct Placing<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) methods: MethodNames<'a>,
    /// Where the threads are, by index; `None`: it is left out.
    pub(crate) threads: Vec<Option<NodeId>>,
    /// Where objects are that no thread is known for; `None`: they are left out.
    pub(crate) process: Option<NodeId>,
}

pub(crate) fn add(
    model: &mut Arcflow,
    columns: &Columns,
    placing: &Placing<'_>,
    biographies: &ObjectLifetimes,
) {
    let profile = placing.profile;
    let mut threads: HashMap<(u32, u32), Option<NodeId>> = HashMap::default();
    for (thread, &place) in profile.threads.iter().zip(&placing.threads) {
        let ordinal = if thread.kind == ThreadKind::Thread { thread.ordinal } else { 0 };
        threads.insert((thread.copy, ordinal), place);
    }
    let mut places: HashMap<(NodeId, u32, u32), NodeId> = HashMap::default();
    for (key, figures) in &biographies.groups {
        let thread = threads.get(&(key.copy, key.thread)).copied().unwrap_or(placing.process);
        let Some(thread) = thread else { continue };
        let place = *places.entry((thread, key.copy, key.context)).or_insert_with(|| {
            let contexts = profile.copies.get(&key.copy).map(|copy| &copy.contexts);
            let mut chain: Vec<_> = contexts.into_iter().flat_map(|all| all.chain(key.context)).collect();
            chain.reverse();
            chain.into_iter().fold(thread, |place, consumer| {
                let (kind, name) = match consumer {
                    TreeConsumer::Method(id) => (Kind::Method, (placing.methods)(key.copy, id)),
                    _ => (Kind::Deeper, "(deeper)".to_owned()),
                };
                let consumer = model.consumer(&name);
                model.child(place, kind, consumer)
            })
        });
        let base = model.base_mut(place);
        base[columns.live] += figures.live as f64;
        base[columns.live_bytes] += figures.live_bytes as f64;
        if let Some((allocations, bytes)) = columns.made {
            base[allocations] += figures.objects as f64;
            if let Some(bytes) = bytes {
                base[bytes] += figures.bytes as f64;
            }
        }
    }
}
