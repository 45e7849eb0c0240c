//! The times of a tree: from what was measured, callees included, to what each context consumed itself.
//!
//! 1. inclusive: as measured, or estimated where only some calls were timed, with the frames that were open;
//! 2. exact inclusive: without the cost of the probes, its own and those beneath ([`crate::calibration`]);
//! 3. of both, base = inclusive - the callees' inclusive, fitted where that would be below 0.

mod shares;

use instrument_trace::{Calibration, CpuCost, Tree, TreeConsumer, TreeNode};

use super::running::silent;
use crate::calibration::{self, Calls, Cold, Doubt, HANDLER};
use shares::{Callees, Known, Shares};

/// The times of a context, in ns.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    /// Callees included, as measured or estimated.
    pub(crate) inclusive: f64,
    /// Callees included, without the cost of probes.
    pub(crate) exact_inclusive: f64,
    /// Own, as measured or estimated.
    pub(crate) raw: f64,
    /// Own, without the cost of probes.
    pub(crate) exact: f64,
    /// What `exact` may be off by.
    pub(crate) noise: f64,
    /// What it adds to the error of all that contain it.
    pub(crate) cum_noise: f64,
    /// Variance of `raw`.
    pub(crate) variance: f64,
    /// Variance of `inclusive`.
    pub(crate) inclusive_variance: f64,
    /// The callees' variances.
    pub(crate) callees_variance: f64,
}

/// The times of a tree's contexts.
#[derive(Debug, Default)]
pub(crate) struct TreeTimes {
    pub(crate) nodes: Vec<Times>,
    /// All calls of methods.
    pub(crate) calls: Calls,
    /// Contexts whose callees took longer than they, and by how much.
    pub(crate) short: (u64, f64),
    /// The same without the cost of the probes.
    pub(crate) below_zero: (u64, f64),
}

impl TreeTimes {
    /// Those of a tree whose times are samples: what calls took is known of few, and nothing is taken out.
    pub(crate) fn none(tree: &Tree) -> TreeTimes {
        let methods = tree.nodes.iter().filter(|node| node.consumer.method().is_some());
        let calls = Calls { timed: 0.0, untimed: methods.map(|node| node.entries as f64).sum() };
        TreeTimes { nodes: vec![Times::default(); tree.nodes.len()], calls, ..TreeTimes::default() }
    }
}

/// What is known of the cost of the probes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) calibration: Calibration,
    /// Part of the measured time that other programs may have taken: [`crate::disturbance`].
    pub(crate) disturbed: f64,
}

/// `allocations` are the allocation events by node; empty if there are none.
pub(crate) fn times(tree: &Tree, cost: Option<&Cost>, allocations: &[f64]) -> TreeTimes {
    let silent = silent(tree);
    let mut sums = Sums::of(tree, cost);
    sums.fill_silent(tree, &silent);
    sums.correct(tree, cost, allocations, &silent);
    sums.shared(tree, cost.is_some(), &silent)
}

fn parent(node: &TreeNode) -> Option<usize> {
    (node.parent as usize).checked_sub(1)
}

/// The figures of a tree on their way to its times, and what they are corrected by; each by node.
struct Sums {
    result: TreeTimes,
    /// Time of the callees.
    called: Vec<f64>,
    own: Vec<Calls>,
    /// Calls of the callees.
    made: Vec<Calls>,
    own_doubt: Vec<f64>,
    made_doubt: Vec<f64>,
}

impl Sums {
    /// Times and calls as they were recorded.
    fn of(tree: &Tree, cost: Option<&Cost>) -> Sums {
        let count = tree.nodes.len();
        let mut sums = Sums {
            result: TreeTimes { nodes: vec![Times::default(); count], ..TreeTimes::default() },
            called: vec![0.0; count],
            own: vec![Calls::default(); count],
            made: vec![Calls::default(); count],
            own_doubt: vec![0.0; count],
            made_doubt: vec![0.0; count],
        };
        let doubt = cost.map(|cost| Doubt::of(&cost.calibration)).unwrap_or_default();
        let mut cold = Cold::default();
        for (i, node) in tree.nodes.iter().enumerate() {
            let estimate = estimate(node, tree.sampled);
            if matches!(node.consumer, TreeConsumer::Method(_)) {
                let cold = node.consumer.method().map_or(0.0, |id| cold.of(id, estimate.calls));
                sums.own[i] = estimate.calls;
                sums.own_doubt[i] = doubt.sum(estimate.calls, cold);
                sums.result.calls.add(estimate.calls);
            }
            let times = &mut sums.result.nodes[i];
            times.inclusive = estimate.total;
            times.inclusive_variance = estimate.variance;
            if let Some(parent) = parent(node) {
                sums.called[parent] += estimate.total;
                sums.made[parent].add(sums.own[i]);
                sums.made_doubt[parent] += sums.own_doubt[i];
                sums.result.nodes[parent].callees_variance += estimate.variance;
            }
        }
        sums
    }

