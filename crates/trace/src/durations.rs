//! How long the calls of a context took.

use crate::histogram::Histogram;

/// The durations of the calls of a context that have ended. Calls within a call of the same method are part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextDurations {
    /// Of calls that returned.
    pub returned: Histogram,
    /// Of calls that ended with an exception.
    pub failed: Histogram,
    /// ns beyond which calls were counted; none: no threshold was given, or another one elsewhere.
    pub threshold: Option<u64>,
    /// Calls that took longer.
    pub over: u64,
}

impl ContextDurations {
    /// Calls.
    pub fn count(&self) -> u64 {
        self.returned.count().saturating_add(self.failed.count())
    }

    /// Adds those of another context. What exceeds thresholds is known only while all have the same.
    pub fn merge(&mut self, other: &ContextDurations) {
        if self.count() == 0 {
            (self.threshold, self.over) = (other.threshold, other.over);
        } else if other.count() > 0 && self.threshold == other.threshold {
            self.over = self.over.saturating_add(other.over);
        } else if other.count() > 0 {
            (self.threshold, self.over) = (None, 0);
        }
        self.returned.merge(&other.returned);
        self.failed.merge(&other.failed);
    }

    /// Takes away those of an earlier moment.
    pub fn subtract(&mut self, earlier: &ContextDurations) {
        self.returned.subtract(&earlier.returned);
        self.failed.subtract(&earlier.failed);
        self.over = self.over.saturating_sub(earlier.over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(returned: &[u64], failed: &[u64], threshold: Option<u64>) -> ContextDurations {
        let mut durations = ContextDurations { threshold, ..ContextDurations::default() };
        returned.iter().for_each(|ns| durations.returned.add(*ns));
        failed.iter().for_each(|ns| durations.failed.add(*ns));
        let all = returned.iter().chain(failed);
        durations.over = threshold.map_or(0, |ns| all.filter(|took| **took > ns).count() as u64);
        durations
    }

    #[test]
    fn a_sum_has_what_both_have_and_counts_over_one_threshold_only() {
        let mut sum = ContextDurations::default();
        sum.merge(&of(&[5, 70], &[], Some(50)));
        sum.merge(&of(&[80], &[90], Some(50)));
        assert_eq!(sum, of(&[5, 70, 80], &[90], Some(50)));
        sum.merge(&ContextDurations::default());
        assert_eq!((sum.threshold, sum.over), (Some(50), 3));
        let before = of(&[70], &[], Some(50));
        let mut came = sum.clone();
        came.subtract(&before);
        assert_eq!((came.count(), came.over), (3, 2));
        sum.merge(&of(&[1], &[], None));
        assert_eq!((sum.threshold, sum.over, sum.count()), (None, 0, 5));
    }
}
