//! What the probes cost, taken out of what they measured (seed 002, section 5.3):
//!
//! ```text
//! t_exact = t_meas - n * t_I - m * t_O
//! ```
//!
//! for a context that was entered n times and itself made m calls: of the cost of a call's probes, t_I (inner) lies between the
//! two readings of the clock, so in the call's own time, and t_O (outer) in its caller's. Allocation events cost their context, too.
//!
//! Where only some calls are timed, a context's time is estimated from those, so each of its n calls brings t_I with it. A call
//! that is not timed costs its caller t_I' + t_O' (the costs of an untimed call), but the estimate for the callee has t_I in it,
//! which was never spent; so its part of m * t_O is t_I' + t_O' - t_I.

use crate::hash::HashMap;
use instrument_trace::{Calibration, CpuCost};

/// Calls of which some are timed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Calls {
    /// Those with both clock readings.
    pub timed: f64,
    /// Those that were only counted.
    pub untimed: f64,
}

impl Calls {
    pub fn all(self) -> f64 {
        self.timed + self.untimed
    }

    pub(crate) fn add(&mut self, other: Calls) {
        self.timed += other.timed;
        self.untimed += other.untimed;
    }
}

/// Base without the cost of probes; may be below 0, within [`Doubt`].
pub fn exact(cost: &Calibration, measured: f64, own: Calls, made: Calls, allocations: f64) -> f64 {
    let untimed = untimed(cost) - cost.inner;
    measured
        - own.all() * cost.inner
        - made.timed * cost.outer
        - made.untimed * untimed
        - allocations * cost.allocation.unwrap_or(0.0)
}

/// How far the cost of a call's probes may be from what the calibration says, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Doubt {
    /// Of every call that is timed.
    each: f64,
    /// Of every call that is not.
    untimed: f64,
    /// Of those that are interpreted besides.
    cold: f64,
}

/// Part of the probes' cost that loops do not show: a method that would be inlined without probes is called with them, and what the
/// processor does at the same time differs from place to place. On the programs of `bench/truth` it is 4 to 7 ns of some 50.
const IN_PLACE: f64 = 0.15;
/// The same of calls that are not timed: no reading of the clock hides what the processor does at the same time.
const IN_PLACE_UNTIMED: f64 = 1.0;
/// Part of a method's own time that its exception handler may cost: compilers unroll a loop less often where one is around it. `matrix` of
/// `bench/truth` written in Java with `try` and `catch` and no probe takes up to 1.2 times as long as without.
pub const HANDLER: f64 = 1.0 / 6.0;
/// Calls that a virtual machine interprets before it compiles a method: Tier3InvocationThreshold of HotSpot.
const COLD_CALLS: f64 = 200.0;
/// How many times as much probes cost in a method that is interpreted.
const COLD: f64 = 10.0;

impl Doubt {
    /// The measurements at the start, at the end and in place differ by so much from the figures that are used; rounds scatter; and
    /// [`IN_PLACE`].
    pub fn of(cost: &Calibration) -> Doubt {
        let pair = cost.inner + cost.outer;
        let least = cost.least_rounds.unwrap_or(instrument_trace::LEAST_ROUNDS);
        let phases = || cost.phases().filter(|phase| phase.rounds >= least);
        let apart = phases().map(|phase| (phase.inner + phase.outer - pair).abs()).fold(0.0, f64::max);
        let spread = phases().map(|phase| phase.spread).fold(cost.spread, f64::max);
        let measured = if pair > 0.0 { (apart + spread) / pair } else { 0.0 };
        // The time of such a call is that of timed ones, whose part of the cost is taken out of it.
        let untimed = (measured + IN_PLACE) * cost.inner + (measured + IN_PLACE_UNTIMED) * untimed(cost);
        Doubt { each: apart + spread + IN_PLACE * pair, untimed, cold: COLD * pair }
    }

    /// The same for readings of the thread's CPU time.
    pub(crate) fn of_cpu(cost: &CpuCost) -> Doubt {
        let pair = cost.inner + cost.outer;
        Doubt { each: IN_PLACE * pair, untimed: IN_PLACE * pair, cold: COLD * pair }
    }

    /// Of all calls of a context, of which so many are timed and interpreted: see [`Cold`].
    pub fn sum(self, calls: Calls, cold: f64) -> f64 {
        calls.timed * self.each + calls.untimed * self.untimed + cold * self.cold
    }
}