    /// Contexts without times of their own take as long as their callees.
    fn fill_silent(&mut self, tree: &Tree, silent: &[bool]) {
        for i in (0..tree.nodes.len()).rev().filter(|&i| silent[i]) {
            let times = &mut self.result.nodes[i];
            (times.inclusive, times.inclusive_variance) = (self.called[i], times.callees_variance);
            let variance = times.inclusive_variance;
            if let Some(parent) = parent(&tree.nodes[i]) {
                self.called[parent] += self.called[i];
                self.result.nodes[parent].callees_variance += variance;
            }
        }
    }

    /// Takes the cost of the probes out. Callees have higher numbers: theirs are complete when a caller's turn comes.
    fn correct(&mut self, tree: &Tree, cost: Option<&Cost>, allocations: &[f64], silent: &[bool]) {
        let past_limits = tree.past_limits();
        for i in (0..tree.nodes.len()).rev() {
            let times = &mut self.result.nodes[i];
            let base = times.inclusive - self.called[i];
            times.variance = if silent[i] { 0.0 } else { times.inclusive_variance + times.callees_variance };
            times.exact_inclusive += match cost.filter(|_| !past_limits[i] && !silent[i]) {
                Some(cost) => {
                    let probes = &cost.calibration;
                    let allocations = allocations.get(i).copied().unwrap_or(0.0);
                    let exact = calibration::exact(probes, base, self.own[i], self.made[i], allocations);
                    let own_doubt = self.own_doubt[i];
                    let disturbed = cost.disturbed * base.max(0.0) + handler(&tree.nodes[i]) * exact.max(0.0);
                    // The calibration errs in one way: what a call has too much its caller has too much, too, but of the other
                    // part. No base is further off than by all of it.
                    times.noise = (own_doubt.max(self.made_doubt[i]) + disturbed).min(base.max(0.0));
                    times.cum_noise = own_doubt + disturbed;
                    exact
                }
                None => base,
            };
            let exact = times.exact_inclusive;
            if let Some(parent) = parent(&tree.nodes[i]) {
                self.result.nodes[parent].exact_inclusive += exact;
            }
        }
    }

    /// The times, with what callees took longer than their callers shared out.
    fn shared(self, tree: &Tree, is_corrected: bool, silent: &[bool]) -> TreeTimes {
        let mut result = self.result;
        // What the correction of a subtree may be off by has one cause: it adds up.
        let mut noise = result.nodes.iter().map(|t| t.cum_noise).collect::<Vec<_>>();
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            if let Some(parent) = parent(node) {
                noise[parent] += noise[i];
            }
        }
        let column = |figure: fn(&Times) -> f64| result.nodes.iter().map(figure).collect::<Vec<_>>();
        let sampled = column(|t| t.inclusive_variance);
        let both =
            sampled.iter().zip(&noise).map(|(variance, noise)| variance + noise * noise).collect::<Vec<_>>();
        let callees = Callees::new(tree.nodes.iter().map(|node| node.parent));
        let is_measured = |node: &TreeNode| tree.sampled && node.timed >= node.closes.total();
        let measured: Vec<bool> = tree.nodes.iter().map(is_measured).collect();
        let known = |variance: Vec<f64>, doubt| Known { variance, doubt, measured: &measured, silent };
        let raw = Shares::of(&callees, column(|t| t.inclusive), known(sampled.clone(), sampled.clone()));
        let exact = Shares::of(&callees, column(|t| t.exact_inclusive), known(sampled, both));
        for (i, times) in result.nodes.iter_mut().enumerate() {
            (times.inclusive, times.raw) = (raw.inclusive[i], raw.base[i]);
            (times.exact_inclusive, times.exact) = (exact.inclusive[i], exact.base[i]);
        }
        result.short = raw.short;
        if is_corrected {
            result.below_zero = exact.short;
        }
        result
    }
}

/// Part of a context's own time that is in doubt since its method has an exception handler.
fn handler(node: &TreeNode) -> f64 {
    if matches!(node.consumer, TreeConsumer::Method(_)) { HANDLER } else { 0.0 }
}

