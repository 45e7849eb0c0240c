//! What root methods can call: a call subgraph, as JFluid (seed 002, section 6) takes it from classes that are loaded.
//!
//! A class of the program is *inside*: its methods and what they call are known from its bytes. Every other class (the
//! JDK's, mostly) is *outside*: of those above a class inside, the names of their methods are known.
//!
//! A method that is *selected* gets probes. If it is *followed* as well, what it may call is selected:
//!
//! 1. by class hierarchy analysis, the method that a name resolves to (JVMS 5.4.3.3) and every method of a class below
//!    that could be selected in its place (JVMS 5.4.6);
//! 2. a method handle that an `invokedynamic` or a constant names: so lambdas are followed;
//! 3. the initialiser of a class that it makes objects of or uses statically.
//!
//! By class hierarchy analysis alone a method of a large program can call nearly all of it (JFluid's scheme A), so that
//! it only bounds what is selected. Followed are the roots, what [was entered](CallGraph::entered) beneath a root
//! (scheme B), and as many methods ahead of these as [`CallGraph::grow`] is allowed to add, the nearest first, so that
//! few steps reach the end. [`CallGraph::shrink`] gives back what was added ahead: then what was entered is followed,
//! and nothing else.
//!
//! What a class inside overrides of a class outside can be called from there, and nobody knows by whom (`compareTo`,
//! `run`, `hashCode`). Such a *callback* is selected always.
//!
//! What calls by reflection and by method handles that are not constants lead to is not in the bytes: whoever sees such
//! a call [says what it is about to call](CallGraph::reflected).
//!
//! Roots [can be added and removed](CallGraph::add_roots). Without any root nothing is selected.

mod change;
mod classes;

use crate::error::ClassError;
use classes::{Classes, Id, Symbol, Use};
use instrument_names::pattern::MethodQuery;
use std::collections::{HashMap, HashSet, VecDeque};

/// The classes, and what of them is selected.
#[derive(Debug, Default)]
pub struct CallGraph {
    patterns: Vec<MethodQuery>,
    classes: Classes,
    roots: HashSet<Id>,
    callbacks: HashSet<Id>,
    /// Methods that were entered beneath a root.
    entered: HashSet<Id>,
    /// Methods that were about to be called by reflection beneath a root.
    reflected: HashSet<Id>,
    /// Methods that were entered beneath roots which were removed, as far as no call is known that leads to them
    /// beneath another.
    left: HashSet<Id>,
    /// Roots were removed.
    is_changed: bool,
    /// Of what is left, some came since [`recall`](CallGraph::recall) looked at it.
    left_grew: bool,
    marks: Marks,
    /// What a use leads to, until a class comes in that changes it; by the class that it names.
    targets: HashMap<Symbol, HashMap<Use, Vec<Id>>>,
    /// Classes inside that came in, or of which more is known, since the graph grew.
    fresh: HashSet<Symbol>,
    /// Methods to be followed that were not when the graph grew.
    waiting: Vec<Id>,
}

/// What is selected, and why.
#[derive(Debug, Default)]
struct Marks {
    selected: HashSet<Id>,
    followed: HashSet<Id>,
    /// What followed methods do, by the class that is named: looked at again when one comes in that is below it.
    used: HashMap<Symbol, HashSet<Use>>,
}

impl CallGraph {
    /// A graph without classes; methods that fit a pattern are its roots.
    pub fn new(roots: Vec<MethodQuery>) -> CallGraph {
        CallGraph { patterns: roots, ..CallGraph::default() }
    }

    /// Adds a class inside, by its bytes. Classes of one name, which loaders may have, count as one that does what each
    /// of them does.
    ///
    /// # Errors
    /// The bytes are no class file that can be followed; the class is not added.
    pub fn add(&mut self, class: &[u8]) -> Result<(), ClassError> {
        let Some(name) = self.classes.add(class)? else { return Ok(()) };
        let methods = self.classes.inside.get(&name).map_or(&[][..], |class| &class.methods);
        for method in methods {
            let id = (name, method.selector);
            let (of_class, (method, descriptor)) =
                (self.classes.text(name), self.classes.name_and_descriptor(method.selector));
            if self.patterns.iter().any(|root| root.matches(of_class, method, descriptor))
                && self.roots.insert(id)
            {
                self.waiting.push(id);
            }
            // Another class of the name was there.
            if self.marks.followed.remove(&id) {
                self.waiting.push(id);
            }
        }
        self.came_in(name);
        Ok(())
    }

