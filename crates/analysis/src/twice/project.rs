//! A tree of whole stacks as one of recorded methods.

use std::collections::HashSet;

use super::frames::{Frame, Frames};
use crate::hash::HashMap;
use instrument_trace::{Profile, Thread, ThreadSamples, Tree, TreeConsumer, TreeNode};

/// Methods that a recording has outside of all others.
pub(super) struct Outermost(HashSet<u32>);

impl Outermost {
    pub(super) fn of(recorded: &Profile) -> Outermost {
        let nodes =
            recorded.threads.iter().filter_map(|thread| thread.tree.as_ref()).flat_map(|tree| &tree.nodes);
        Outermost(nodes.filter(|node| node.parent == 0).filter_map(|node| node.consumer.method()).collect())
    }
}

/// Where a frame of the stacks is in the new tree.
#[derive(Clone, Copy)]
struct Place {
    /// The number of the node; 0: no recorded method called it.
    node: u32,
    /// Whether the frame itself is there, and not a caller of it: what it calls, it calls itself.
    is_frame: bool,
    /// Whether the recording has it, too, if both are parts of one run: calls that were open when that began are not in it.
    has_begun: bool,
}

/// The tree of a thread's recorded methods, and the samples that none of its contexts has. No sample is lost. `outermost`: of a recording whose program
/// ran before; calls that were open then are not in it, so what they call stands by itself here as well.
pub(super) fn thread(
    thread: &Thread,
    frames: &Frames,
    outermost: Option<&Outermost>,
) -> (Tree, ThreadSamples) {
    let mut tree = Tree { has_samples: true, ..Tree::default() };
    let mut samples = thread.samples.unwrap_or_default();
    let mut known: HashMap<(u32, u32), u32> = HashMap::default();
    let mut child = |tree: &mut Tree, parent: u32, id: u32| {
        *known.entry((parent, id)).or_insert_with(|| {
            tree.nodes.push(TreeNode::new(TreeConsumer::Method(id), parent));
            tree.nodes.len() as u32
        })
    };
    let root = Place { node: 0, is_frame: false, has_begun: outermost.is_none() };
    let stacks = thread.tree.as_ref().map_or(&[][..], |tree| &tree.nodes);
    let mut places: Vec<Place> = Vec::with_capacity(stacks.len());
    for node in stacks {
        let mut caller = (node.parent as usize).checked_sub(1).map_or(root, |parent| places[parent]);
        let frame = node.consumer.method().map_or(Frame::None, |id| frames.of(id));
        if let (Frame::Method(id), false, Some(outermost)) = (frame, caller.has_begun, outermost)
            && outermost.0.contains(&id)
        {
            caller = Place { has_begun: true, ..root };
        }
        let place = match frame {
            Frame::Method(id) => Place { node: child(&mut tree, caller.node, id), is_frame: true, ..caller },
            Frame::Call(id) if caller.is_frame => {
                Place { node: child(&mut tree, caller.node, id), is_frame: false, ..caller }
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
    (without_unmet(tree), samples)
}

/// Without contexts that no sample met, nor what they called.
fn without_unmet(tree: Tree) -> Tree {
    let mut sums: Vec<u64> = tree.nodes.iter().map(|node| node.samples).collect();
    for i in (0..sums.len()).rev() {
        if let Some(parent) = (tree.nodes[i].parent as usize).checked_sub(1) {
            sums[parent] = sums[parent].saturating_add(sums[i]);
        }
    }
    let mut nodes = Vec::new();
    let mut numbers: Vec<u32> = Vec::with_capacity(sums.len());
    for (node, sum) in tree.nodes.into_iter().zip(sums) {
        let parent = (node.parent as usize).checked_sub(1).map_or(0, |parent| numbers[parent]);
        if sum > 0 {
            nodes.push(TreeNode { parent, ..node });
        }
        // Of one that goes nobody asks.
        numbers.push(nodes.len() as u32);
    }
    Tree { nodes, ..tree }
}