/// CPU time of a tree's contexts, in ns.
pub(crate) struct CpuTimes {
    /// Own, as measured.
    pub(crate) raw: Vec<f64>,
    /// Own, without what the probes added; and what it and its sums may be off by.
    pub(crate) exact: Option<[Vec<f64>; 3]>,
}

/// Corrected as wall time is, if the cost in CPU time is known and all calls were read.
pub(crate) fn cpu_times(tree: &Tree, cost: Option<&CpuCost>) -> CpuTimes {
    let count = tree.nodes.len();
    let parent = |i: usize| (tree.nodes[i].parent as usize).checked_sub(1);
    let mut inclusive: Vec<f64> = tree.nodes.iter().map(|node| node.cpu_ns as f64).collect();
    let silent = silent(tree);
    for i in (0..count).rev() {
        if let Some(above) = parent(i).filter(|&above| silent[above]) {
            inclusive[above] += inclusive[i];
        }
    }
    let past_limits = tree.past_limits();
    let own = |i: usize| {
        let node = &tree.nodes[i];
        // Those that are open were not read at their end.
        let ended = (node.closes.exits + node.closes.unwinds) as f64;
        let timed = if node.consumer.method().is_some() && !past_limits[i] { ended } else { 0.0 };
        Calls { timed, untimed: 0.0 }
    };
    let (mut raw, mut made, mut made_doubt) = (inclusive.clone(), vec![0.0; count], vec![0.0; count]);
    let doubt = cost.map(Doubt::of_cpu).unwrap_or_default();
    let mut cold = Cold::default();
    let mut own_doubt = vec![0.0; count];
    for (i, &cpu) in inclusive.iter().enumerate() {
        let cold = tree.nodes[i].consumer.method().map_or(0.0, |id| cold.of(id, own(i)));
        own_doubt[i] = doubt.sum(own(i), cold);
        if let Some(parent) = parent(i) {
            raw[parent] -= cpu;
            made[parent] += own(i).all();
            made_doubt[parent] += own_doubt[i];
        }
    }
    let exact = cost.map(|cost| {
        let mut exact = vec![0.0; count];
        for i in (0..count).rev() {
            if !silent[i] {
                exact[i] += raw[i] - own(i).all() * cost.inner - made[i] * cost.outer;
            }
            if let Some(parent) = parent(i) {
                exact[parent] += exact[i];
            }
        }
        let doubt = |i: usize| own_doubt[i].max(made_doubt[i]).min(raw[i].max(0.0));
        let callees = Callees::new(tree.nodes.iter().map(|node| node.parent));
        let squares: Vec<f64> = (0..count).map(|i| doubt(i) * doubt(i)).collect();
        let none = vec![false; count];
        let known = Known { variance: vec![0.0; count], doubt: squares, measured: &none, silent: &silent };
        let fitted = Shares::of(&callees, exact, known);
        let slower = |i: usize| handler(&tree.nodes[i]) * fitted.base[i];
        let noise = (0..count).map(|i| (doubt(i) + slower(i)).min(raw[i].max(0.0))).collect();
        let sums = (0..count).map(|i| own_doubt[i] + slower(i)).collect();
        [fitted.base, noise, sums]
    });
    raw.iter_mut().for_each(|raw| *raw = raw.max(0.0));
    CpuTimes { raw, exact }
}

struct Estimate {
    total: f64,
    variance: f64,
    calls: Calls,
}

/// The time of all calls of a context, those that are open included.
fn estimate(node: &TreeNode, sampled: bool) -> Estimate {
    let total = node.ns as f64 + node.open_ns as f64;
    Estimate { total, variance: node.variance, calls: calls_of(node, sampled) }
}

