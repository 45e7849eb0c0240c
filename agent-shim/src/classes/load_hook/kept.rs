//! The methods whose calls have their durations kept. `instrument ctl PID latency` adds some while the recording goes on.

use super::LoadHook;
use instrument_control::latency::Kept;
use instrument_names::id_map::{Entry, IdMap};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

/// The patterns, and whether a method has matched.
pub(super) struct KeptMethods(RwLock<Vec<(Kept, AtomicBool)>>);

impl KeptMethods {
    pub(super) fn new(list: Vec<Kept>) -> KeptMethods {
        KeptMethods(RwLock::new(list.into_iter().map(|kept| (kept, AtomicBool::new(false))).collect()))
    }

    /// Those of these ids that match, each with the smallest threshold that was given, in ns.
    pub(super) fn among(&self, used: &[u32], ids: &IdMap) -> Vec<(u32, u64)> {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if list.is_empty() {
            return Vec::new();
        }
        let threshold = |&id: &u32| {
            let entry = ids.lookup(id)?;
            let (name, descriptor) = (entry.method.name, entry.method.descriptor);
            let matching =
                list.iter().filter(|(kept, _)| kept.pattern.matches(entry.class, name, descriptor));
            let threshold = matching.map(|(kept, seen)| {
                seen.store(true, Relaxed);
                kept.threshold.unwrap_or(i64::MAX as u64)
            });
            Some((id, threshold.min()?))
        };
        used.iter().filter_map(threshold).collect()
    }

    /// The patterns that no method has matched.
    pub(super) fn unmatched(&self) -> Vec<String> {
        let list = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let unmatched = list.iter().filter(|(_, seen)| !seen.load(Relaxed));
        unmatched.map(|(kept, _)| kept.text.clone()).collect()
    }
}

/// What became of a request for more of them.
pub(crate) struct Added {
    /// Methods of classes that were rewritten so far which fit the request and had no durations kept, with their thresholds in ns. Those that are excluded are
    /// among them: they may be included again.
    pub(crate) methods: Vec<(u32, u64)>,
    /// How many that are recorded fit the request.
    pub(crate) fitting: u64,
    /// Those of them that had their durations kept before, with another threshold, and keep it: what was counted by it would mean something else.
    pub(crate) other_threshold: u64,
    /// All patterns from now on.
    pub(crate) patterns: Vec<String>,
}

/// The methods of classes that have new bytes.
pub(super) fn recorded<'a>(
    ids: &'a IdMap,
    rewritten: &'a HashSet<Vec<u8>>,
) -> impl Iterator<Item = Entry<'a>> {
    ids.iter().filter(|entry| !entry.method.is_library_call() && rewritten.contains(entry.class))
}

impl LoadHook {
    /// From now on the durations of these methods are kept as well.
    pub(crate) fn keep_durations(&self, of: Vec<Kept>) -> Added {
        // Nobody numbers a class meanwhile: it is either among these ids, or meets the longer list.
        let mut instrumenter = self.instrumenter.write().unwrap_or_else(PoisonError::into_inner);
        let asked = KeptMethods::new(of.clone());
        let (mut methods, mut fitting, mut other_threshold) = (Vec::new(), 0, 0);
        if let Some(instrumenter) = instrumenter.as_mut() {
            let rewritten = self.rewritten.lock().unwrap_or_else(PoisonError::into_inner);
            let ids: Vec<u32> = recorded(instrumenter.ids(), &rewritten).map(|entry| entry.id).collect();
            methods = asked.among(&ids, instrumenter.ids());
            let ids: Vec<u32> = methods.iter().map(|(id, _)| *id).collect();
            let had: HashMap<u32, u64> = self.kept.among(&ids, instrumenter.ids()).into_iter().collect();
            for (id, threshold) in &methods {
                let is_excluded = instrumenter.ids().lookup(*id).is_some_and(|entry| {
                    let (name, descriptor) = (entry.method.name, entry.method.descriptor);
                    self.changes.exclude(&self.roots, entry.class, name, descriptor)
                });
                fitting += u64::from(!is_excluded);
                other_threshold +=
                    u64::from(!is_excluded && had.get(id).is_some_and(|before| before != threshold));
            }
            methods.retain(|(id, _)| !had.contains_key(id));
        }
        let mut list = self.kept.0.write().unwrap_or_else(PoisonError::into_inner);
        for (kept, seen) in asked.0.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let text = kept.to_string();
            match list.iter().find(|(other, _)| other.to_string() == text) {
                Some((_, was)) => was.store(was.load(Relaxed) | seen.load(Relaxed), Relaxed),
                None => list.push((kept, seen)),
            }
        }
        let patterns = list.iter().map(|(kept, _)| kept.to_string()).collect();
        Added { methods, fitting, other_threshold, patterns }
    }
}
