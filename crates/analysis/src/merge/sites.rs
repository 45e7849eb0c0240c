//! Where remote calls are in the model of all processes: the contexts that made them, and the link frames that they
//! were served under.

use instrument_trace::{LinkKind, Profile, RemoteCall, ThreadKind, TreeConsumer};

use super::calls::NONE;
use crate::hash::{HashMap, HashSet};
use crate::load::place::Places;
use crate::model::{Arcflow, NodeId};

/// What was served under one link by one thread, or by all that share the link.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub(crate) party: usize,
    /// Its nodes in the model; one but where it stands below methods.
    pub(crate) nodes: Vec<NodeId>,
    /// Calls, as the tree has them; 0 where a call may have come in several times: then its records tell how many there were.
    pub(crate) entries: u64,
}

/// The frames of all parties.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub(crate) all: Vec<Frame>,
    pub(crate) of_node: HashMap<NodeId, u32>,
}

impl Frames {
    /// The frame that each node of the model stands below, or [`NONE`].
    pub(crate) fn of_all(&self, model: &Arcflow) -> Vec<u32> {
        let mut of: Vec<u32> = Vec::with_capacity(model.nodes().len());
        for id in model.ids() {
            let above = of.get(model.node(id).parent.0 as usize).copied().unwrap_or(NONE);
            of.push(self.of_node.get(&id).copied().unwrap_or(above));
        }
        of
    }
}

/// A chain of methods below a thread or below a link frame, link frames of other kinds left out: its caller's chain,
/// and its consumer.
type Step = (u32, TreeConsumer);

/// The chains around a frame.
#[derive(Debug, Clone)]
struct Around {
    frame: u32,
    /// The one that begins there.
    chain: u32,
    /// Those that it stands below: of the thread, or of the methods of a container that had the call before it was told
    /// of.
    above: Vec<u32>,
}

/// The sites of one party.
pub(crate) struct Sites<'a> {
    profile: &'a Profile,
    threads: HashMap<(u32, u32), usize>,
    tops: Vec<NodeId>,
    /// The place of threads that are in no region.
    unknown: NodeId,
    /// Links, with their copies, that several threads serve one call under: all have one frame.
    shared: HashSet<(u32, u32)>,
    /// By [`Sites::key`]: the frame, and the chains around it.
    frames: HashMap<(usize, u32), Around>,
    /// By thread: the chain of the thread itself.
    outermost: Vec<u32>,
    steps: HashMap<Step, u32>,
    /// Of each chain: where it is.
    places: Vec<NodeId>,
    /// Where links were made, as traces tell.
    links: HashMap<(u32, u32), NodeId>,
    /// Places of contexts that were looked up before.
    known: HashMap<(u32, u32, u32), NodeId>,
}

