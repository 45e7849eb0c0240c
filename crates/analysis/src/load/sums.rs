//! What had to be changed so that times fit each other, over all threads, in words.

use super::times::TreeTimes;

/// What had to be clamped, over all threads.
#[derive(Default)]
pub(super) struct Sums {
    contexts: u64,
    short: (u64, f64),
    below_zero: (u64, f64),
    pub(super) circular: u64,
}

impl Sums {
    pub(super) fn remarks(&self) -> Vec<String> {
        let time = |ns: f64| crate::text::quantity(ns, "ns");
        let mut remarks = Vec::new();
        let (contexts, (short, ns)) = (self.contexts, self.short);
        if short > 0 {
            remarks.push(format!(
                "{short} of {contexts} contexts took less than what they called, by {} in all; the least certain of these times was reduced",
                time(ns)
            ));
        }
        let (below, ns) = self.below_zero;
        if below > 0 {
            remarks.push(format!(
                "{below} of {contexts} contexts took less than their probes should have cost, by {} in all; the least certain of these times was reduced",
                time(ns)
            ));
        }
        if self.circular > 0 {
            remarks.push(format!("{} links lead back to what they caused; not followed", self.circular));
        }
        remarks
    }

    pub(super) fn add(&mut self, times: &TreeTimes) {
        self.contexts += times.nodes.len() as u64;
        self.short.0 += times.short.0;
        self.short.1 += times.short.1;
        self.below_zero.0 += times.below_zero.0;
        self.below_zero.1 += times.below_zero.1;
    }
}
