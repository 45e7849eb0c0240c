//! Roots that are added and removed while the program runs.
//!
//! Whoever tells that a method [was entered](CallGraph::entered) tells it once. So what was entered beneath a root that
//! is removed is kept: it counts as entered again as soon as a call is known that leads to it from what is left.

use super::{CallGraph, Id, targets};
use instrument_names::pattern::MethodQuery;
use std::collections::HashSet;

impl CallGraph {
    /// More roots: they are followed when the graph grows. The names of the classes that have methods which are roots
    /// by these patterns, whether these were selected before or not, and of the classes that have callbacks, if there
    /// was no root before.
    pub fn add_roots(&mut self, patterns: Vec<MethodQuery>) -> Vec<Vec<u8>> {
        let mut touched = Vec::new();
        if self.patterns.is_empty() {
            let callbacks = self.callbacks.iter().filter(|id| self.marks.selected.insert(**id));
            touched.extend(callbacks.copied());
        }
        let found = self.matching(&patterns);
        for id in found {
            touched.push(id);
            self.roots.insert(id);
            self.waiting.push(id);
        }
        self.patterns.extend(patterns);
        self.names(touched)
    }

    /// Takes out the roots whose place in the list of patterns is one of these. What no other root can call is selected
    /// no more. The names of the classes with methods that were selected before.
    pub fn remove_roots(&mut self, places: &HashSet<usize>) -> Vec<Vec<u8>> {
        self.is_changed = true;
        let patterns = std::mem::take(&mut self.patterns).into_iter().enumerate();
        self.patterns =
            patterns.filter(|(place, _)| !places.contains(place)).map(|(_, pattern)| pattern).collect();
        self.roots = self.matching(&self.patterns).into_iter().collect();
        let entered = std::mem::take(&mut self.entered);
        let callbacks = if self.patterns.is_empty() { HashSet::new() } else { self.callbacks.clone() };
        let first = entered.intersection(&callbacks).chain(&self.roots).copied().collect();
        let kept = self.reached(first, &entered);
        self.left.extend(entered.difference(&kept));
        self.entered = kept;
        // Beneath which root nobody knows; what goes on to run is entered again.
        self.reflected.clear();
        self.waiting.retain(|id| self.roots.contains(id) || self.entered.contains(id));

        let all = self.marked(self.roots.union(&self.entered).copied().collect(), usize::MAX);
        let gone: Vec<Id> = self.marks.selected.difference(&all.selected).copied().collect();
        self.marks.selected.retain(|id| all.selected.contains(id));
        self.marks.followed.retain(|id| all.followed.contains(id));
        self.marks.used.clear();
        for id in &self.marks.followed {
            for one in self.classes.method(*id).into_iter().flat_map(|method| &method.uses) {
                self.marks.used.entry(one.class()).or_default().insert(*one);
            }
        }
        self.names(gone)
    }

    /// The methods of classes inside that fit one of the patterns.
    fn matching(&self, patterns: &[MethodQuery]) -> Vec<Id> {
        let mut found = Vec::new();
        for (&name, class) in &self.classes.inside {
            for method in &class.methods {
                let (method_name, descriptor) = self.classes.name_and_descriptor(method.selector);
                let of_class = self.classes.text(name);
                if patterns.iter().any(|root| root.matches(of_class, method_name, descriptor)) {
                    found.push((name, method.selector));
                }
            }
        }
        found
    }

    /// The first methods that were entered, and which of them calls lead to from there over methods that were entered.
    fn reached(&mut self, first: Vec<Id>, entered: &HashSet<Id>) -> HashSet<Id> {
        let mut seen: HashSet<Id> = first.iter().copied().collect();
        let mut open = first;
        while let Some(id) = open.pop() {
            for one in self.classes.method(id).into_iter().flat_map(|method| &method.uses) {
                let called = targets(&self.classes, &mut self.targets, *one).iter();
                open.extend(called.filter(|id| entered.contains(id) && seen.insert(**id)));
            }
        }
        seen.retain(|id| entered.contains(id));
        seen
    }

    /// What was entered beneath roots that were removed counts as entered again where what is followed now leads to it.
    pub(super) fn recall(&mut self) {
        let grew = std::mem::take(&mut self.left_grew);
        if self.left.is_empty() || (!grew && self.waiting.is_empty() && self.fresh.is_empty()) {
            return;
        }
        let left = std::mem::take(&mut self.left);
        let callbacks = left.intersection(&self.callbacks);
        let first = callbacks.chain(&self.roots).chain(&self.entered).copied().collect();
        let back = self.reached(first, &left);
        self.left = left.difference(&back).copied().collect();
        self.waiting.extend(&back);
        self.entered.extend(back);
    }
}
