//! The tree of a model, walked without recursion, as a whole or thread by thread.

use crate::model::{Arcflow, Kind, NodeId};
use std::collections::HashMap;

/// A step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Down into a node.
    Enter(NodeId),
    /// Up from it, when all below it has been walked.
    Leave(NodeId),
}

/// A model and its way down.
pub(super) struct Tree<'m> {
    pub(super) model: &'m Arcflow,
    /// First child and next sibling of each node; the root, which is neither, stands for none.
    links: Vec<(NodeId, NodeId)>,
}

/// What happened in one thread, or outside of all threads: what lies below its node, but for other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Track<'m> {
    pub(super) root: NodeId,
    /// Number of its process, from 0: those that have tracks, in their order.
    pub(super) process: usize,
    /// Number of the track within its process, from 0.
    pub(super) number: usize,
    /// Name of its process; empty if it has none.
    pub(super) process_name: &'m str,
    pub(super) name: &'m str,
}

impl<'m> Tree<'m> {
    pub(super) fn new(model: &'m Arcflow) -> Tree<'m> {
        let none = Arcflow::ROOT;
        let mut links = vec![(none, none); model.nodes().len()];
        for (i, node) in model.nodes().iter().enumerate().skip(1).rev() {
            let parent = node.parent.0 as usize;
            links[i].1 = links[parent].0;
            links[parent].0 = NodeId(i as u32);
        }
        Tree { model, links }
    }

    pub(super) fn name(&self, id: NodeId) -> &'m str {
        self.model.name(self.model.node(id).consumer)
    }

    /// Walks everything, children in the order in which they were met.
    pub(super) fn walk(&self) -> impl Iterator<Item = Step> {
        self.steps(Arcflow::ROOT, |_| true)
    }

    /// Walks the nodes of a track, its root among them.
    pub(super) fn walk_track(&self, track: Track<'_>) -> impl Iterator<Item = Step> {
        self.steps(track.root, |id| !starts_track(self.model, id))
    }

    /// The nodes of a track except its root.
    pub(super) fn nodes(&self, track: Track<'_>) -> impl Iterator<Item = NodeId> {
        self.walk_track(track).filter_map(move |step| match step {
            Step::Enter(id) if id != track.root => Some(id),
            _ => None,
        })
    }

    fn steps(&self, from: NodeId, wanted: impl Fn(NodeId) -> bool) -> impl Iterator<Item = Step> {
        let find = move |mut id: NodeId| {
            while id != Arcflow::ROOT && !wanted(id) {
                id = self.links[id.0 as usize].1;
            }
            Some(id).filter(|&id| id != Arcflow::ROOT)
        };
        let mut next = Some(Step::Enter(from));
        std::iter::from_fn(move || {
            let step = next?;
            next = match step {
                Step::Enter(id) => {
                    Some(find(self.links[id.0 as usize].0).map_or(Step::Leave(id), Step::Enter))
                }
                Step::Leave(id) if id == from => None,
                Step::Leave(id) => {
                    let parent = Step::Leave(self.model.node(id).parent);
                    Some(find(self.links[id.0 as usize].1).map_or(parent, Step::Enter))
                }
            };
            Some(step)
        })
    }

    /// All threads; and what lies outside of threads, if there is anything.
    pub(super) fn tracks(&self) -> Vec<Track<'m>> {
        let model = self.model;
        // The process that each node belongs to: itself, one above, or the root.
        let mut owners = vec![Arcflow::ROOT; model.nodes().len()];
        // Number of each process that has tracks, and how many.
        let mut processes: HashMap<NodeId, (usize, usize)> = HashMap::new();
        let mut tracks = Vec::new();
        for (i, node) in model.nodes().iter().enumerate() {
            let root = NodeId(i as u32);
            owners[i] = if node.kind == Kind::Process && node.parent == Arcflow::ROOT {
                root
            } else {
                owners[node.parent.0 as usize]
            };
            let owner = owners[i];
            let process_name = if owner == Arcflow::ROOT { "" } else { self.name(owner) };
            let name = if node.kind == Kind::Thread { self.name(root) } else { "(no thread)" };
            let mut track = Track { root, process: 0, number: 0, process_name, name };
            let is_track = match node.kind {
                Kind::Thread => true,
                _ if starts_track(model, root) => {
                    self.nodes(track).next().is_some() || model.base(root).iter().any(|&value| value != 0.0)
                }
                _ => false,
            };
            if is_track {
                let known = processes.len();
                let (number, count) = processes.entry(owner).or_insert((known, 0));
                (track.process, track.number) = (*number, *count);
                *count += 1;
                tracks.push(track);
            }
        }
        tracks
    }
}

/// Whether a node is the root of a track, if there is anything in it. A process that is somewhere below another one did
/// what stands below it on behalf of that one, and belongs there.
pub(super) fn starts_track(model: &Arcflow, id: NodeId) -> bool {
    let node = model.node(id);
    match node.kind {
        Kind::Root | Kind::Thread => true,
        Kind::Process => node.parent == Arcflow::ROOT,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{call_tree, folded};

    #[test]
    fn every_node_is_entered_and_left_once() {
        let model = folded::read(&b"a;b 1\nc 1\na;d;e 1\n"[..]).unwrap();
        let tree = Tree::new(&model);
        let said: String = tree
            .walk()
            .map(|step| match step {
                Step::Enter(id) => format!("<{}", tree.name(id)),
                Step::Leave(_) => ">".into(),
            })
            .collect();
        assert_eq!(said, "<(root)<a<b><d<e>>><c>>");
    }

    #[test]
    fn a_process_beneath_a_method_belongs_to_the_track_that_called_it() {
        let text = r#"{"resources":[], "tree": {"children": [
            {"name": "p", "kind": "process", "children": [
                {"name": "t", "kind": "thread", "children": [
                    {"name": "a", "children": [
                        {"name": "q", "kind": "process", "children": [{"name": "b"}]}]}]}]}]}}"#;
        let model = call_tree::read(text.as_bytes()).unwrap();
        let tree = Tree::new(&model);
        let [track] = tree.tracks()[..] else { panic!("one track") };
        let names: Vec<_> = tree.nodes(track).map(|id| tree.name(id)).collect();
        assert_eq!((track.process_name, names), ("p", vec!["a", "q", "b"]));
    }

    #[test]
    fn a_thread_beneath_a_method_is_a_track_of_its_own() {
        let text = r#"{"resources":[], "tree": {"children": [
            {"name": "p", "kind": "process", "children": [
                {"name": "t", "kind": "thread", "children": [
                    {"name": "a", "children": [
                        {"name": "u", "kind": "thread", "children": [{"name": "b"}]}, {"name": "c"}]}]}]},
            {"name": "q", "kind": "process", "children": [{"name": "d"}]}]}}"#;
        let model = call_tree::read(text.as_bytes()).unwrap();
        let tree = Tree::new(&model);
        let tracks: Vec<String> = tree
            .tracks()
            .into_iter()
            .map(|track| {
                let names: Vec<_> = tree.nodes(track).map(|id| tree.name(id)).collect();
                let Track { process, number, process_name, name, .. } = track;
                format!("{process}.{number} {process_name}/{name}: {}", names.join(" "))
            })
            .collect();
        assert_eq!(tracks, ["0.0 p/t: a c", "0.1 p/u: b", "1.0 q/(no thread): d"]);
    }
}
