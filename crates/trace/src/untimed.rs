//! Times of contexts of which no call was timed.
//!
//! A method whose calls are known to be short has no head in its later contexts, and many of them have so few calls that none is timed. Which
//! calls are timed is left to chance there, so the first call that was timed in each of such contexts is a random sample of the method's calls in all of
//! them: their mean stands for each call of a context without times. Where no context has one, all calls of the method that were timed do.

use crate::hash::HashMap;
use crate::tree::{TreeConsumer, TreeNode};

/// Calls that were timed.
#[derive(Debug, Clone, Copy, Default)]
struct Calls {
    number: f64,
    ns: f64,
    squares: f64,
}

impl Calls {
    fn add(&mut self, number: f64, ns: f64, squares: f64) {
        *self = Calls { number: self.number + number, ns: self.ns + ns, squares: self.squares + squares };
    }
}

/// What is known of the calls of methods, by id, over all threads of a profile.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    /// The first calls that were timed of contexts without a head.
    drawn: HashMap<u32, Calls>,
    /// All calls of contexts of which some were timed.
    all: HashMap<u32, Calls>,
    /// Calls that ended in contexts without times.
    untimed: HashMap<u32, u64>,
}

impl Methods {
    /// A context of which calls were timed. `first`: ns of the first one, where the context has no head.
    pub(crate) fn add(&mut self, node: &TreeNode, first: Option<u64>) {
        let TreeConsumer::Method(id) = node.consumer else { return };
        let closed = node.closes.total() as f64;
        self.all.entry(id).or_default().add(closed, node.ns as f64, node.sum_squares);
        if let Some(first) = first {
            let ns = first as f64;
            self.drawn.entry(id).or_default().add(1.0, ns, ns * ns);
        }
    }

    /// A context of which no call was timed. All of them have to be known before the first is estimated.
    pub(crate) fn add_untimed(&mut self, node: &TreeNode) {
        let TreeConsumer::Method(id) = node.consumer else { return };
        let calls = self.untimed.entry(id).or_default();
        *calls = calls.saturating_add(node.closes.total());
    }

    /// Gives a context without times those of its method. Their variance is that of the calls and that of their mean, which all such contexts
    /// have in common: each gets the share that adds up to the variance of the method's sum.
    pub(crate) fn estimate(&self, node: &mut TreeNode) {
        let TreeConsumer::Method(id) = node.consumer else { return };
        let Some(calls) = self.drawn.get(&id).or_else(|| self.all.get(&id)).filter(|c| c.number > 0.0) else {
            return;
        };
        let closed = node.closes.total() as f64;
        let mean = calls.ns / calls.number;
        // Of one call nothing is known of how much the others differ: as times between events do.
        let spread = if calls.number < 2.0 {
            mean * mean
        } else {
            (calls.squares / calls.number - mean * mean).max(0.0)
        };
        node.ns = (closed * mean).round() as u64;
        node.sum_squares = closed * (mean * mean + spread);
        let untimed = self.untimed.get(&id).copied().unwrap_or(0) as f64;
        node.variance = spread * closed * (1.0 + untimed.max(closed) / calls.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Closes;

    fn node(id: u32, closed: u64, ns: u64) -> TreeNode {
        let closes = Closes { exits: closed, ..Closes::default() };
        let sum_squares = (ns * ns) as f64 / closed as f64;
        let node = TreeNode::new(TreeConsumer::Method(id), 0);
        TreeNode { entries: closed, closes, ns, sum_squares, ..node }
    }

    #[test]
    fn a_context_without_times_has_the_mean_of_first_timed_calls() {
        let mut methods = Methods::default();
        methods.add(&node(1, 50, 50 * 1000), None);
        methods.add(&node(1, 3, 300), Some(100));
        methods.add(&node(1, 9, 1800), Some(200));
        let mut untimed = node(1, 4, 0);
        methods.add_untimed(&untimed);
        methods.add_untimed(&node(1, 6, 0));
        methods.estimate(&mut untimed);
        // 100 and 200 ns: a mean of 150, a variance of 2,500.
        assert_eq!(untimed.ns, 600);
        assert_eq!(untimed.sum_squares, 4.0 * (150.0 * 150.0 + 2500.0));
        // Both contexts together: 10 calls, and 10 times the error of the mean.
        assert_eq!(untimed.variance, 2500.0 * 4.0 * (1.0 + 10.0 / 2.0));
    }

    #[test]
    fn without_such_calls_all_that_were_timed_stand_for_it() {
        let mut methods = Methods::default();
        methods.add(&node(1, 50, 50 * 1000), None);
        let mut untimed = node(1, 4, 0);
        methods.estimate(&mut untimed);
        assert_eq!(untimed.ns, 4000);
        let mut unknown = node(2, 4, 0);
        methods.estimate(&mut unknown);
        assert_eq!((unknown.ns, unknown.variance), (0, 0.0));
    }

    #[test]
    fn one_call_says_nothing_of_how_much_calls_differ() {
        let mut methods = Methods::default();
        methods.add(&node(1, 5, 500), Some(100));
        let mut untimed = node(1, 2, 0);
        methods.estimate(&mut untimed);
        assert_eq!((untimed.ns, untimed.variance), (200, 100.0 * 100.0 * 2.0 * 3.0));
    }
}
