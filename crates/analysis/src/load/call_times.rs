//! What is known of a method's calls one by one.

use super::times::Times;
use instrument_trace::{Method, Tree, TreeNode};

/// What is known of a method's calls one by one (seed 000, table 1). Times in ns as measured, callees included; a call within a
/// call of the same method counts for itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallTimes {
    pub calls: u64,
    pub ended: u64,
    /// Calls whose times are summed up below: those that ended; where times are samples, those of them that were timed.
    pub summed: u64,
    /// Time of the calls that ended; an estimate if not all were timed.
    pub ended_ns: f64,
    /// Time of the calls that had not ended, so far.
    pub open_ns: f64,
    /// Calls that ended and were timed.
    pub timed: u64,
    /// ns of the calls that ended, as measured: the cost of probes is inside. An estimate if not all were timed.
    pub closed_ns: f64,
    /// ns of the shortest call that was timed.
    pub min: f64,
    /// ns of the longest call that was timed.
    pub max: f64,
    /// Sum of the squares of the times of the calls that ended; an estimate if not all were timed.
    pub sum_squares: f64,
    /// All calls without the cost of probes.
    pub exact_ns: f64,
    /// Variance of `ended_ns`.
    pub variance: f64,
    /// What recording them cost, in ns, as reports take it out, with the allocations of these calls; 0 if it is not known.
    pub recording_ns: f64,
}

/// What is known of the calls of one context, over the threads that are one row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ContextCalls {
    /// How many began, and how they ended.
    pub counts: Method,
    /// Their times, if it is a context of a method.
    pub times: CallTimes,
}

impl ContextCalls {
    /// Adds those of another context.
    pub(crate) fn add(&mut self, of: &ContextCalls) {
        self.counts.add(&of.counts);
        let (to, of) = (&mut self.times, &of.times);
        to.calls = to.calls.saturating_add(of.calls);
        to.ended = to.ended.saturating_add(of.ended);
        to.summed = to.summed.saturating_add(of.summed);
        to.timed = to.timed.saturating_add(of.timed);
        to.ended_ns += of.ended_ns;
        to.open_ns += of.open_ns;
        to.closed_ns += of.closed_ns;
        to.min = to.min.min(of.min);
        to.max = to.max.max(of.max);
        to.sum_squares += of.sum_squares;
        to.exact_ns += of.exact_ns;
        to.variance += of.variance;
        to.recording_ns += of.recording_ns;
    }

    /// A part of them, whose counts balance as theirs do: of counts as `calls` says, of times as `figures` does.
    #[must_use]
    pub(crate) fn part(&self, calls: impl Fn(u64) -> u64, figures: impl Fn(f64) -> f64) -> ContextCalls {
        let (mut counts, mut times) = (self.counts, self.times);
        counts.entries = calls(counts.entries);
        let mut rest = counts.entries;
        let closes = &mut counts.closes;
        for count in [&mut counts.open, &mut closes.unclosed, &mut closes.aborted, &mut closes.unwinds] {
            *count = calls(*count).min(rest);
            rest -= *count;
        }
        // As long as the whole balances, this is what is left.
        closes.exits = rest;
        counts.unmatched = calls(counts.unmatched);
        counts.bytecodes = figures(counts.bytecodes as f64) as u64;
        counts.samples = figures(counts.samples as f64) as u64;
        times.calls = calls(times.calls);
        times.ended = calls(times.ended);
        times.summed = calls(times.summed);
        times.timed = calls(times.timed);
        for ns in [
            &mut times.ended_ns,
            &mut times.open_ns,
            &mut times.closed_ns,
            &mut times.sum_squares,
            &mut times.exact_ns,
            &mut times.variance,
            &mut times.recording_ns,
        ] {
            *ns = figures(*ns);
        }
        ContextCalls { counts, times }
    }
}

impl Default for CallTimes {
    fn default() -> Self {
        CallTimes {
            calls: 0,
            ended: 0,
            summed: 0,
            ended_ns: 0.0,
            open_ns: 0.0,
            timed: 0,
            closed_ns: 0.0,
            min: f64::INFINITY,
            max: 0.0,
            sum_squares: 0.0,
            exact_ns: 0.0,
            variance: 0.0,
            recording_ns: 0.0,
        }
    }
}

