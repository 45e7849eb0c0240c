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
    /// How many times were changed so that no call takes less than what it calls.
    pub(super) fn adjusted(&self) -> Option<String> {
        let (short, below) = (self.short, self.below_zero);
        let paths = short.0 + below.0;
        let share = crate::text::percent(paths as f64, self.contexts as f64);
        let time = crate::text::quantity(short.1 + below.1, "ns");
        (paths > 0).then(|| format!("times of {share} % of the paths did not add up ({time}); adjusted"))
    }

    /// Links that were not followed.
    pub(super) fn circular(&self) -> Option<String> {
        let circular = self.circular;
        (circular > 0).then(|| format!("{circular} links lead back to what they caused; not followed"))
    }

    pub(super) fn add(&mut self, times: &TreeTimes) {
        self.contexts += times.nodes.len() as u64;
        self.short.0 += times.short.0;
        self.short.1 += times.short.1;
        self.below_zero.0 += times.below_zero.0;
        self.below_zero.1 += times.below_zero.1;
    }
}
