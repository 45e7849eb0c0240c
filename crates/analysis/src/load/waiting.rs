//! Where threads waited: their contexts, as part of the tree of their thread.

use instrument_trace::{Profile, ThreadKind, TreeConsumer};

use super::MethodNames;
use crate::hash::HashMap;
use crate::model::{Arcflow, Kind, NodeId};
use crate::waits::{UNKNOWN_THREAD, Waits, plain_name};

/// What is needed to find the place of a wait.
pub(crate) struct Placing<'a> {
    pub(crate) profile: &'a Profile,
    /// The process.
    pub(crate) process: NodeId,
    /// By index of the thread; `None`: it is left out.
    pub(crate) threads: &'a [Option<NodeId>],
    /// Whether threads of a name are wanted that have recorded nothing.
    pub(crate) wanted: &'a dyn Fn(&str) -> bool,
    pub(crate) method: MethodNames<'a>,
}

/// Where waiting time is known, by indices of resources.
#[derive(Clone, Copy)]
pub(crate) enum Parts {
    /// What is running is waiting as far as it was spent in a wait.
    Within {
        /// Thread time that is not waiting.
        running: usize,
        /// Calls that block.
        waiting: usize,
    },
    /// Running time holds no waits; waiting are calls that block, and other waits.
    Beside(usize),
}

/// Adds ns contended and in `Object.wait`, to the resources of these indices.
pub(crate) fn add(
    model: &mut Arcflow,
    (contended, object_wait): (usize, usize),
    parts: Option<Parts>,
    placing: &Placing<'_>,
    waits: &Waits,
) {
    let mut threads = Threads::new(placing);
    let mut contexts: HashMap<(NodeId, u32), NodeId> = HashMap::default();
    let mut sorted: Vec<_> = waits.contexts.iter().collect();
    // The same profile gives the same model.
    sorted.sort_unstable_by_key(|(key, _)| **key);
    let mut places: HashMap<NodeId, f64> = HashMap::default();
    for (&(copy, number, context), &(contended_ns, waiting_ns)) in sorted {
        let Some(thread) = threads.place(model, copy, number) else { continue };
        let place = match contexts.get(&(thread, context)) {
            Some(&known) => known,
            None => {
                let chain = placing.profile.copies.get(&copy).map(|copy| copy.contexts.chain(context));
                let mut chain: Vec<TreeConsumer> = chain.into_iter().flatten().collect();
                chain.reverse();
                let mut place = thread;
                for consumer in chain {
                    let (kind, name) = match consumer {
                        TreeConsumer::Method(id) => (Kind::Method, (placing.method)(copy, id)),
                        TreeConsumer::Deeper => (Kind::Deeper, "(deeper)".to_owned()),
                        TreeConsumer::Link(_) => continue,
                    };
                    let consumer = model.consumer(&name);
                    place = model.child(place, kind, consumer);
                }
                contexts.insert((thread, context), place);
                place
            }
        };
        let base = model.base_mut(place);
        base[contended] += contended_ns as f64;
        base[object_wait] += waiting_ns as f64;
        let waited = contended_ns as f64 + waiting_ns as f64;
        match parts {
            Some(Parts::Within { running, waiting }) => {
                // The calls that block are no running time already.
                let waited = waited.min(base[running]);
                base[running] -= waited;
                base[waiting] += waited;
            }
            Some(Parts::Beside(_)) => *places.entry(place).or_default() += waited,
            None => {}
        }
    }
    if let Some(Parts::Beside(waiting)) = parts {
        // The clock timed calls that block: that is the same wait.
        for (place, waited) in places {
            let base = &mut model.base_mut(place)[waiting];
            *base = base.max(waited);
        }
    }
}

/// The nodes of threads by their Java numbers.
struct Threads<'a> {
    placing: &'a Placing<'a>,
    by_ordinal: HashMap<(u32, u32), usize>,
    /// By copy: those that ended.
    ended: HashMap<u32, usize>,
    known: HashMap<(u32, u32), Option<NodeId>>,
}

impl<'a> Threads<'a> {
    fn new(placing: &'a Placing<'a>) -> Threads<'a> {
        let threads = || placing.profile.threads.iter().enumerate();
        let living = threads().filter(|(_, thread)| thread.kind == ThreadKind::Thread);
        let ended = threads().filter(|(_, thread)| thread.kind != ThreadKind::Thread);
        Threads {
            placing,
            by_ordinal: living.map(|(i, thread)| ((thread.copy, thread.ordinal), i)).collect(),
            ended: ended.map(|(i, thread)| (thread.copy, i)).collect(),
            known: HashMap::default(),
        }
    }

    fn place(&mut self, model: &mut Arcflow, copy: u32, number: u32) -> Option<NodeId> {
        if let Some(known) = self.known.get(&(copy, number)) {
            return *known;
        }
        let java = self.placing.profile.java_thread(copy, number);
        let ordinal = java.map_or(0, |thread| thread.ordinal);
        let recorded = self.by_ordinal.get(&(copy, ordinal)).filter(|_| ordinal != 0);
        // The figures of one that has none any more are among those of the ended.
        let recorded = recorded.or_else(|| self.ended.get(&copy).filter(|_| ordinal != 0));
        let place = match recorded {
            Some(&index) => self.placing.threads[index],
            None => {
                let name = java.map_or(UNKNOWN_THREAD, plain_name);
                (self.placing.wanted)(name).then(|| {
                    let consumer = model.consumer(name);
                    let place = model.child(self.placing.process, Kind::Thread, consumer);
                    model.meet(place, 1);
                    place
                })
            }
        };
        self.known.insert((copy, number), place);
        place
    }
}
