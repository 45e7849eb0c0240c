//! What the user has asked for and no class has fitted.

use super::LoadHook;
use instrument_control::keys;
use instrument_rewriter::filter::Filter;

impl LoadHook {
    /// The patterns that no class and no method has fitted, each with its option.
    pub(crate) fn unmatched(&self) -> Vec<(&'static str, String)> {
        let (mut include, mut exclude) = self.filter.unmatched();
        if let Some((jdk_include, jdk_exclude)) = self.jdk_filter.as_deref().map(Filter::unmatched) {
            // An include pattern that begins with a wildcard is not about the JDK, and not in its filter.
            include.retain(|pattern| pattern.starts_with(['*', '?']) || jdk_include.contains(pattern));
            exclude.retain(|pattern| jdk_exclude.contains(pattern));
        }
        let include = include.into_iter().map(|pattern| (keys::INCLUDE, pattern.to_owned()));
        let exclude = exclude.into_iter().map(|pattern| (keys::EXCLUDE, pattern.to_owned()));
        let kept = self.kept.unmatched().into_iter().map(|pattern| (keys::LATENCY, pattern));
        include.chain(exclude).chain(kept).collect()
    }

    /// Says at the end which regions' classes were never loaded. The roots that no method has matched.
    pub(crate) fn missed(&self) -> Vec<String> {
        self.regions.account_for_missed();
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
