//! The contexts of a thread whose trace was replayed, so that parts of it can be replayed again with the same numbers.

use instrument_trace::{Tree, TreeConsumer};

use crate::hash::HashMap;

/// A code is a method id, or one of these.
const LINK: u32 = 1 << 30;
pub(super) const DEEPER: u32 = 1 << 31;
/// The place of number 0.
pub(super) const ABOVE_ALL: (u32, u32) = (0, u32::MAX);

/// Contexts by caller and code.
pub(super) type Children = HashMap<u64, u32>;

pub(super) fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// A consumer as a number, for [`consumer`].
#[inline(always)]
pub(crate) fn code(consumer: TreeConsumer) -> u32 {
    match consumer {
        TreeConsumer::Method(id) => id,
        TreeConsumer::Link(link) => link | LINK,
        TreeConsumer::Deeper => DEEPER,
    }
}

/// The consumer of a number that [`code`] gave.
pub(crate) fn consumer(code: u32) -> TreeConsumer {
    match code {
        DEEPER => TreeConsumer::Deeper,
        link if link & LINK != 0 => TreeConsumer::Link(link & !LINK),
        id => TreeConsumer::Method(id),
    }
}

/// All contexts that the builder of a tree has made; number 0 is what lies above them.
pub(crate) struct Contexts {
    pub(super) depth: usize,
    /// Of each context: its caller, its code.
    pub(super) places: Vec<(u32, u32)>,
    pub(super) children: Children,
    /// The one node of calls past a limit; 0: there is none.
    pub(super) deeper: u32,
}

/// Finds contexts anew. A caller mostly calls what it has called before: that is looked at first.
pub(crate) struct Finder<'a> {
    contexts: &'a Contexts,
    /// The child of each context that was found last: its code and its number.
    last: Vec<(u32, u32)>,
}

impl Finder<'_> {
    pub(crate) fn new(contexts: &Contexts) -> Finder<'_> {
        // Number 0 is no child: zeros take no time to make.
        Finder { contexts, last: vec![(0, 0); contexts.len()] }
    }

    /// The context of a consumer under its caller, as the builder has given it.
    pub(crate) fn find(&mut self, of: TreeConsumer, caller: Option<Place>, depth: usize) -> Place {
        let caller = caller.unwrap_or(Place { node: 0, is_deep: false });
        if !caller.is_deep
            && depth < self.contexts.depth
            && let Some(node) = self.child(caller.node, code(of))
        {
            return Place { node, is_deep: false };
        }
        let deeper = self.contexts.deeper;
        Place { node: self.child(deeper, code(of)).unwrap_or(deeper), is_deep: true }
    }

    fn child(&mut self, parent: u32, code: u32) -> Option<u32> {
        let last = self.last.get_mut(parent as usize)?;
        if last.0 != code || last.1 == 0 {
            *last = (code, *self.contexts.children.get(&pair(parent, code))?);
        }
        Some(last.1)
    }
}

/// The context of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: u32,
    /// It is past a limit: its time is that of the last caller that is not.
    pub(crate) is_deep: bool,
}

impl Contexts {
    /// The most frames of a context, and the node of calls past a limit: what [`Contexts::of_tree`] needs beside the
    /// tree.
    pub(crate) fn limits(&self) -> (usize, u32) {
        (self.depth, self.deeper)
    }

    /// The contexts from which the tree was made; none: in a tree, a caller does not stand before what it calls.
    pub(crate) fn of_tree(tree: &Tree, (depth, deeper): (usize, u32)) -> Option<Contexts> {
        let places: Vec<_> = [ABOVE_ALL]
            .into_iter()
            .chain(tree.nodes.iter().map(|node| (node.parent, code(node.consumer))))
            .collect();
        let mut children = Children::with_capacity_and_hasher(places.len(), Default::default());
        for (node, &(caller, code)) in (0..).zip(&places).skip(1) {
            if caller >= node {
                return None;
            }
            children.insert(pair(caller, code), node);
        }
        let is_known = (deeper as usize) < places.len();
        is_known.then_some(Contexts { depth, places, children, deeper })
    }

    /// How many numbers there are, with 0.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The caller, whose number is lower.
    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.places.get(node as usize).map_or(0, |place| place.0)
    }

    /// Whose context it is.
    pub(crate) fn consumer(&self, node: u32) -> TreeConsumer {
        consumer(self.places.get(node as usize).map_or(DEEPER, |place| place.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::{Limits, TreeBuilder, Visitor};

    #[test]
    fn contexts_are_found_as_they_were_made() {
        let mut builder = TreeBuilder::new(&Limits { depth: 2, ..Limits::default() });
        let (one, two, three) = (TreeConsumer::Method(1), TreeConsumer::Method(2), TreeConsumer::Link(1));
        // The caller of the fourth is the second, from beneath which a call was taken away; in the same context, but
        // deeper, it is past the limit, as is all that it calls.
        let calls = [(one, None, 0), (two, Some(0), 1), (three, Some(0), 1), (three, Some(1), 1)];
        let calls = [&calls[..], &[(three, Some(1), 2), (one, Some(4), 3), (two, Some(5), 0)]].concat();
        let mut made = Vec::new();
        for &(of, caller, depth) in &calls {
            let call = builder.enter(of, false, caller.map(|at: usize| &made[at]), depth, 1000);
            made.push(call);
        }
        let places: Vec<Place> = made.iter().map(|call| call.place()).collect();
        let is_deep: Vec<_> = places.iter().map(|place| place.is_deep).collect();
        assert_eq!(is_deep, [false, false, false, false, true, true, true]);
        let contexts = builder.take_contexts();
        let found = |contexts: &Contexts| {
            let mut finder = Finder::new(contexts);
            let find = |&(of, caller, depth): &(_, Option<usize>, _)| {
                finder.find(of, caller.map(|at| places[at]), depth)
            };
            calls.iter().map(find).collect::<Vec<_>>()
        };
        assert_eq!(found(&contexts), places);
        // The tree has all that is needed but what no tree says.
        let (tree, _) = builder.finish();
        let again = Contexts::of_tree(&tree, contexts.limits()).unwrap();
        assert_eq!((found(&again), again.len()), (places.clone(), tree.nodes.len() + 1));
        let known = |deeper: usize| Contexts::of_tree(&tree, (2, deeper as u32)).is_some();
        assert_eq!([tree.nodes.len(), tree.nodes.len() + 1].map(known), [true, false]);
    }
}
