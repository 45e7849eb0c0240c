//! What the probes of a call cost where they are.
//!
//! Where some calls are timed, the cost of the others depends on what they do: processors do a part of a probe's work beside that of the
//! program. The recorder measures it beside calls that do little, more, and most ([`instrument_trace::Beside`]); what the calls of a thread do is
//! between these, by the time that they took with their probes ([`beside`]). That holds for loops. In a large program, whose calls are spread
//! over many contexts, they cost as much as beside calls that do little, whatever they do ([`spread`]).
//!
//! Where all calls are timed, no context took less time than the probes in it.
//!
//! A loop of calls, which is what the recorder calibrates with, is not the program: the compiler arranges the code differently, and the
//! same probes cost up to a tenth more or less. Where a context of the program shows that they cost less, the figures are lowered
//! to what is possible: first t_I by the contexts that call nothing, then t_O by those that call. One context whose code happens
//! to be arranged well must not decide for all others, so only those count that are a part of the calls worth speaking of.
//! That probes cost more cannot be seen: it looks like time of the program ([`crate::calibration`] has what that may be).

use instrument_trace::{Beside, Calibration, Tree, TreeConsumer, TreeNode};

/// Calls that a context or its callees need.
const CALLS: f64 = 10_000.0;
/// And the part that they must be of the calls of the thread.
const SHARE: f64 = 0.05;
/// ns that a probe may become cheaper with a ns of work: with nearly 1 the time of a call would not tell what it does.
const MOST_FALL: f64 = 0.9;
/// Contexts that make up the calls of a loop, and of a large program: see [`spread`].
const FEW: f64 = 16.0;
const MANY: f64 = 256.0;
/// Figures are lowered to no less than this part of what calibration found.
const LEAST: f64 = 0.8;

/// The cost of the probes in a thread whose calls are timed in part: that of untimed calls is what makes the time of all calls come out.
///
/// A call that does w ns of work costs c(w), which falls evenly from one measurement to the other, so it takes w + c(w). What the calls of the
/// thread took on average is known, and w follows from it. The more the calls are [`spread`], the nearer the cost is to that beside little.
fn beside(cost: Calibration, tree: &Tree) -> Calibration {
    let Some([less, between, more]) = cost.beside.filter(|[less, _, more]| falls(*less, *more)) else {
        return cost;
    };
    // A middle that does not lie between the others was disturbed.
    let middle = Some(between).filter(|between| falls(less, *between) && falls(*between, more));
    let calls: f64 = tree.nodes.iter().map(|node| node.entries as f64).sum();
    let outermost = tree.nodes.iter().filter(|node| node.parent == 0);
    let took = outermost.map(|node| (node.ns + node.open_ns) as f64).sum::<f64>() / calls;
    if !took.is_finite() {
        return cost;
    }
    let (from, to) = match middle {
        Some(middle) if took > middle.call + middle.cost => (middle, more),
        Some(middle) => (less, middle),
        None => (less, more),
    };
    let fall = (from.cost - to.cost) / (to.call - from.call);
    let work = (took - from.cost - fall * from.call) / (1.0 - fall);
    let in_loops = from.cost - fall * (work.clamp(from.call, to.call) - from.call);
    let untimed = in_loops + spread(tree) * (less.cost - in_loops);
    Calibration { inner_untimed: Some(0.0), outer_untimed: Some(untimed), ..cost }
}

/// How far the calls of a tree are spread over its contexts: from 0, a few loops make all of them, to 1, a large program.
///
/// The entropy of the contexts' shares says how many contexts of equal shares would be as surprising.
fn spread(tree: &Tree) -> f64 {
    let entries = |node: &TreeNode| if node.consumer.method().is_some() { node.entries as f64 } else { 0.0 };
    let calls: f64 = tree.nodes.iter().map(entries).sum();
    let shares = tree.nodes.iter().map(|node| entries(node) / calls).filter(|share| *share > 0.0);
    let contexts = shares.map(|share| -share * share.ln()).sum::<f64>().exp();
    ((contexts / FEW).ln() / (MANY / FEW).ln()).clamp(0.0, 1.0)
}

