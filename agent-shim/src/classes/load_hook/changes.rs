//! What `instrument ctl PID exclude` and `include` have changed about the selection since the recording began.

use super::LoadHook;
use super::kept::recorded;
use super::roots::Roots;
use instrument_names::pattern::{Fit, Pattern};
use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// The most rules; each class that loads is compared with all of them.
const MOST_RULES: usize = 100_000;

/// What the rules say, but for roots, which stay as they are.
#[derive(Default)]
pub(super) struct Changes {
    /// In the order in which they came. The last one that a method fits decides.
    rules: RwLock<Vec<Rule>>,
}

struct Rule {
    pattern: Pattern,
    excludes: bool,
}

/// The methods that one change concerns.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// Their ids, ascending: methods that were recorded, or not recorded, and no longer are so.
    pub(crate) ids: Vec<u32>,
    /// The internal names of their classes.
    pub(crate) classes: HashSet<Vec<u8>>,
    /// Methods that fit and stay as they are, since they are roots.
    pub(crate) roots: usize,
}

/// Whether a method has no probes by these rules.
fn excludes(rules: &[Rule], class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
    let last = rules.iter().rev().find(|rule| rule.pattern.matches(class, name, descriptor));
    last.is_some_and(|rule| rule.excludes)
}

impl Changes {
    /// Whether any rule is about methods of this class.
    pub(super) fn concern(&self, class: &[u8]) -> bool {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.iter().any(|rule| rule.pattern.class(class) != Fit::None)
    }

    /// Whether a method was excluded.
    pub(super) fn exclude(&self, roots: &Roots, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        excludes(&rules, class, name, descriptor) && !roots.is_root(class, name, descriptor)
    }
}

impl LoadHook {
    /// From now on methods that fit are recorded (`excluded`: not recorded). Which methods of classes that were rewritten so far this concerns;
    /// those classes are to go through the hook again. Roots stay.
    ///
    /// # Errors
    /// There are too many rules.
    pub(crate) fn change(&self, excluded: bool, patterns: Vec<Pattern>) -> Result<Changed, String> {
        let mut changed = Changed::default();
        let mut instrumenter = self.instrumenter.write().unwrap_or_else(PoisonError::into_inner);
        let Some(instrumenter) = instrumenter.as_mut() else { return Ok(changed) };
        let rewritten = self.rewritten.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rules = self.changes.rules.write().unwrap_or_else(PoisonError::into_inner);
        if rules.len() + patterns.len() > MOST_RULES {
            return Err(format!("{MOST_RULES} patterns is the most that one recording takes"));
        }
        for entry in recorded(instrumenter.ids(), &rewritten) {
            let (class, name, descriptor) = (entry.class, entry.method.name, entry.method.descriptor);
            if !patterns.iter().any(|pattern| pattern.matches(class, name, descriptor))
                || excludes(&rules, class, name, descriptor) == excluded
            {
                continue;
            }
            if excluded && self.roots.is_root(class, name, descriptor) {
                changed.roots += 1;
                continue;
            }
            changed.ids.push(entry.id);
            if !changed.classes.contains(class) {
                changed.classes.insert(class.to_vec());
            }
        }
        rules.extend(patterns.into_iter().map(|pattern| Rule { pattern, excludes: excluded }));
        Ok(changed)
    }
}
