//! Which classes and methods are instrumented, by patterns ([`instrument_names::pattern`]).
//!
//! A method is instrumented when it matches some include (or there are none), matches no exclude, its class is in the
//! set given to [`Filter::restrict_to`] (if one was), and it is not part of our own runtime, [`RUNTIME_PACKAGE`].

mod subclasses;

pub use subclasses::{ClassSet, SubclassIndex};

use crate::reason::Reason;
pub use crate::runtime::{API_PACKAGE, RUNTIME_PACKAGE, is_own};
use instrument_names::glob;
use instrument_names::pattern::{BadPattern, Fit, Pattern};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Include and exclude patterns, compiled. The default lets everything in but our own runtime.
#[derive(Debug, Default, Clone)]
pub struct Filter {
    include: Vec<Watched>,
    exclude: Vec<Watched>,
    restrict_to: Option<ClassSet>,
}

/// What a filter says of a class as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassVerdict {
    /// No method of it is wanted.
    Skip(Reason),
    /// Every method of it is wanted.
    All,
    /// Ask [`Filter::method`] for each.
    ByMethod,
}

/// A pattern, and whether a class or method has fitted it; clones share that.
#[derive(Debug, Clone)]
struct Watched {
    pattern: Pattern,
    seen: Arc<AtomicBool>,
}

impl Watched {
    fn list<S: AsRef<str>>(lists: &[S]) -> Result<Vec<Watched>, BadPattern> {
        let mut all = Vec::new();
        for list in lists {
            let patterns = Pattern::list(list.as_ref())?.into_iter();
            all.extend(patterns.map(|pattern| Watched { pattern, seen: Arc::default() }));
        }
        Ok(all)
    }

    fn class(&self, class: &[u8]) -> Fit {
        let fit = self.pattern.class(class);
        if fit == Fit::All {
            self.see();
        }
        fit
    }

    fn matches(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        let fits = self.pattern.matches(class, name, descriptor);
        if fits {
            self.see();
        }
        fits
    }

    fn see(&self) {
        // The line is shared by all threads that load classes: once it is set, nobody writes to it.
        if !self.seen.load(Relaxed) {
            self.seen.store(true, Relaxed);
        }
    }
}