/// The calls of a context, those that are open included.
pub(crate) fn calls_of(node: &TreeNode, sampled: bool) -> Calls {
    let entries = node.entries as f64;
    let timed = if sampled { entries.min(node.timed as f64) } else { entries };
    Calls { timed, untimed: entries - timed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_trace::Closes;

    fn node(parent: u32, entries: u64, ns: u64) -> TreeNode {
        let closes = Closes { exits: entries, ..Closes::default() };
        TreeNode { entries, closes, ns, ..TreeNode::new(TreeConsumer::Method(parent), parent) }
    }

    fn tree(nodes: Vec<TreeNode>) -> Tree {
        Tree { nodes, ..Tree::default() }
    }

    #[test]
    fn base_is_what_callees_leave() {
        let tree = tree(vec![node(0, 1, 1000), node(1, 2, 300), node(1, 5, 800), node(3, 5, 100)]);
        let times = times(&tree, None, &[]);
        let raw: Vec<_> = times.nodes.iter().map(|t| t.raw).collect();
        // 1100 ns of callees share 1000.
        assert_eq!(raw, [1.0, 272.0, 627.0, 100.0]);
        assert_eq!(times.short, (1, 100.0), "the first called more than it took itself");
        assert_eq!(times.calls, Calls { timed: 13.0, untimed: 0.0 });
    }

    #[test]
    fn a_call_that_began_before_the_recording_has_the_time_of_what_it_calls() {
        let running = |parent| TreeNode::new(TreeConsumer::Link(3), parent);
        let timed = |parent, calls, ns| TreeNode { cpu_ns: ns / 2, ..node(parent, calls, ns) };
        let mut tree =
            tree(vec![running(0), running(1), timed(2, 10, 1000), timed(1, 1, 300), timed(3, 7, 400)]);
        tree.cpu = true;
        let calibration = Calibration { inner: 10.0, outer: 20.0, ..Calibration::default() };
        for cost in [None, Some(Cost { calibration, disturbed: 0.0 })] {
            let times = times(&tree, cost.as_ref(), &[]);
            assert_eq!(times.nodes[0].inclusive, 1300.0);
            assert_eq!((times.nodes[0].raw, times.nodes[0].exact), (0.0, 0.0));
            assert_eq!(
                (times.nodes[1].inclusive, times.nodes[1].raw, times.nodes[1].exact),
                (1000.0, 0.0, 0.0)
            );
            assert_eq!((times.short, times.below_zero), ((0, 0.0), (0, 0.0)));
            let exact = times.nodes.iter().map(|t| t.exact).sum::<f64>();
            assert_eq!(exact, times.nodes[0].exact_inclusive);
        }
        let cost = CpuCost { inner: 10.0, outer: 20.0 };
        let cpu = cpu_times(&tree, Some(&cost));
        assert_eq!(cpu.raw, [0.0, 0.0, 300.0, 150.0, 200.0]);
        // 10 calls with 10 inside and 7 beneath with 20 around them; 1 call with 10; 7 calls with 10.
        assert_eq!(cpu.exact.unwrap()[0], [0.0, 0.0, 300.0 - 100.0 - 140.0, 140.0, 130.0]);
    }

    /// m1 calls m2, which calls m3, and m4, which calls m5: 1, 4, 2, 1 and 3 calls, with 10 ns of probes inside and 20 outside, take 0, 6000,
    /// 1200, 1200 and 600 ns, but m1 seems to have taken 110 ns less than its probes.
    fn off_by_110() -> Tree {
        let mut nodes =
            vec![node(0, 1, 9_200), node(1, 4, 7_300), node(2, 2, 1_220), node(1, 1, 1_900), node(4, 3, 630)];
        nodes[2].closes = Closes { exits: 1, unwinds: 1, ..Closes::default() };
        nodes.iter_mut().for_each(|node| node.cpu_ns = node.ns);
        Tree { cpu: true, ..tree(nodes) }
    }

    #[test]
    fn callees_give_way_as_their_subtrees_are_in_doubt() {
        let calibration = Calibration { inner: 10.0, outer: 20.0, ..Calibration::default() };
        let times = times(&off_by_110(), Some(&Cost { calibration, disturbed: 0.0 }), &[]);
        let column = |figure: fn(&Times) -> f64| -> Vec<f64> {
            times.nodes.iter().map(|t| (figure(t) * 1000.0).round() / 1000.0).collect()
        };
        assert_eq!(column(|t| t.inclusive), [9_200.0, 7_300.0, 1_220.0, 1_900.0, 630.0]);
        assert_eq!(column(|t| t.raw), [0.0, 6_080.0, 1_220.0, 1_270.0, 630.0]);
        // Of a call 4.5 ns for the place and 300 since it is interpreted, and a sixth of its own time; of m4 what is not known of its callees,
        // and of m5 no more than all.
        assert_eq!(column(|t| t.cum_noise), [304.5, 2_218.0, 809.0, 504.5, 1_013.5]);
        assert_eq!(column(|t| t.noise), [0.0, 2_218.0, 809.0, 1_113.5, 630.0]);
        // The subtrees of m2 and m4 are in doubt by 3027 and 1518: by the squares of these m2 gives 88 of 110.
        assert_eq!(column(|t| t.exact_inclusive), [8_890.0, 7_112.0, 1_200.0, 1_778.0, 600.0]);
        assert_eq!(column(|t| t.exact), [0.0, 5_912.0, 1_200.0, 1_178.0, 600.0]);
        assert_eq!((times.short, times.below_zero), ((0, 0.0), (1, 110.0)));
    }

    #[test]
    fn cpu_times_give_way_as_they_are_in_doubt_themselves() {
        let cpu = cpu_times(&off_by_110(), Some(&CpuCost { inner: 10.0, outer: 20.0 }));
        assert_eq!(cpu.raw, [0.0, 6_080.0, 1_220.0, 1_270.0, 630.0]);
        let [exact, noise, sums] = cpu.exact.unwrap();
        // m2 is in doubt by its 4 calls, m4 by the 3 that it makes.
        assert_eq!(exact, [0.0, 5_930.0, 1_200.0, 1_160.0, 600.0]);
        let own = |calls: f64, time: f64| calls * 304.5 + HANDLER * time;
        let (m2, m3) = (own(4.0, 5_930.0), own(2.0, 1_200.0));
        assert_eq!(noise, [0.0, m2, m3, own(3.0, 1_160.0), 630.0]);
        assert_eq!(sums, [304.5, m2, m3, own(1.0, 1_160.0), own(3.0, 600.0)]);
    }

    #[test]
    fn what_has_no_times_itself_passes_those_of_its_callees_on() {
        let running = TreeNode::new(TreeConsumer::Link(3), 1);
        let deeper = TreeNode::new(TreeConsumer::Deeper, 0);
        let figures = |node, variance, cpu_ns| TreeNode { variance, cpu_ns, ..node };
        let tree = tree(vec![
            figures(node(0, 1, 2_000), 1_000.0, 1_500),
            running,
            figures(node(2, 2, 700), 100.0, 600),
            figures(node(2, 1, 300), 50.0, 250),
            figures(node(1, 3, 400), 7.0, 300),
            deeper,
            node(6, 5, 0),
        ]);
        let calibration = Calibration { inner: 10.0, outer: 20.0, ..Calibration::default() };
        let times = times(&tree, Some(&Cost { calibration, disturbed: 0.0 }), &[]);
        let rows = |figures: fn(&Times) -> [f64; 4]| times.nodes.iter().map(figures).collect::<Vec<_>>();
        let none = [0.0; 4];
        // The probes of calls past a limit cost no time that was measured.
        assert_eq!(
            rows(|t| [t.inclusive, t.raw, t.exact_inclusive, t.exact]),
            [
                [2_000.0, 600.0, 1_870.0, 530.0],
                [1_000.0, 0.0, 970.0, 0.0],
                [700.0, 700.0, 680.0, 680.0],
                [300.0, 300.0, 290.0, 290.0],
                [400.0, 400.0, 370.0, 370.0],
                none,
                none,
            ]
        );
        assert_eq!((times.below_zero, times.nodes[6].cum_noise), ((0, 0.0), 0.0));
        assert_eq!(
            rows(|t| [t.inclusive_variance, t.callees_variance, t.variance, 0.0]),
            [
                [1_000.0, 157.0, 1_157.0, 0.0],
                [150.0, 150.0, 0.0, 0.0],
                [100.0, 0.0, 100.0, 0.0],
                [50.0, 0.0, 50.0, 0.0],
                [7.0, 0.0, 7.0, 0.0],
                none,
                none,
            ]
        );
        let cpu = cpu_times(&tree, Some(&CpuCost { inner: 10.0, outer: 20.0 }));
        assert_eq!(cpu.raw, [350.0, 0.0, 600.0, 250.0, 300.0, 0.0, 0.0]);
        let [exact, noise, sums] = cpu.exact.unwrap();
        assert_eq!(exact, [280.0, 0.0, 580.0, 240.0, 270.0, 0.0, 0.0]);
        assert_eq!((&noise[5..], &sums[5..]), (&[0.0; 2][..], &[0.0; 2][..]));
    }

    #[test]
    fn contexts_without_any_time_have_none() {
        let tree = tree(vec![node(0, 1, 0), node(1, 2, 0)]);
        let times = times(&tree, None, &[]);
        assert_eq!(times.nodes.iter().map(|t| (t.inclusive, t.raw)).collect::<Vec<_>>(), [(0.0, 0.0); 2]);
    }
}
