//! What the probes of a call cost at most where they are: no context took less time than the probes in it.
//!
//! A loop of calls, which is what the recorder calibrates with, is not the program: the compiler arranges the code differently, and the
//! same probes cost up to a tenth more or less. Where a context of the program shows that they cost less, the figures are lowered
//! to what is possible: first t_I by the contexts that call nothing, then t_O by those that call. One context whose code happens
//! to be arranged well must not decide for all others, so only those count that are a part of the calls worth speaking of.
//! That probes cost more cannot be seen: it looks like time of the program ([`crate::calibration`] has what that may be).

use instrument_trace::{Calibration, Tree, TreeConsumer};

/// Calls that a context or its callees need.
const CALLS: f64 = 10_000.0;
/// And the part that they must be of the calls of the thread.
const SHARE: f64 = 0.05;
/// Figures are lowered to no less than this part of what calibration found.
const LEAST: f64 = 0.8;

/// The cost of the probes in a thread, as calibration found it or lower.
pub(crate) fn bounded(cost: Calibration, tree: &Tree) -> Calibration {
    if tree.sampled {
        // Times are estimates, and prove nothing.
        return cost;
    }
    let mut own: Vec<f64> = tree.nodes.iter().map(|node| node.ns as f64).collect();
    let mut made = vec![0.0; tree.nodes.len()];
    let mut open = vec![false; tree.nodes.len()];
    let mut calls = 0.0;
    for (i, node) in tree.nodes.iter().enumerate() {
        let is_open = node.open_ns > 0 || node.entries != node.closes.total();
        let is_method = matches!(node.consumer, TreeConsumer::Method(_));
        open[i] |= is_open || !is_method;
        calls += node.entries as f64;
        if let Some(parent) = (node.parent as usize).checked_sub(1) {
            own[parent] -= node.ns as f64;
            made[parent] += node.entries as f64;
            open[parent] |= is_open || !is_method;
        }
    }
    let enough = |count: f64| count >= CALLS.max(SHARE * calls);
    let evidence = || (0..tree.nodes.len()).filter(|&i| !open[i] && own[i] > 0.0);
    let entries = |i: usize| tree.nodes[i].entries as f64;
    let least = |found: f64, per_call: &mut dyn Iterator<Item = f64>| {
        per_call.fold(found, f64::min).max(LEAST * found)
    };
    let inner = least(
        cost.inner,
        &mut evidence().filter(|&i| made[i] == 0.0 && enough(entries(i))).map(|i| own[i] / entries(i)),
    );
    let outer = least(
        cost.outer,
        &mut evidence().filter(|&i| enough(made[i])).map(|i| (own[i] - entries(i) * inner) / made[i]),
    );
    Calibration { inner, outer, ..cost }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_trace::{Closes, TreeNode};

    fn node(parent: u32, entries: u64, ns: u64) -> TreeNode {
        let closes = Closes { exits: entries, ..Closes::default() };
        TreeNode { entries, closes, ns, ..TreeNode::new(TreeConsumer::Method(parent), parent) }
    }

    fn costs(nodes: Vec<TreeNode>) -> (f64, f64) {
        let cost = Calibration { inner: 20.0, outer: 30.0, ..Calibration::default() };
        let bounded = bounded(cost, &Tree { nodes, ..Tree::default() });
        (bounded.inner, bounded.outer)
    }

    #[test]
    fn the_program_took_no_less_than_its_probes() {
        let tree =
            |own: u64, leaf: u64| vec![node(0, 1, 100_000 * (own + leaf)), node(1, 100_000, 100_000 * leaf)];
        assert_eq!(costs(tree(40, 25)), (20.0, 30.0), "nothing to see");
        assert_eq!(costs(tree(40, 18)), (18.0, 30.0));
        // 20 ns for the call of the caller itself.
        assert_eq!(costs(tree(28, 25)), (20.0, 28.0 - 0.0002));
        assert_eq!(costs(tree(1, 1)), (16.0, 24.0), "no further");
    }

    #[test]
    fn rare_calls_and_open_ones_prove_nothing() {
        let mut nodes = vec![node(0, 1, 100_000_000), node(1, 100_000, 6_000_000), node(1, 4_000, 4_000)];
        assert_eq!(costs(nodes.clone()), (20.0, 30.0));
        nodes[1].ns = 1_700_000;
        assert_eq!(costs(nodes.clone()), (17.0, 30.0));
        nodes[1].entries += 1;
        assert_eq!(costs(nodes), (20.0, 30.0));
    }
}