impl<'a> Sites<'a> {
    /// Adds the frames of the party to `frames`.
    pub(crate) fn new(
        party: usize,
        profile: &'a Profile,
        places: &Places,
        shared: HashSet<(u32, u32)>,
        frames: &mut Frames,
    ) -> Sites<'a> {
        let kinds = profile.links.iter().map(|link| ((link.copy, link.number), link.kind));
        let kinds: HashMap<_, _> = kinds.collect();
        let mut sites = Sites {
            profile,
            threads: HashMap::default(),
            tops: Vec::new(),
            unknown: places.unknown,
            shared,
            frames: HashMap::default(),
            outermost: Vec::new(),
            steps: HashMap::default(),
            places: Vec::new(),
            links: HashMap::default(),
            known: HashMap::default(),
        };
        for (at, thread) in profile.threads.iter().enumerate() {
            let ordinal = if thread.kind == ThreadKind::Thread { thread.ordinal } else { 0 };
            sites.threads.insert((thread.copy, ordinal), at);
            // A thread that is left out has its tree nowhere.
            let is_out = places.nodes[at].first() == Some(&Arcflow::ROOT);
            sites.tops.push(if is_out { Arcflow::ROOT } else { places.threads[at] });
            let outermost = sites.chain(sites.tops[at]);
            sites.outermost.push(outermost);
            let Some(tree) = thread.tree.as_ref().filter(|_| !is_out) else { continue };
            let mut chains: Vec<u32> = Vec::with_capacity(tree.nodes.len());
            for (node, &place) in tree.nodes.iter().zip(&places.nodes[at]) {
                let above = (node.parent as usize).checked_sub(1).map_or(outermost, |parent| chains[parent]);
                let chain = match node.consumer {
                    TreeConsumer::Link(number)
                        if kinds.get(&(thread.copy, number)) == Some(&LinkKind::Served) =>
                    {
                        let link = sites.key(at, thread.copy, number);
                        let is_shared = sites.shared.contains(&(thread.copy, number));
                        let entries = if is_shared { 0 } else { node.entries };
                        sites.frame(party, link, above, place, entries, frames)
                    }
                    TreeConsumer::Link(_) => above,
                    consumer => sites.step(above, consumer, place),
                };
                chains.push(chain);
            }
        }
        for link in profile.links.iter().filter(|link| link.kind == LinkKind::RemoteCall && link.node != 0) {
            let thread = sites.thread(link.copy, link.thread);
            let place = thread.and_then(|at| places.nodes[at].get(link.node as usize - 1));
            if let Some(&place) = place.filter(|&&place| place != Arcflow::ROOT) {
                sites.links.insert((link.copy, link.number), place);
            }
        }
        sites
    }

    /// What the frame of a link is known by: its thread, if it has one of its own there.
    fn key(&self, thread: usize, copy: u32, link: u32) -> (usize, u32) {
        let is_shared = self.shared.contains(&(copy, link));
        (if is_shared { usize::MAX - copy as usize } else { thread }, link)
    }

    fn chain(&mut self, place: NodeId) -> u32 {
        self.places.push(place);
        self.places.len() as u32 - 1
    }

    fn step(&mut self, above: u32, consumer: TreeConsumer, place: NodeId) -> u32 {
        let next = self.places.len() as u32;
        let chain = *self.steps.entry((above, consumer)).or_insert(next);
        if chain == next {
            self.places.push(place);
        }
        chain
    }

    fn frame(
        &mut self,
        party: usize,
        link: (usize, u32),
        above: u32,
        place: NodeId,
        entries: u64,
        frames: &mut Frames,
    ) -> u32 {
        let places = &mut self.places;
        let around = self.frames.entry(link).or_insert_with(|| {
            frames.all.push(Frame { party, ..Frame::default() });
            places.push(place);
            let (frame, chain) = (frames.all.len() as u32 - 1, places.len() as u32 - 1);
            Around { frame, chain, above: Vec::new() }
        });
        if !around.above.contains(&above) {
            around.above.push(above);
        }
        let (frame, chain) = (around.frame, around.chain);
        let of = &mut frames.all[frame as usize];
        of.entries = of.entries.saturating_add(entries);
        if !of.nodes.contains(&place) {
            of.nodes.push(place);
            frames.of_node.insert(place, frame);
        }
        chain
    }

    /// The index of the thread that made a link; those that ended are one.
    fn thread(&self, copy: u32, ordinal: u32) -> Option<usize> {
        self.threads.get(&(copy, ordinal)).or_else(|| self.threads.get(&(copy, 0))).copied()
    }

    /// The index of the thread of a call: 0 is none, and not those that ended.
    fn thread_of(&self, call: &RemoteCall) -> Option<usize> {
        if call.thread == 0 { None } else { self.thread(call.copy, call.thread) }
    }

    /// The frame that a call was served under, or [`NONE`].
    pub(crate) fn served(&self, call: &RemoteCall) -> u32 {
        let thread = self.thread_of(call);
        let frame = thread.and_then(|thread| self.frames.get(&self.key(thread, call.copy, call.link)));
        frame.map_or(NONE, |around| around.frame)
    }

    /// The context that made a call, `within` being the link that its thread served at the time, or 0. The root: its
    /// thread is left out.
    pub(crate) fn made(&mut self, call: &RemoteCall, within: u32) -> NodeId {
        if let Some(&place) = self.links.get(&(call.copy, call.link)).filter(|_| call.link != 0) {
            return place;
        }
        let Some(thread) = self.thread_of(call) else { return self.unknown };
        if self.tops[thread] == Arcflow::ROOT {
            return Arcflow::ROOT;
        }
        let key = (thread as u32, within, call.context);
        if let Some(&place) = self.known.get(&key) {
            return place;
        }
        let frame = self.frames.get(&self.key(thread, call.copy, within)).filter(|_| within != 0);
        let contexts = self.profile.copies.get(&call.copy).map(|copy| &copy.contexts);
        let mut consumers: Vec<_> = contexts.into_iter().flat_map(|all| all.chain(call.context)).collect();
        consumers.reverse();
        let outermost = self.outermost[thread];
        let chain = match frame {
            Some(around) => self.below(around, outermost, &consumers),
            None => self.walk(outermost, &consumers).0,
        };
        let place = self.places[chain as usize];
        self.known.insert(key, place);
        place
    }

    /// Where callers lead from a chain, and how many of them were found.
    fn walk(&self, from: u32, callers: &[TreeConsumer]) -> (u32, usize) {
        let mut chain = from;
        for (found, &consumer) in callers.iter().enumerate() {
            match self.steps.get(&(chain, consumer)) {
                Some(&next) => chain = next,
                None => return (chain, found),
            }
        }
        (chain, callers.len())
    }

    /// The same of callers of which the outer ones are above a frame, and the others in it: where that fits best.
    fn below(&self, around: &Around, outermost: u32, callers: &[TreeConsumer]) -> u32 {
        let (mut above, mut outer) = (outermost, 0);
        let mut best = None;
        loop {
            if around.above.contains(&above) {
                let (chain, found) = self.walk(around.chain, &callers[outer..]);
                let left = callers.len() - outer - found;
                if best.is_none_or(|(least, _)| left < least) {
                    best = Some((left, chain));
                }
            }
            match callers.get(outer).and_then(|&consumer| self.steps.get(&(above, consumer))) {
                Some(&next) => (above, outer) = (next, outer + 1),
                None => break,
            }
        }
        best.map_or(around.chain, |(_, chain)| chain)
    }
}