    /// The classes above one inside of which nothing is known.
    pub fn unknown(&self) -> Vec<Vec<u8>> {
        self.classes.unknown()
    }

    /// Adds a class outside: those directly above it, and the names and descriptors of its methods that can be
    /// overridden.
    pub fn add_outside<'m>(
        &mut self,
        name: &[u8],
        above: &[Vec<u8>],
        methods: impl IntoIterator<Item = (&'m [u8], &'m [u8])>,
    ) {
        for class in self.classes.add_outside(name, above, methods) {
            self.came_in(class);
        }
    }

    fn came_in(&mut self, name: Symbol) {
        self.fresh.insert(name);
        for class in self.classes.all_above(name) {
            self.targets.remove(&class);
        }
    }

    /// A method was entered beneath a root: it is followed when the graph grows.
    pub fn entered(&mut self, class: &[u8], name: &[u8], descriptor: &[u8]) {
        let Some(id) = self.classes.id(class, name, descriptor) else { return };
        if self.is_changed && !self.marks.selected.contains(&id) {
            // Beneath a root that was removed meanwhile, unless a call leads to it.
            self.left_grew |= !self.entered.contains(&id) && self.left.insert(id);
        } else if self.entered.insert(id) {
            self.left.remove(&id);
            self.waiting.push(id);
        }
    }

    /// A method is about to be called by reflection beneath a root: what that may run is followed when the graph grows,
    /// as if it was entered. The names of the classes that have it.
    pub fn reflected(&mut self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Vec<Vec<u8>> {
        let called = self.classes.call_by_name(class, name, descriptor);
        for id in &called {
            if self.reflected.insert(*id) {
                self.waiting.push(*id);
            }
        }
        self.names(called)
    }

    /// Follows the roots and what was entered, and then what these call while at most about `ahead` methods are added.
    /// The names of the classes with methods that were not selected before.
    pub fn grow(&mut self, ahead: usize) -> Vec<Vec<u8>> {
        if self.patterns.is_empty() {
            return Vec::new();
        }
        self.recall();
        let mut added = Vec::new();
        let mut near = Vec::new();
        for name in std::mem::take(&mut self.fresh) {
            for callback in self.classes.callbacks(name) {
                self.callbacks.insert(callback);
                added.extend(self.marks.selected.insert(callback).then_some(callback));
            }
            for class in self.classes.all_above(name) {
                for one in self.marks.used.get(&class).into_iter().flatten() {
                    let targets = targets(&self.classes, &mut self.targets, *one);
                    near.extend(targets.iter().filter(|id| self.marks.selected.insert(**id)));
                }
            }
        }
        added.extend(&near);
        let first = std::mem::take(&mut self.waiting);
        added.extend(self.marks.follow(&self.classes, &mut self.targets, first, near, ahead));
        self.names(added)
    }

    /// Follows only the roots and what was entered from now on, if less than `part` of the methods would stay selected.
    /// The names of the classes with methods that were selected before.
    pub fn shrink(&mut self, part: f64) -> Vec<Vec<u8>> {
        let marks = self.marked(self.known_to_run(), 0);
        if marks.selected.len() as f64 >= part * self.marks.selected.len() as f64 {
            return Vec::new();
        }
        let before = std::mem::replace(&mut self.marks, marks);
        let gone = before.selected.difference(&self.marks.selected).copied().collect();
        self.names(gone)
    }

    /// What is followed in any case.
    fn known_to_run(&self) -> Vec<Id> {
        let known: HashSet<Id> =
            self.roots.iter().chain(&self.entered).chain(&self.reflected).copied().collect();
        known.into_iter().collect()
    }

    /// What would be selected if all that the roots can call were followed, but for what callbacks call.
    pub fn hull(&mut self) -> Counts {
        let marks = self.marked(self.roots.iter().copied().collect(), usize::MAX);
        self.counts_of(&marks)
    }

    /// Marks anew.
    fn marked(&mut self, first: Vec<Id>, ahead: usize) -> Marks {
        let callbacks = if self.patterns.is_empty() { HashSet::new() } else { self.callbacks.clone() };
        let mut marks = Marks { selected: callbacks, ..Marks::default() };
        marks.follow(&self.classes, &mut self.targets, first, Vec::new(), ahead);
        marks
    }

    fn names(&self, methods: Vec<Id>) -> Vec<Vec<u8>> {
        let classes: HashSet<Symbol> = methods.into_iter().map(|(class, _)| class).collect();
        classes.into_iter().map(|class| self.classes.text(class).to_vec()).collect()
    }

    /// Whether a method is selected.
    pub fn selects(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.classes.id(class, name, descriptor).is_some_and(|id| self.marks.selected.contains(&id))
    }

    /// Whether a method of the class is.
    pub fn selects_of(&self, class: &[u8]) -> bool {
        let name = self.classes.known(class);
        let class = name.and_then(|name| self.classes.inside.get(&name).map(|class| (name, class)));
        class.is_some_and(|(name, class)| {
            class.methods.iter().any(|method| self.marks.selected.contains(&(name, method.selector)))
        })
    }

    /// What is selected.
    pub fn counts(&self) -> Counts {
        self.counts_of(&self.marks)
    }

    fn counts_of(&self, marks: &Marks) -> Counts {
        let classes: HashSet<Symbol> = marks.selected.iter().map(|(class, _)| *class).collect();
        Counts {
            classes: self.classes.inside.len(),
            selected_classes: classes.len(),
            selected: marks.selected.len(),
            callbacks: self.callbacks.len(),
            entered: self.entered.len() + self.left.len(),
        }
    }
}

