//! What the user has asked for and no class has fitted.

use super::LoadHook;
use crate::talk::say;
use instrument_control::keys;
use instrument_rewriter::filter::Filter;
use instrument_rewriter::instrumenter::RegionRecord;
use std::sync::atomic::Ordering::Relaxed;

impl LoadHook {
    /// Says of regions why they are not timed.
    pub(super) fn account(&self, records: &[RegionRecord]) {
        for record in records {
            let met = self.regions_met[record.region].swap(true, Relaxed);
            if let (false, Some(fault)) = (met, &record.fault) {
                say(format_args!("region {} is not timed: {fault}", self.regions[record.region].name));
            }
        }
    }

    /// The patterns that no class and no method has fitted, each with its option.
    pub(crate) fn unmatched(&self) -> Vec<(&'static str, String)> {
        let (mut include, mut exclude) = self.filter.unmatched();
        if let Some((jdk_include, jdk_exclude)) = self.jdk_filter.as_deref().map(Filter::unmatched) {
            // An include pattern that begins with a wildcard is not about the JDK, and not in its filter.
            include.retain(|pattern| pattern.starts_with(['*', '?']) || jdk_include.contains(pattern));
            exclude.retain(|pattern| jdk_exclude.contains(pattern));
        }
        let include = include.into_iter().map(|pattern| (keys::INCLUDE, pattern.to_owned()));
        include.chain(exclude.into_iter().map(|pattern| (keys::EXCLUDE, pattern.to_owned()))).collect()
    }

    /// Says at the end which regions' classes were never loaded. The roots that no method has matched.
    pub(crate) fn missed(&self) -> Vec<String> {
        for (region, met) in self.regions.iter().zip(&self.regions_met) {
            if !met.load(Relaxed) {
                say(format_args!("region {} was not timed: its class was not loaded", region.name));
            }
        }
        self.missing_roots()
    }

    /// The patterns of every option that nothing has fitted so far, each with its option.
    pub(crate) fn unfitted(&self) -> Vec<(String, String)> {
        let roots = self.missing_roots().into_iter().map(|root| (keys::ROOT, root));
        let all = self.unmatched().into_iter().chain(roots);
        all.map(|(key, pattern)| (key.to_owned(), pattern)).collect()
    }

    pub(super) fn missing_roots(&self) -> Vec<String> {
        let Ok(instrumenter) = self.instrumenter.read() else { return Vec::new() };
        let Some(instrumenter) = instrumenter.as_ref() else { return Vec::new() };
        let seen = self.roots().into_iter().zip(instrumenter.seen());
        seen.filter(|(_, seen)| !seen).map(|(root, _)| root).collect()
    }
}
