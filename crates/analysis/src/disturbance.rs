//! How much of the time that was measured other programs took: a thread that waits for a processor is in some method all the while, and
//! in the probes of tiny methods as well as in long ones.
//!
//! Of a context with many calls the recorder keeps the mean, the shortest, the longest, and the squares. An interruption makes one call
//! very long: the squares of those calls, divided by the length of such a call, are what they took together. Nor is it
//! more than what all calls took beyond the shortest one. The lesser of the two, as a part of the context's time, bounds the part that is
//! not the program's; methods differ in how long their calls take without any interruption, so the contexts that show the least count.

use instrument_trace::{Tree, TreeNode};

use crate::correction::EVIDENCE;

/// How many times as long as the average interruption the longest one is.
const LONGEST: f64 = 4.0;
/// What the average interruption takes at most, in ns: a time slice of Linux.
const SLICE: f64 = 4e6;
/// The part of the calls that may be of contexts that seem less disturbed than they were, such as those that ran in a quiet moment.
const LEAST_CALLS: f64 = 0.1;

/// The part of the measured time of these trees, from 0 to 1, that other programs may have taken.
pub(crate) fn share<'a>(trees: impl Iterator<Item = &'a Tree>) -> f64 {
    let mut shares: Vec<(f64, f64)> = trees.flat_map(|tree| &tree.nodes).filter_map(of).collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = shares.iter().map(|(_, calls)| calls).sum();
    let mut calls = 0.0;
    for (share, of) in shares {
        calls += of;
        if calls >= LEAST_CALLS * all {
            return share;
        }
    }
    0.0
}

/// Of a context, and its calls.
fn of(node: &TreeNode) -> Option<(f64, f64)> {
    let calls = (node.closes.exits + node.closes.unwinds) as f64;
    if node.consumer.method().is_none()
        || calls < EVIDENCE
        || node.ns == 0
        || node.max == 0
        || node.min > node.max
    {
        return None;
    }
    let (ns, longest) = (node.ns as f64, node.max as f64);
    let beyond = ns - calls * node.min as f64;
    let mean = ns / calls;
    let interrupted = (node.sum_squares - mean * ns).max(0.0) / (longest / LONGEST).min(SLICE);
    Some((beyond.min(interrupted).clamp(0.0, ns) / ns, calls))
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_trace::{Closes, TreeConsumer};

    /// `calls` calls of `ns` each, of which `long` took `longest`.
    fn node(calls: u64, ns: u64, long: u64, longest: u64) -> TreeNode {
        let squares = |n: u64, ns: u64| n as f64 * (ns as f64).powi(2);
        TreeNode {
            entries: calls,
            closes: Closes { exits: calls, ..Closes::default() },
            ns: (calls - long) * ns + long * longest,
            min: ns,
            max: longest.max(ns),
            sum_squares: squares(calls - long, ns) + squares(long, longest),
            ..TreeNode::new(TreeConsumer::Method(1), 0)
        }
    }

    fn tree(nodes: Vec<TreeNode>) -> Tree {
        Tree { nodes, ..Tree::default() }
    }

    #[test]
    fn interruptions_are_seen_in_short_calls() {
        let quiet = tree(vec![node(1_000_000, 20, 0, 0)]);
        assert_eq!(share([&quiet].into_iter()), 0.0);
        // 10 interruptions of 4 ms in 20 ms of calls: two thirds of the time.
        let loaded = tree(vec![node(1_000_000, 20, 10, 4_000_000)]);
        let found = share([&loaded].into_iter());
        assert!((found - 2.0 / 3.0).abs() < 0.01, "{found}");
        // Few calls are no evidence.
        assert_eq!(share([&tree(vec![node(999, 20, 10, 4_000_000)])].into_iter()), 0.0);
    }

    /// Calls that are long on their own account, such as the outer ones of a recursion, are in one context and not in all.
    #[test]
    fn what_differs_by_itself_is_not_taken_for_interruptions() {
        let differs = node(1_000_000, 100, 10_000, 50_000);
        let tree = tree(vec![differs, node(2_000_000, 30, 0, 0)]);
        assert_eq!(share([&tree].into_iter()), 0.0);
    }
}
