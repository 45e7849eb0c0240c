//! What must hold between the figures of a report (seed 001), for every consumer and resource:
//!
//! 1. Sum(parent(calls)) = self(calls)
//! 2. Sum(parent(base)) = self(base)
//! 3. Sum(parent(cum)) = self(cum)
//! 4. Sum(child(cum)) = self(cum) - self(base)
//!
//! [`crate::arcs`] defines the terms. They are checked on every run, on the very figures that are printed. Whole numbers, as
//! all that profiles hold, must agree exactly up to 2^53; fractions to one part in 10^9 of the total.

use std::fmt;

use crate::arcs::Arcs;
use crate::model::{Arcflow, Kind};
use crate::uncertainty::accompanies;

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    /// Which one: `calls`, `base`, `cum`, `children`.
    pub invariant: &'static str,
    /// Name of the consumer.
    pub consumer: String,
    /// Name of the resource; empty for calls.
    pub resource: String,
    /// What it says of itself.
    pub expected: f64,
    /// What its parents or children say.
    pub found: f64,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sum, is) = match self.invariant {
            "calls" => ("parent(calls)", "self(calls)"),
            "base" => ("parent(base)", "self(base)"),
            "cum" => ("parent(cum)", "self(cum)"),
            _ => ("child(cum)", "self(cum) - self(base)"),
        };
        let resource =
            if self.resource.is_empty() { String::new() } else { format!(" of {}", self.resource) };
        write!(f, "{}: Sum({sum}){resource} is {}, but {is} is {}", self.consumer, self.found, self.expected)
    }
}

/// What a check came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    pub consumers: usize,
    /// Equations that had to hold.
    pub equations: usize,
    /// Those that do not.
    pub violations: Vec<Violation>,
}

impl Checked {
    /// What the check came to, in a line.
    pub fn line(&self) -> String {
        let (equations, consumers) = (self.equations, self.consumers);
        match self.violations.len() {
            0 => format!("self-check passed: {equations} equations of {consumers} consumers"),
            n => format!(
                "self-check FAILED: {n} of {equations} equations of {consumers} consumers do not hold"
            ),
        }
    }
}

/// Checks all four for every consumer and resource. The virtual root has no parents; only the fourth is asked of it.
pub fn check(model: &Arcflow, arcs: &Arcs) -> Checked {
    let mut checked = Checked::default();
    for id in std::iter::once(Arcs::ROOT).chain(arcs.ids()) {
        let function = arcs.function(id);
        checked.consumers += 1;
        let mut equation = |invariant, resource: &str, expected: f64, found: f64, scale: f64| {
            checked.equations += 1;
            // Differences of figures that cannot be compared (NaN) are violations, too.
            let equal = expected == found || (expected - found).abs() <= scale.abs() * 1e-9;
            if !equal {
                let (consumer, resource) = (model.name(function.consumer).to_owned(), resource.to_owned());
                checked.violations.push(Violation { invariant, consumer, resource, expected, found });
            }
        };
        if function.kind != Kind::Root {
            let calls = arcs.parents(id).iter().fold(0u64, |sum, &a| sum.saturating_add(arcs.arc(a).calls));
            equation("calls", "", function.calls as f64, calls as f64, 0.0);
        }
        // What accompanies a resource is no consumption: it may be negative, and cancel out.
        let resources = model.resources().iter().enumerate().filter(|(_, resource)| !accompanies(resource));
        for (r, resource) in resources {
            // Only a figure that is no whole number may have lost something in a sum.
            let exact = [arcs.self_base(id)[r], arcs.self_cum(id)[r]];
            let whole = exact.iter().all(|x| x.fract() == 0.0) && arcs.total()[r].abs() < 9.0e15;
            let scale = if whole { 0.0 } else { arcs.total()[r] };
            let (base, cum) = (arcs.self_base(id)[r], arcs.self_cum(id)[r]);
            if function.kind != Kind::Root {
                let parents = arcs.parents(id);
                let found = parents.iter().map(|&a| arcs.base(a)[r]).sum();
                equation("base", &resource.name, base, found, scale);
                let found = parents.iter().map(|&a| arcs.parent_cum(a)[r]).sum();
                equation("cum", &resource.name, cum, found, scale);
            }
            let found = arcs.children(id).iter().map(|&a| arcs.child_cum(a)[r]).sum();
            equation("children", &resource.name, cum - base, found, scale);
        }
    }
    checked
}
