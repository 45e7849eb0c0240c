//! The contexts of a thread whose trace was replayed, so that parts of it can be replayed again with the same numbers.

use instrument_trace::TreeConsumer;

use super::tree_builder::{Children, DEEPER, code, consumer, pair};

/// All contexts that the builder of a tree has made; number 0 is what lies above them.
pub(crate) struct Contexts {
    pub(super) depth: usize,
    /// Of each context: its caller, its code.
    pub(super) places: Vec<(u32, u32)>,
    pub(super) children: Children,
    /// The one node of calls past a limit; 0: there is none.
    pub(super) deeper: u32,
}

/// The context of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: u32,
    /// It is past a limit: its time is that of the last caller that is not.
    pub(crate) is_deep: bool,
}

impl Contexts {
    /// The context of a consumer under its caller, as the builder has given it.
    pub(crate) fn find(&self, of: TreeConsumer, caller: Option<Place>, depth: usize) -> Place {
        let caller = caller.unwrap_or(Place { node: 0, is_deep: false });
        let child = |parent: u32, code: u32| self.children.get(&pair(parent, code)).copied();
        if !caller.is_deep
            && depth < self.depth
            && let Some(node) = child(caller.node, code(of))
        {
            return Place { node, is_deep: false };
        }
        Place { node: child(self.deeper, code(of)).unwrap_or(self.deeper), is_deep: true }
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