/// The first [`COLD_CALLS`] of each method are interpreted. Which contexts they were in is told by the order in which the contexts were made.
#[derive(Debug, Default)]
pub struct Cold(HashMap<u32, f64>);

impl Cold {
    /// The calls of a method's next context: how many of the timed ones are interpreted.
    pub fn of(&mut self, method: u32, calls: Calls) -> f64 {
        let before = self.0.entry(method).or_default();
        let cold = (COLD_CALLS - *before).clamp(0.0, calls.timed);
        *before += calls.all();
        cold
    }
}

/// What recording these calls cost.
pub fn overhead(cost: &Calibration, calls: Calls, allocations: f64) -> f64 {
    calls.timed * (cost.inner + cost.outer)
        + calls.untimed * untimed(cost)
        + allocations * cost.allocation.unwrap_or(0.0)
}

/// An untimed call, both parts; as a timed one if that was not measured.
fn untimed(cost: &Calibration) -> f64 {
    match (cost.inner_untimed, cost.outer_untimed) {
        (None, None) => cost.inner + cost.outer,
        (inner, outer) => inner.unwrap_or(0.0) + outer.unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instrument_trace::Phase;

    fn cost() -> Calibration {
        Calibration {
            inner: 20.0,
            outer: 10.0,
            spread: 2.0,
            inner_untimed: Some(1.0),
            outer_untimed: Some(3.0),
            allocation: Some(5.0),
            ..Calibration::default()
        }
    }

    fn timed(timed: f64) -> Calls {
        Calls { timed, untimed: 0.0 }
    }

    #[test]
    fn a_tree_of_known_cost_comes_out_exact() {
        // f (100 ns of its own) calls g (30 ns) seven times and allocates twice.
        let (f, g) = (100.0, 30.0);
        let g_measured = 7.0 * (g + 20.0);
        let f_measured = f + 20.0 + 7.0 * 10.0 + 2.0 * 5.0;
        assert_eq!(exact(&cost(), g_measured, timed(7.0), timed(0.0), 0.0), 7.0 * g);
        assert_eq!(exact(&cost(), f_measured, timed(1.0), timed(7.0), 2.0), f);
        assert_eq!(overhead(&cost(), timed(8.0), 2.0), 8.0 * 30.0 + 10.0);
    }

    #[test]
    fn estimates_of_sampled_calls_come_out_exact() {
        // f calls g 8 times; 2 of them are timed. The estimate for g is 8 * (g + 20).
        let (f, g) = (100.0, 30.0);
        let calls = Calls { timed: 2.0, untimed: 6.0 };
        let g_estimate = 8.0 * (g + 20.0);
        let f_inclusive = f + 20.0 + 8.0 * g + 2.0 * 30.0 + 6.0 * 4.0;
        assert_eq!(exact(&cost(), g_estimate, calls, Calls::default(), 0.0), 8.0 * g);
        assert_eq!(exact(&cost(), f_inclusive - g_estimate, timed(1.0), calls, 0.0), f);
    }

    #[test]
    fn doubt_holds_the_phases_the_place_and_the_first_calls() {
        let phase = |inner, rounds| Some(Phase { inner, outer: 10.0, spread: 3.0, rounds });
        let cost = Calibration { inner: 20.0, outer: 10.0, spread: 2.0, ..Calibration::default() };
        assert_eq!(Doubt::of(&cost).sum(timed(1000.0), 200.0), 1000.0 * (2.0 + 4.5) + 200.0 * 300.0);
        let apart = Calibration { start: phase(22.0, 100), end: phase(13.0, 100), ..cost };
        assert_eq!(Doubt::of(&apart).sum(timed(1000.0), 200.0), 1000.0 * (7.0 + 3.0 + 4.5) + 60_000.0);
        let insufficient = Calibration { end: phase(900.0, 1), ..cost };
        assert_eq!(Doubt::of(&insufficient), Doubt::of(&cost));
        assert_eq!(Doubt::of_cpu(&CpuCost { inner: 20.0, outer: 10.0 }).sum(timed(1.0), 1.0), 304.5);
    }

    #[test]
    fn the_first_calls_of_a_method_are_interpreted_whatever_their_contexts() {
        let mut cold = Cold::default();
        assert_eq!(cold.of(1, timed(150.0)), 150.0);
        assert_eq!(cold.of(1, Calls { timed: 60.0, untimed: 1000.0 }), 50.0);
        assert_eq!((cold.of(1, timed(10.0)), cold.of(2, timed(10.0))), (0.0, 10.0));
    }
}