impl Filter {
    /// Compiles the patterns, or lists of patterns.
    ///
    /// # Errors
    /// The first pattern that cannot be read, with the reason.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Filter, BadPattern> {
        Ok(Filter { include: Watched::list(include)?, exclude: Watched::list(exclude)?, restrict_to: None })
    }

    /// The include and the exclude patterns, as they were written, one by one.
    pub fn patterns(&self) -> (Vec<&str>, Vec<&str>) {
        fn texts(patterns: &[Watched]) -> Vec<&str> {
            patterns.iter().map(|p| p.pattern.text()).collect()
        }
        (texts(&self.include), texts(&self.exclude))
    }

    /// The include and the exclude patterns that no class and no method has fitted so far.
    pub fn unmatched(&self) -> (Vec<&str>, Vec<&str>) {
        fn texts(patterns: &[Watched]) -> Vec<&str> {
            patterns.iter().filter(|p| !p.seen.load(Relaxed)).map(|p| p.pattern.text()).collect()
        }
        (texts(&self.include), texts(&self.exclude))
    }

    /// Whether [`method`](Self::method) is to be asked of a class of which every method is wanted, so that
    /// [`unmatched`](Self::unmatched) is right: patterns of methods overlap with those of classes.
    pub(crate) fn looks_for_methods(&self) -> bool {
        self.include.len() > 1 && self.include.iter().any(|p| !p.seen.load(Relaxed))
    }

    /// Whether only what is named is let in.
    pub fn has_includes(&self) -> bool {
        !self.include.is_empty()
    }

    /// Leaves out every class that is not in `classes`, on top of the patterns; see [`SubclassIndex::resolve`].
    pub fn restrict_to(&mut self, classes: ClassSet) {
        self.restrict_to = Some(classes);
    }

    /// What becomes of `class` (internal name, Modified UTF-8). Without patterns this is one comparison.
    pub fn class(&self, class: &[u8]) -> ClassVerdict {
        if is_own(class) {
            return ClassVerdict::Skip(Reason::OwnRuntime);
        }
        if self.restrict_to.as_ref().is_some_and(|set| !set.contains(class)) {
            return ClassVerdict::Skip(Reason::NotASubclass);
        }
        let mut by_method = false;
        // All are asked: each is to know that it fits something.
        let best = |patterns: &[Watched]| patterns.iter().map(|p| p.class(class)).max().unwrap_or(Fit::None);
        let (included, excluded) = (best(&self.include), best(&self.exclude));
        by_method |= excluded == Fit::Some;
        if excluded == Fit::All {
            return ClassVerdict::Skip(Reason::Excluded);
        }
        if !self.include.is_empty() {
            if included == Fit::None {
                return ClassVerdict::Skip(Reason::NotIncluded);
            }
            by_method |= included == Fit::Some;
        }
        if by_method { ClassVerdict::ByMethod } else { ClassVerdict::All }
    }

    /// Whether a method is wanted, and if not, why; needed only after [`ClassVerdict::ByMethod`], but right for every
    /// class.
    ///
    /// # Errors
    /// The reason why it is left out.
    pub fn method(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Result<(), Reason> {
        if let ClassVerdict::Skip(reason) = self.class(class) {
            return Err(reason);
        }
        // All are asked: each is to know that it fits something.
        let any =
            |patterns: &[Watched]| patterns.iter().filter(|p| p.matches(class, name, descriptor)).count() > 0;
        let (included, excluded) = (self.include.is_empty() || any(&self.include), any(&self.exclude));
        if excluded {
            Err(Reason::Excluded)
        } else if !included {
            Err(Reason::NotIncluded)
        } else {
            Ok(())
        }
    }
}

