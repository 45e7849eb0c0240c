//! A tree of whole stacks as one of recorded methods.

use super::frames::{Frame, Frames};
use crate::hash::HashMap;
use instrument_trace::{Thread, ThreadSamples, Tree, TreeConsumer, TreeNode};

/// Where a frame of the stacks is in the new tree.
#[derive(Clone, Copy)]
struct Place {
    /// The number of the node; 0: no recorded method called it.
    node: u32,
    /// Whether the frame itself is there, and not a caller of it: what it calls, it calls itself.
    is_frame: bool,
}

/// The tree of a thread's recorded methods, and the samples that none of its contexts has. No sample is lost.
pub(super) fn thread(thread: &Thread, frames: &Frames) -> (Tree, ThreadSamples) {
    let mut tree = Tree { has_samples: true, ..Tree::default() };
    let mut samples = thread.samples.unwrap_or_default();
    let mut known: HashMap<(u32, u32), u32> = HashMap::default();
    let mut child = |tree: &mut Tree, parent: u32, id: u32| {
        *known.entry((parent, id)).or_insert_with(|| {
            tree.nodes.push(TreeNode::new(TreeConsumer::Method(id), parent));
            tree.nodes.len() as u32
        })
    };
    let root = Place { node: 0, is_frame: false };
    let stacks = thread.tree.as_ref().map_or(&[][..], |tree| &tree.nodes);
    let mut places: Vec<Place> = Vec::with_capacity(stacks.len());
    for node in stacks {
        let caller = (node.parent as usize).checked_sub(1).map_or(root, |parent| places[parent]);
        let place = match node.consumer.method().map_or(Frame::None, |id| frames.of(id)) {
            Frame::Method(id) => Place { node: child(&mut tree, caller.node, id), is_frame: true },
            Frame::Call(id) if caller.is_frame => {
                Place { node: child(&mut tree, caller.node, id), is_frame: false }
            }
            Frame::Call(_) | Frame::None => Place { is_frame: false, ..caller },
        };
        places.push(place);
        let met = match (place.node as usize).checked_sub(1) {
            Some(index) => &mut tree.nodes[index].samples,
            None => &mut samples.in_no_call,
        };
        *met = met.saturating_add(node.samples);
    }
    (tree, samples)
}
