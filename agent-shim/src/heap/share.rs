//! How much the program allocates in all, so that the share of it that is recorded is known: an estimate from samples of the virtual
//! machine (JEP 331, `SampledObjectAlloc`), where it does not report every object anyway.
//!
//! The virtual machine reports an object about every [`INTERVAL`] bytes that a thread allocates, at distances that are distributed
//! exponentially. An object of s bytes is reported with the probability p = 1 - exp(-s / [`INTERVAL`]), so each that is reported stands for
//! s / p bytes, and their sum is off by the root of the sum of (1 - p) (s / p)².
//!
//! Java 11 reports too many: the sum was 8 % too large there, so the estimate is made from Java 17 on.
//!
//! Not in it: what the first thread allocates until its allocation buffer is full for the first time.

use crate::jvmti::{Capability, Event, Jvmti, JvmtiError};
use std::sync::{Mutex, PoisonError};

/// Bytes between two samples on average: each costs about as much as a recorded object does.
const INTERVAL: i32 = 128 << 10;

/// One agent of the process can have it.
const CAPABILITY: Capability = Capability::GenerateSampledObjectAllocEvents;

/// The first version of Java whose samples are as many as they should be, of those that were tried (11, 17, 21, 25).
const FIRST_VERSION: u32 = 17;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sum {
    bytes: f64,
    /// Square of the standard error of `bytes`.
    variance: f64,
}

/// None: not known.
static SUM: Mutex<Option<Sum>> = Mutex::new(None);

/// Another recording begins, of which nothing is known.
pub(super) fn renew() {
    *sum() = None;
}

/// Before there are threads.
pub(super) fn prepare(jvmti: Jvmti<'_>) -> Result<(), JvmtiError> {
    if jvmti.feature_version() < FIRST_VERSION {
        return Ok(());
    }
    jvmti.add_capabilities(&[CAPABILITY])?;
    jvmti.sample_objects(INTERVAL)?;
    *sum() = Some(Sum { bytes: 0.0, variance: 0.0 });
    Ok(())
}

/// From here on objects are recorded.
pub(super) fn begin(jvmti: Jvmti<'_>) {
    let mut sum = sum();
    if sum.is_some() && jvmti.enable(Event::SampledObjectAlloc).is_err() {
        *sum = None;
    }
}

/// An object of so many bytes was reported.
pub(super) fn sampled(size: i64) {
    if let Some(sum) = sum().as_mut() {
        sum.add(size as f64);
    }
}

/// What is known, as properties of the profile.
pub(super) fn properties() -> String {
    match *sum() {
        Some(Sum { bytes, variance }) if bytes > 0.0 => {
            format!("heap.allocated={bytes:.0}\nheap.allocated.error={:.0}\n", variance.sqrt())
        }
        _ => String::new(),
    }
}

fn sum() -> std::sync::MutexGuard<'static, Option<Sum>> {
    SUM.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sum {
    fn add(&mut self, size: f64) {
        // 1 - exp(-x), also where x is small.
        let probability = -(-size / f64::from(INTERVAL)).exp_m1();
        let stands_for = size / probability;
        self.bytes += stands_for;
        self.variance += (1.0 - probability) * stands_for * stands_for;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_stands_for_what_was_not_reported() {
        let interval = f64::from(INTERVAL);
        let mut sum = Sum { bytes: 0.0, variance: 0.0 };
        sum.add(16.0);
        // Of small objects one in an interval is reported.
        assert!((sum.bytes - interval).abs() < 16.0, "{sum:?}");
        assert!((sum.variance.sqrt() - interval).abs() < 16.0, "{sum:?}");
        let mut sum = Sum { bytes: 0.0, variance: 0.0 };
        sum.add(20.0 * interval);
        // Of large ones each.
        assert!(
            (sum.bytes / interval - 20.0).abs() < 1e-6 && sum.variance.sqrt() < 0.01 * interval,
            "{sum:?}"
        );
    }
}