impl CallTimes {
    pub(super) fn add(&mut self, node: &TreeNode, times: &Times, tree: &Tree) {
        let closed = node.closes.total();
        self.calls = self.calls.saturating_add(node.entries);
        self.ended = self.ended.saturating_add(closed);
        self.open_ns += node.open_ns as f64;
        let are_some = tree.sampled || tree.has_samples;
        self.ended_ns +=
            if tree.has_samples { node.ns as f64 } else { times.inclusive - node.open_ns as f64 };
        self.timed = self.timed.saturating_add(if are_some { node.timed } else { closed });
        self.summed = self.summed.saturating_add(if tree.has_samples { node.timed } else { closed });
        self.closed_ns += node.ns as f64;
        self.min = self.min.min(if node.min <= node.max { node.min as f64 } else { f64::INFINITY });
        self.max = self.max.max(node.max as f64);
        self.sum_squares += node.sum_squares;
        self.exact_ns += times.exact_inclusive;
        self.variance += times.inclusive_variance;
    }

    /// Mean of the calls that ended, or of those of them that were timed.
    pub fn average(&self) -> Option<f64> {
        (self.summed > 0).then(|| self.ended_ns / self.summed as f64)
    }

    /// Standard deviation of the calls that ended, in ns; an estimate where not all were timed. None if none was.
    pub fn deviation(&self) -> Option<f64> {
        let mean = (self.summed > 0 && self.timed > 0).then(|| self.closed_ns / self.summed as f64)?;
        Some((self.sum_squares / self.summed as f64 - mean * mean).max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_trace::Closes;

    /// Numbers that all differ: multiples of `by`.
    fn calls(by: u64) -> ContextCalls {
        let closes = Closes { exits: 5 * by, unwinds: 3 * by, aborted: 2 * by, unclosed: by };
        let counts = Method {
            entries: 15 * by,
            open: 4 * by,
            unmatched: 7 * by,
            bytecodes: 100 * by,
            samples: 6 * by,
            closes,
        };
        let f = |times: u64| (times * by) as f64;
        let times = CallTimes {
            calls: 15 * by,
            ended: 11 * by,
            summed: 10 * by,
            ended_ns: f(1_100),
            open_ns: f(40),
            timed: 9 * by,
            closed_ns: f(900),
            min: f(20),
            max: f(300),
            sum_squares: f(100_000),
            exact_ns: f(1_000),
            variance: f(17),
            recording_ns: f(50),
        };
        ContextCalls { counts, times }
    }

    #[test]
    fn calls_of_two_contexts_add_up() {
        let mut sum = calls(3);
        sum.add(&calls(2));
        let all = calls(5);
        assert_eq!(sum.counts, all.counts);
        // But for the shortest and the longest.
        assert_eq!(sum.times, CallTimes { min: 40.0, max: 900.0, ..all.times });
    }

    #[test]
    fn a_part_of_calls_balances_as_they_do() {
        let half = calls(2).part(|count| count / 2, |figure| figure / 2.0);
        let one = calls(1);
        assert_eq!(half.counts, one.counts);
        assert_eq!(half.times, CallTimes { min: 40.0, max: 600.0, ..one.times });
        // Where counts are rounded up, those that come last have what is left: of 8 calls 2 are open, and 4 ended otherwise.
        let up = calls(1).part(|count| count.div_ceil(2), |figure| figure);
        let Method { entries, open, closes, .. } = up.counts;
        assert_eq!((entries, open), (8, 2));
        assert_eq!(closes, Closes { unclosed: 1, aborted: 1, unwinds: 2, exits: 2 });
        let all_open = calls(1).part(|count| count.min(4), |figure| figure);
        assert_eq!((all_open.counts.open, all_open.counts.closes), (4, Closes::default()));
    }

    #[test]
    fn a_deviation_takes_calls_that_ended_and_were_timed() {
        let of = |summed, timed| {
            let times =
                CallTimes { summed, timed, closed_ns: 28.0, sum_squares: 232.0, ..CallTimes::default() };
            times.deviation()
        };
        // 4 calls of 7 on the average, whose squares are 58: 9 more than that of 7.
        assert_eq!(
            [of(4, 4), of(4, 1), of(4, 0), of(0, 4), of(0, 0)],
            [Some(3.0), Some(3.0), None, None, None]
        );
    }
}
