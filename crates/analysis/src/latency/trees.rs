//! From the histograms that the recorder has kept of the contexts of trees.

use std::collections::{HashMap, HashSet};

use instrument_trace::{ContextDurations, Thread, Tree, TreeNode};

use super::{Durations, Latency};
use crate::session::ProfileFile;

impl Latency {
    /// Of the methods whose durations were kept, by those threads whose names are wanted. None: of no method they were.
    pub fn kept<'a>(
        files: impl IntoIterator<Item = &'a ProfileFile>,
        wants: &dyn Fn(&str) -> bool,
    ) -> Option<Latency> {
        let mut latency = Latency { chosen: true, ..Latency::default() };
        let mut is_kept = false;
        for file in files {
            let ids = chosen(file);
            is_kept |= file.profile.copies.values().any(|copy| copy.properties.contains_key("latency"));
            for thread in &file.profile.threads {
                let Some(tree) = &thread.tree else { continue };
                is_kept |= !tree.durations.is_empty();
                if wants(&thread.name) {
                    let is_chosen = |id| ids.contains(&(thread.copy, id));
                    latency.add_tree(tree, &|id| file.names.method(thread.copy, id), &is_chosen);
                }
            }
        }
        is_kept.then_some(latency)
    }

    /// `is_chosen`: durations of this method are kept somewhere. It may have been called before they were.
    fn add_tree(&mut self, tree: &Tree, name: &dyn Fn(u32) -> String, is_chosen: &dyn Fn(u32) -> bool) {
        self.left_out += tree.durations_left_out;
        let mut names: HashMap<u32, String> = HashMap::new();
        let past_limits = tree.past_limits();
        let none = ContextDurations::default();
        for (node, number) in tree.nodes.iter().zip(1u32..) {
            let Some(id) = node.consumer.method().filter(|id| is_chosen(*id)) else { continue };
            let durations = tree.durations.get(&number).unwrap_or(&none);
            let own = names.entry(id).or_insert_with(|| name(id)).clone();
            let mut is_own = |node: &TreeNode| {
                let of = node.consumer.method();
                of.is_some_and(|of| *names.entry(of).or_insert_with(|| name(of)) == own)
            };
            // The recorder tells methods apart by their ids, of which those of one name may have several.
            if callers(tree, node).any(&mut is_own) {
                continue;
            }
            // Those past a limit are not placed under their callers: nobody knows which of them are calls within calls.
            let is_placed = !past_limits.get(number as usize - 1).copied().unwrap_or_default();
            let unknown = if is_placed { node.entries } else { 0 };
            let unknown = unknown.saturating_sub(durations.count()).saturating_sub(node.open);
            self.methods.entry(own).or_default().merge(Durations {
                returned: durations.returned.clone(),
                failed: durations.failed.clone(),
                over: durations.threshold.map(|threshold| (threshold, durations.over)),
                open: node.open,
                unknown,
                ..Durations::default()
            });
        }
    }
}

/// The methods whose durations are kept in any context: copy and id.
fn chosen(file: &ProfileFile) -> HashSet<(u32, u32)> {
    let of_thread = |thread: &'_ Thread| {
        let tree = thread.tree.as_ref();
        let nodes =
            tree.into_iter().flat_map(|tree| tree.durations.keys().filter_map(|number| tree.node(*number)));
        nodes.filter_map(|node| Some((thread.copy, node.consumer.method()?))).collect::<Vec<_>>()
    };
    file.profile.threads.iter().flat_map(of_thread).collect()
}

/// The contexts that a context is called from, the nearest first.
fn callers<'a>(tree: &'a Tree, node: &TreeNode) -> impl Iterator<Item = &'a TreeNode> {
    std::iter::successors(tree.node(node.parent), |node| tree.node(node.parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_trace::{Closes, TreeConsumer};
    use std::collections::BTreeMap;

    fn node(id: u32, parent: u32, entries: u64, open: u64) -> TreeNode {
        let closes = Closes { exits: entries - open, ..Closes::default() };
        TreeNode { entries, open, closes, ..TreeNode::new(TreeConsumer::Method(id), parent) }
    }

    fn took(threshold: Option<u64>, ns: &[u64]) -> ContextDurations {
        let mut durations = ContextDurations { threshold, ..ContextDurations::default() };
        ns.iter().for_each(|ns| durations.returned.add(*ns));
        durations
    }

    #[test]
    fn contexts_of_a_method_add_up_and_a_call_within_one_of_the_same_name_is_part_of_it() {
        // 1 and 3 have the same name, as methods of classes of two loaders do.
        let name = |id: u32| if id == 2 { "other".to_owned() } else { "order".to_owned() };
        let nodes = vec![node(1, 0, 3, 1), node(2, 1, 4, 0), node(3, 2, 4, 0), node(1, 0, 2, 0)];
        let durations = [
            (1, took(None, &[100, 200])),
            (2, took(None, &[7])),
            (3, took(None, &[9, 9, 9, 9])),
            (4, took(None, &[300])),
        ];
        let durations = BTreeMap::from(durations);
        let tree = Tree { nodes, durations, durations_left_out: 1, ..Tree::default() };
        let mut latency = Latency::default();
        latency.add_tree(&tree, &name, &|_| true);
        let of = |name: &str| {
            let of = &latency.methods[name];
            (of.returned.count(), of.returned.sum(), of.open, of.unknown)
        };
        assert_eq!(of("order"), (3, 600, 1, 1));
        assert_eq!(of("other"), (1, 7, 0, 3));
        assert_eq!(latency.left_out, 1);
    }
}
