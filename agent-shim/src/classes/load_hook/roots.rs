//! The roots, which `instrument ctl PID root` and `instrument ctl PID remove` change while the recording goes on.

use super::LoadHook;
use super::kept::recorded;
use crate::jvmti::Named;
use instrument_names::id_map::Entry;
use instrument_names::pattern::{Fit, MethodQuery, Pattern};
use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// The roots, in the order in which the instrumenter and the call graph have them.
pub(super) struct Roots(RwLock<Vec<Root>>);

struct Root {
    text: String,
    pattern: MethodQuery,
}

impl Roots {
    /// # Errors
    /// A pattern cannot be read, and why.
    pub(super) fn new(texts: &[String]) -> Result<Roots, String> {
        Ok(Roots(RwLock::new(parsed(texts)?)))
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Root>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn texts(&self) -> Vec<String> {
        self.read().iter().map(|root| root.text.clone()).collect()
    }

    pub(super) fn patterns(&self) -> Vec<MethodQuery> {
        self.read().iter().map(|root| root.pattern.clone()).collect()
    }

    /// Whether methods of this class may be roots.
    pub(super) fn may_be_in(&self, class: &[u8]) -> bool {
        let fits = |pattern: &Pattern| pattern.class(class) != Fit::None;
        self.read().iter().any(|root| root.pattern.patterns().iter().any(fits))
    }

    /// Whether a method is a root.
    pub(super) fn is_root(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.read().iter().any(|root| root.pattern.matches(class, name, descriptor))
    }
}

fn parsed(texts: &[String]) -> Result<Vec<Root>, String> {
    let root = |text: &String| {
        let pattern = MethodQuery::new(text).map_err(|error| error.to_string())?;
        Ok(Root { text: text.clone(), pattern })
    };
    texts.iter().map(root).collect()
}

/// Roots that were taken out.
pub(crate) struct Removed {
    /// Where they were in the list.
    pub(crate) places: HashSet<usize>,
    /// Ids of the methods that are roots no longer, ascending.
    pub(crate) ids: Vec<u32>,
}

impl LoadHook {
    /// The roots, as they were given.
    pub(crate) fn roots(&self) -> Vec<String> {
        self.roots.texts()
    }

    /// Whether a method is a root.
    pub(crate) fn is_root(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.roots.is_root(class, name, descriptor)
    }

    /// The ids of those of these methods that have one. Of classes of the same name, that of the one which came last.
    pub(crate) fn ids_by_name(&self, names: &HashSet<Named>) -> HashMap<Named, u32> {
        let mut instrumenter = self.instrumenter.write().unwrap_or_else(PoisonError::into_inner);
        let Some(instrumenter) = instrumenter.as_mut() else { return HashMap::new() };
        let mut ids = HashMap::new();
        for entry in instrumenter.ids().iter().filter(|entry| !entry.method.is_library_call()) {
            let (class, name, descriptor) = (entry.class, entry.method.name, entry.method.descriptor);
            let name = (class.to_vec(), name.to_vec(), descriptor.to_vec());
            if names.contains(&name) {
                ids.insert(name, entry.id);
            }
        }
        ids
    }

    /// More roots, for classes that are rewritten from now on.
    ///
    /// # Errors
    /// A pattern that cannot be read, or is a root already. No root was added.
    pub(crate) fn add_roots(&self, texts: &[String]) -> Result<Vec<MethodQuery>, String> {
        let added = parsed(texts)?;
        let mut instrumenter = self.instrumenter.write().unwrap_or_else(PoisonError::into_inner);
        let instrumenter = instrumenter.as_mut().ok_or("the recording has ended")?;
        let mut roots = self.roots.0.write().unwrap_or_else(PoisonError::into_inner);
        for (place, text) in texts.iter().enumerate() {
            if texts[..place].contains(text) || roots.iter().any(|root| root.text == *text) {
                return Err(format!("{text} is a root already; nothing was changed"));
            }
        }
        let patterns: Vec<MethodQuery> = added.iter().map(|root| root.pattern.clone()).collect();
        patterns.iter().for_each(|pattern| instrumenter.watch_also(pattern.clone()));
        roots.extend(added);
        Ok(patterns)
    }

    /// Takes roots out, by the texts with which they were given.
    ///
    /// # Errors
    /// One of them is no root. None was taken out.
    pub(crate) fn remove_roots(&self, texts: &[String]) -> Result<Removed, String> {
        let mut instrumenter = self.instrumenter.write().unwrap_or_else(PoisonError::into_inner);
        let instrumenter = instrumenter.as_mut().ok_or("the recording has ended")?;
        let mut roots = self.roots.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut places = HashSet::new();
        for text in texts {
            let Some(place) = roots.iter().position(|root| root.text == *text) else {
                let known: Vec<&str> = roots.iter().map(|root| root.text.as_str()).collect();
                let known = if known.is_empty() { "there is none".into() } else { known.join(", ") };
                return Err(format!(
                    "{text} is no root; give a root as it was given: {known}; nothing was changed"
                ));
            };
            places.insert(place);
        }
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        for (place, root) in roots.drain(..).enumerate() {
            if places.contains(&place) { removed.push(root) } else { left.push(root) }
        }
        *roots = left;
        let fits = |list: &[Root], class: &[u8], name: &[u8], descriptor: &[u8]| {
            list.iter().any(|root| root.pattern.matches(class, name, descriptor))
        };
        let mut ids = Vec::new();
        for entry in instrumenter.ids().iter() {
            let (class, name, descriptor) = (entry.class, entry.method.name, entry.method.descriptor);
            if !entry.method.is_library_call()
                && fits(&removed, class, name, descriptor)
                && !fits(&roots, class, name, descriptor)
            {
                ids.push(entry.id);
            }
        }
        let mut descending: Vec<usize> = places.iter().copied().collect();
        descending.sort_unstable_by(|a, b| b.cmp(a));
        descending.into_iter().for_each(|place| instrumenter.forget_watched(place));
        Ok(Removed { places, ids })
    }

    /// Ids of the methods that have new bytes and fit one of the patterns, ascending.
    pub(crate) fn ids_of(&self, patterns: &[MethodQuery]) -> Vec<u32> {
        let mut instrumenter = self.instrumenter.write().unwrap_or_else(PoisonError::into_inner);
        let Some(instrumenter) = instrumenter.as_mut() else { return Vec::new() };
        let rewritten = self.rewritten.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |entry: &Entry<'_>| {
            let (class, name, descriptor) = (entry.class, entry.method.name, entry.method.descriptor);
            patterns.iter().any(|pattern| pattern.matches(class, name, descriptor))
        };
        recorded(instrumenter.ids(), &rewritten).filter(fits).map(|entry| entry.id).collect()
    }

    /// How many of these classes have had new bytes.
    pub(crate) fn were_rewritten(&self, names: &[Vec<u8>]) -> usize {
        let rewritten = self.rewritten.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().filter(|name| rewritten.contains(*name)).count()
    }
}