/// A class name as class files spell it, from one written with `.` or `/`.
fn internal_name(name: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    glob::push_modified_utf8_str(&name.replace('.', "/"), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        Filter::new(include, exclude).unwrap()
    }

    #[test]
    fn no_patterns_take_everything_but_the_runtime() {
        let filter = Filter::default();
        assert_eq!(filter.class(b"com/acme/Foo"), ClassVerdict::All);
        assert_eq!(filter.class(b"instrument/runtime/HeapProxy"), ClassVerdict::Skip(Reason::OwnRuntime));
        assert_eq!(filter.class(b"instrument/api/Boundary"), ClassVerdict::Skip(Reason::OwnRuntime));
        assert_eq!(filter.class(b"instrument/Other"), ClassVerdict::All);
        assert_eq!(filter.method(b"a/B", b"run", b"()V"), Ok(()));
    }

    #[test]
    fn includes_widen_and_excludes_win() {
        let filter = filter(&["com.acme.**", "org/Foo"], &["com/acme/gen/*"]);
        assert_eq!(filter.class(b"com/acme/Foo"), ClassVerdict::All);
        assert_eq!(filter.class(b"com/acme/gen/sub/Foo"), ClassVerdict::All);
        assert_eq!(filter.class(b"com/acme/gen/Foo"), ClassVerdict::Skip(Reason::Excluded));
        assert_eq!(filter.class(b"org/Foo"), ClassVerdict::All);
        assert_eq!(filter.class(b"org/Bar"), ClassVerdict::Skip(Reason::NotIncluded));
    }

    #[test]
    fn one_pattern_may_be_a_list() {
        let filter = filter(&["a.*:b.*"], &["a.X:b.X"]);
        assert_eq!(filter.class(b"a/Y"), ClassVerdict::All);
        assert_eq!(filter.class(b"b/Y"), ClassVerdict::All);
        assert_eq!(filter.class(b"b/X"), ClassVerdict::Skip(Reason::Excluded));
        assert_eq!(filter.class(b"c/Y"), ClassVerdict::Skip(Reason::NotIncluded));
    }

    #[test]
    fn methods_are_picked_by_name_and_descriptor() {
        let filter =
            filter(&["a.B#run", "a.B#get(I)", "a.C"], &["a.C#<clinit>", "a.C#set([Ljava.lang.String;)V"]);
        assert_eq!(filter.class(b"a/B"), ClassVerdict::ByMethod);
        assert_eq!(filter.class(b"a/C"), ClassVerdict::ByMethod);
        assert_eq!(filter.class(b"a/D"), ClassVerdict::Skip(Reason::NotIncluded));
        for (class, name, descriptor, expected) in [
            ("a/B", "run", "(J)Z", Ok(())),
            ("a/B", "get", "(I)Ljava/lang/Object;", Ok(())),
            ("a/B", "get", "(J)I", Err(Reason::NotIncluded)),
            ("a/B", "running", "()V", Err(Reason::NotIncluded)),
            ("a/C", "run", "()V", Ok(())),
            ("a/C", "<clinit>", "()V", Err(Reason::Excluded)),
            ("a/C", "set", "([Ljava/lang/String;)V", Err(Reason::Excluded)),
            ("a/C", "set", "([Ljava/lang/String;)I", Ok(())),
            ("a/D", "run", "()V", Err(Reason::NotIncluded)),
            ("instrument/runtime/X", "run", "()V", Err(Reason::OwnRuntime)),
        ] {
            let said = filter.method(class.as_bytes(), name.as_bytes(), descriptor.as_bytes());
            assert_eq!(said, expected, "{class}#{name}{descriptor}");
        }
    }

    #[test]
    fn a_class_wide_include_beats_a_method_include_of_the_same_class() {
        assert_eq!(filter(&["a.B#run", "a.**"], &[]).class(b"a/B"), ClassVerdict::All);
        assert_eq!(filter(&["a.**"], &["a.B#run"]).class(b"a/Other"), ClassVerdict::All);
    }

    #[test]
    fn a_set_of_classes_narrows() {
        let mut filter = filter(&["a.**"], &["a.X"]);
        let mut index = SubclassIndex::new();
        index.add(b"a/Y", Some(b"a/Base"), []);
        index.add(b"a/X", Some(b"a/Base"), []);
        index.add(b"b/Z", Some(b"a/Base"), []);
        filter.restrict_to(index.resolve(&["a.Base"]));
        assert_eq!(filter.class(b"a/Y"), ClassVerdict::All);
        assert_eq!(filter.class(b"a/X"), ClassVerdict::Skip(Reason::Excluded));
        assert_eq!(filter.class(b"b/Z"), ClassVerdict::Skip(Reason::NotIncluded));
        assert_eq!(filter.class(b"a/Q"), ClassVerdict::Skip(Reason::NotASubclass));
    }

    #[test]
    fn patterns_that_nothing_fits_are_known() {
        let filter = filter(&["a.**", "b.C#run", "b.Other", "a.B.get(int)"], &["a.X", "z.Z"]);
        let left = (vec!["b.C#run", "b.Other", "a.B.get(int)"], vec!["z.Z"]);
        assert_eq!(filter.class(b"a/X"), ClassVerdict::Skip(Reason::Excluded));
        assert_eq!(filter.class(b"a/B"), ClassVerdict::All);
        assert_eq!(filter.class(b"b/C"), ClassVerdict::ByMethod);
        assert_eq!(filter.unmatched(), left);
        assert_eq!(filter.clone().method(b"b/C", b"run", b"()V"), Ok(()));
        assert_eq!(filter.unmatched(), (vec!["b.Other", "a.B.get(int)"], vec!["z.Z"]), "a clone counts");
    }
}
