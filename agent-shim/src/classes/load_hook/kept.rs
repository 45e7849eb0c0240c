//! The methods whose calls have their durations kept.

use instrument_control::latency::Kept;
use instrument_names::id_map::IdMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The patterns, and whether a method has matched.
pub(super) struct KeptMethods(Vec<(Kept, AtomicBool)>);

impl KeptMethods {
    pub(super) fn new(list: Vec<Kept>) -> KeptMethods {
        KeptMethods(list.into_iter().map(|kept| (kept, AtomicBool::new(false))).collect())
    }

    /// Those of these ids that match, each with the smallest threshold that was given, in ns.
    pub(super) fn among(&self, used: &[u32], ids: &IdMap) -> Vec<(u32, u64)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let threshold = |&id: &u32| {
            let entry = ids.lookup(id)?;
            let (name, descriptor) = (entry.method.name, entry.method.descriptor);
            let matching =
                self.0.iter().filter(|(kept, _)| kept.pattern.matches(entry.class, name, descriptor));
            let threshold = matching.map(|(kept, seen)| {
                seen.store(true, Relaxed);
                kept.threshold.unwrap_or(i64::MAX as u64)
            });
            Some((id, threshold.min()?))
        };
        used.iter().filter_map(threshold).collect()
    }

    /// The patterns that no method has matched.
    pub(super) fn unmatched(&self) -> impl Iterator<Item = String> {
        let unmatched = self.0.iter().filter(|(_, seen)| !seen.load(Relaxed));
        unmatched.map(|(kept, _)| kept.text.clone())
    }
}