impl Marks {
    /// Follows methods, and then those that are near and what all of them call, the nearest first, until `ahead`
    /// methods are added. The methods that were not selected before.
    fn follow(
        &mut self,
        classes: &Classes,
        cache: &mut HashMap<Symbol, HashMap<Use, Vec<Id>>>,
        first: Vec<Id>,
        near: Vec<Id>,
        ahead: usize,
    ) -> Vec<Id> {
        let mut added: Vec<Id> = Vec::new();
        let has_code = |id: &Id| classes.method(*id).is_some_and(|method| method.has_code);
        added.extend(first.iter().filter(|id| has_code(id) && self.selected.insert(**id)));
        let mut must = first.len();
        let mut open = VecDeque::from(first);
        open.extend(near);
        while let Some(id) = open.pop_front() {
            if must == 0 && added.len() >= ahead {
                break;
            }
            must = must.saturating_sub(1);
            let Some(method) = classes.method(id) else { continue };
            if !self.followed.insert(id) {
                continue;
            }
            for one in &method.uses {
                self.used.entry(one.class()).or_default().insert(*one);
                for target in targets(classes, cache, *one) {
                    added.extend(self.selected.insert(*target).then_some(*target));
                    if !self.followed.contains(target) {
                        open.push_back(*target);
                    }
                }
            }
        }
        added
    }
}

/// What it leads to.
fn targets<'c>(
    classes: &Classes,
    cache: &'c mut HashMap<Symbol, HashMap<Use, Vec<Id>>>,
    one: Use,
) -> &'c [Id] {
    cache.entry(one.class()).or_default().entry(one).or_insert_with(|| classes.targets(one))
}

/// How many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Classes inside.
    pub classes: usize,
    /// Those with selected methods.
    pub selected_classes: usize,
    /// Selected methods.
    pub selected: usize,
    /// Those of them that classes outside can call.
    pub callbacks: usize,
    /// Methods that were entered, also beneath roots that were removed.
    pub entered: usize,
}