/// Whether probes cost less beside calls that do more, and not so much less that the time of a call would not tell what it does.
fn falls(less: Beside, more: Beside) -> bool {
    let fall = (less.cost - more.cost) / (more.call - less.call);
    more.call > less.call && fall > 0.0 && fall < MOST_FALL
}

/// The cost of the probes in a thread, as calibration found it or lower.
pub(crate) fn bounded(cost: Calibration, tree: &Tree) -> Calibration {
    if tree.sampled {
        // Times of single contexts are estimates, and prove nothing.
        return beside(cost, tree);
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
    use instrument_trace::Closes;

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

    #[test]
    fn probes_of_calls_that_are_spread_cost_as_beside_little() {
        let beside = [(1.0, 10.0), (6.0, 8.0), (11.0, 6.0)].map(|(call, cost)| Beside { call, cost });
        let cost = Calibration { inner: 20.0, outer: 30.0, beside: Some(beside), ..Calibration::default() };
        // So many contexts with the same number of calls, of 1 us each.
        let untimed = |contexts: usize| {
            let tree =
                Tree { nodes: vec![node(0, 1_000, 1_000_000); contexts], sampled: true, ..Tree::default() };
            (bounded(cost, &tree).outer_untimed.unwrap() * 1e9).round() / 1e9
        };
        assert_eq!((untimed(1), untimed(16)), (6.0, 6.0), "a loop");
        assert_eq!(untimed(64), 8.0, "as far from the one as from the other");
        assert_eq!((untimed(256), untimed(5_000)), (10.0, 10.0), "a large program");
        // Contexts with hardly a call do not make a program large.
        let mut nodes = vec![node(0, 1_000_000, 1_000_000_000)];
        nodes.extend(vec![node(1, 1, 1_000); 1_000]);
        let loop_of_many = Tree { nodes, sampled: true, ..Tree::default() };
        assert_eq!(bounded(cost, &loop_of_many).outer_untimed, Some(6.0));
    }

    #[test]
    fn untimed_calls_cost_what_makes_their_time_come_out() {
        let beside = [(1.0, 10.0), (6.0, 8.0), (11.0, 6.0)].map(|(call, cost)| Beside { call, cost });
        let cost =
            Calibration { inner: 20.0, outer: 30.0, outer_untimed: Some(10.0), ..Calibration::default() };
        // Calls of so many ns each, with their probes.
        let untimed = |ns: f64, beside| {
            let nodes = vec![node(0, 1, (100_000.0 * ns) as u64), node(1, 99_999, 0)];
            let cost = Calibration { beside, ..cost };
            let untimed = bounded(cost, &Tree { nodes, sampled: true, ..Tree::default() }).outer_untimed;
            (untimed.unwrap() * 1e9).round() / 1e9
        };
        assert_eq!(untimed(3.0, Some(beside)), 10.0, "calls that do next to nothing");
        assert_eq!(untimed(1_000.0, Some(beside)), 6.0, "calls that do much");
        assert_eq!(untimed(14.0, Some(beside)), 8.0, "6 ns of work and 8 of probes");
        assert_eq!(untimed(14.0, None), 10.0, "a file that does not say");
        let [less, middle, more] = beside;
        assert_eq!(untimed(14.0, Some([more, middle, less])), 10.0, "measurements that make no sense");
        let steep = Beside { call: 5.0, ..more };
        assert_eq!(untimed(14.0, Some([less, middle, steep])), 10.0);
        assert_eq!(untimed(0.0, Some([less, middle, Beside { call: f64::NAN, ..more }])), 10.0);
        // It falls faster at first.
        let curve = Some([less, Beside { call: 3.0, cost: 8.5 }, more]);
        assert_eq!(untimed(11.25, curve), 9.25, "2 ns of work");
        assert_eq!(untimed(11.5, curve), 8.5, "3 ns of work");
        assert_eq!(untimed(14.25, curve), 7.25, "7 ns of work");
        assert_eq!(untimed(30.0, curve), 6.0);
        // One that is not between the others says nothing.
        for (call, cost) in [(3.0, 10.5), (3.0, 5.0), (0.5, 8.0), (12.0, 8.0), (f64::NAN, 8.0)] {
            let odd = Some([less, Beside { call, cost }, more]);
            assert_eq!(untimed(14.0, odd), 8.0, "{call} {cost}");
        }
    }
}
