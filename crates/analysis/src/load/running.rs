//! Calls that began before the recording: what they call stands beneath them, and they have no figures of their own.

use instrument_trace::{LinkKind, Profile, Tree, TreeConsumer, TreeNode};
use std::collections::HashSet;

/// Takes what the recorder noted of such calls out of the trees: that is when it began and ceased to look at them.
pub(crate) fn silence(profile: &mut Profile) {
    let links = profile.links.iter().filter(|link| link.kind == LinkKind::Running);
    let links: HashSet<(u32, u32)> = links.map(|link| (link.copy, link.number)).collect();
    if links.is_empty() {
        return;
    }
    for thread in &mut profile.threads {
        let copy = thread.copy;
        for node in thread.tree.iter_mut().flat_map(|tree| &mut tree.nodes) {
            if let TreeConsumer::Link(number) = node.consumer
                && links.contains(&(copy, number))
            {
                *node = TreeNode::new(node.consumer, node.parent);
            }
        }
    }
}

/// Which contexts of a tree have no figures of their own: the time of such a one is that of what it calls.
pub(crate) fn silent(tree: &Tree) -> Vec<bool> {
    let is_silent = |node: &TreeNode| {
        matches!(node.consumer, TreeConsumer::Link(_)) && *node == TreeNode::new(node.consumer, node.parent)
    };
    tree.nodes.iter().map(is_silent).collect()
}
