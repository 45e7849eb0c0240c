//! Which classes and methods are instrumented.
//!
//! A pattern is `CLASS` or `CLASS#METHOD` or `CLASS#METHOD(DESCRIPTOR)`, each part a glob (`*`, `?`, `**`), and several
//! patterns may be joined with `:`. Class names may be written with `.` or `/`; `$` is literal, so that nested classes are `Foo$*`.
//! `#run()` fixes the parameters and leaves the return type open; `#run()V` fixes both; `#run` takes every overload.
//!
//! A method is instrumented when it matches some include (or there are none), matches no exclude, its class is in the set given to
//! [`Filter::restrict_to`] (if one was), and it is not part of our own runtime, [`RUNTIME_PACKAGE`].

mod glob;
mod subclasses;

pub use subclasses::{ClassSet, SubclassIndex};

use glob::Glob;

/// Where the classes that the injected code calls live; always left out, whatever the patterns say.
pub const RUNTIME_PACKAGE: &str = "instrument/runtime/";

/// Include and exclude patterns, compiled. The default lets everything in but our own runtime.
#[derive(Debug, Default, Clone)]
pub struct Filter {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    restrict_to: Option<ClassSet>,
}

/// What a filter says of a class as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassVerdict {
    /// No method of it is wanted.
    Skip(SkipReason),
    /// Every method of it is wanted.
    All,
    /// Ask [`Filter::method`] for each.
    ByMethod,
}

/// Why a class or method is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// Part of our own runtime.
    OwnRuntime,
    /// No include pattern matches.
    NotIncluded,
    /// An exclude pattern matches.
    Excluded,
    /// Not in the set of classes given to [`Filter::restrict_to`].
    NotASubclass,
}

impl SkipReason {
    /// The reason's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::OwnRuntime => "own-runtime",
            SkipReason::NotIncluded => "not-included",
            SkipReason::Excluded => "excluded",
            SkipReason::NotASubclass => "not-a-subclass",
        }
    }
}

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad pattern `{pattern}`: {reason}")]
pub struct FilterError {
    /// The pattern as it was given.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

#[derive(Debug, Clone)]
struct Pattern {
    class: Glob,
    method: Option<MethodPattern>,
}

#[derive(Debug, Clone)]
struct MethodPattern {
    name: Glob,
    descriptor: Option<Glob>,
}

impl Filter {
    /// Compiles the patterns; see the module for their syntax.
    ///
    /// # Errors
    /// The first pattern that cannot be read, with the reason.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Filter, FilterError> {
        let compile = |patterns: &[S]| {
            let mut compiled = Vec::new();
            for list in patterns {
                compiled.extend(Pattern::list(list.as_ref())?);
            }
            Ok(compiled)
        };
        Ok(Filter { include: compile(include)?, exclude: compile(exclude)?, restrict_to: None })
    }

    /// Leaves out every class that is not in `classes`, on top of the patterns; see [`SubclassIndex::resolve`].
    pub fn restrict_to(&mut self, classes: ClassSet) {
        self.restrict_to = Some(classes);
    }

    /// What becomes of `class` (internal name, Modified UTF-8). Without patterns this is one comparison.
    pub fn class(&self, class: &[u8]) -> ClassVerdict {
        if class.starts_with(RUNTIME_PACKAGE.as_bytes()) {
            return ClassVerdict::Skip(SkipReason::OwnRuntime);
        }
        if self.restrict_to.as_ref().is_some_and(|set| !set.contains(class)) {
            return ClassVerdict::Skip(SkipReason::NotASubclass);
        }
        let mut by_method = false;
        for pattern in self.exclude.iter().filter(|p| p.class.matches(class)) {
            match pattern.method {
                None => return ClassVerdict::Skip(SkipReason::Excluded),
                Some(_) => by_method = true,
            }
        }
        if !self.include.is_empty() {
            let mut matching = self.include.iter().filter(|p| p.class.matches(class)).peekable();
            if matching.peek().is_none() {
                return ClassVerdict::Skip(SkipReason::NotIncluded);
            }
            by_method |= !matching.any(|p| p.method.is_none());
        }
        if by_method { ClassVerdict::ByMethod } else { ClassVerdict::All }
    }

    /// Whether a method is wanted, and if not, why; needed only after [`ClassVerdict::ByMethod`], but right for every class.
    ///
    /// # Errors
    /// The reason why it is left out.
    pub fn method(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Result<(), SkipReason> {
        if let ClassVerdict::Skip(reason) = self.class(class) {
            return Err(reason);
        }
        let matches = |pattern: &Pattern| pattern.matches(class, name, descriptor);
        if self.exclude.iter().any(matches) {
            Err(SkipReason::Excluded)
        } else if !self.include.is_empty() && !self.include.iter().any(matches) {
            Err(SkipReason::NotIncluded)
        } else {
            Ok(())
        }
    }
}

/// One pattern alone, for looking things up by the same syntax as `--include`.
#[derive(Debug, Clone)]
pub struct MethodQuery(Vec<Pattern>);

impl MethodQuery {
    /// Compiles one pattern or `:`-list of patterns.
    ///
    /// # Errors
    /// A pattern that cannot be read.
    pub fn new(patterns: &str) -> Result<MethodQuery, FilterError> {
        Pattern::list(patterns).map(MethodQuery)
    }

    /// Whether the method matches any of the patterns.
    pub fn matches(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.matches(class, name, descriptor))
    }
}

impl Pattern {
    /// One pattern, or several joined with `:`.
    fn list(patterns: &str) -> Result<Vec<Pattern>, FilterError> {
        let whole = |error| FilterError { pattern: patterns.to_owned(), ..error };
        patterns.split(':').map(|pattern| Pattern::new(pattern).map_err(whole)).collect()
    }

    fn new(pattern: &str) -> Result<Pattern, FilterError> {
        let bad = |reason: String| FilterError { pattern: pattern.to_owned(), reason };
        if let Some(c) = pattern.chars().find(|c| c.is_whitespace() || c.is_control()) {
            return Err(bad(format!("it contains {c:?}")));
        }
        let (class, method) = match pattern.split_once('#') {
            Some((class, method)) => (class, Some(method)),
            None => (pattern, None),
        };
        if class.is_empty() {
            let hint = if method.is_some() { "; write `**#method` for every class" } else { "" };
            return Err(bad(format!("there is no class name{hint}")));
        }
        // None of these can stand in a class name (JVMS 4.2.1) or method name (4.2.2), but in other glob dialects and in descriptors.
        if let Some(c) = class.chars().find(|c| "[];{}()<>\\".contains(*c)) {
            let hint = match c {
                '(' | ')' | '<' | '>' => "; a method is written `CLASS#method(descriptor)`",
                _ => "; only `*`, `**` and `?` are wildcards",
            };
            return Err(bad(format!("`{c}` cannot be part of a class name{hint}")));
        }
        let class = class.replace('.', "/");
        if class.starts_with('/') || class.ends_with('/') || class.contains("//") {
            let hint = class.trim_matches('/');
            return Err(bad(format!(
                "a package name is empty; write `{hint}/**` for all classes of a package"
            )));
        }
        let method = method.map(MethodPattern::new).transpose().map_err(bad)?;
        Ok(Pattern { class: Glob::new(&class, true), method })
    }

    fn matches(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
        self.method.as_ref().is_none_or(|method| method.matches(name, descriptor))
            && self.class.matches(class)
    }
}

impl MethodPattern {
    /// `name`, `name(parameters)` or `name(parameters)return`.
    fn new(method: &str) -> Result<MethodPattern, String> {
        let (name, descriptor) = method.split_at(method.find('(').unwrap_or(method.len()));
        if name.is_empty() {
            return Err("there is no method name after `#`; write `#*` for every method".to_owned());
        }
        if let Some(c) = name.chars().find(|c| "#[];{}).\\/".contains(*c)) {
            return Err(format!("`{c}` cannot be part of a method name"));
        }
        if name.contains(['<', '>']) && !name.contains(['*', '?']) && !["<init>", "<clinit>"].contains(&name)
        {
            return Err(format!("`{name}` is no method name; only <init> and <clinit> have angle brackets"));
        }
        if descriptor.is_empty() {
            return Ok(MethodPattern { name: Glob::new(name, false), descriptor: None });
        }
        let Some((_, returned)) = descriptor.split_once(')') else {
            return Err(format!("`{descriptor}` lacks its `)`"));
        };
        if let Some(c) = descriptor[1..].chars().find(|c| "(#{}\\<>".contains(*c)) {
            return Err(format!("`{c}` cannot be part of a descriptor"));
        }
        if returned.contains(')') {
            return Err(format!("`{descriptor}` has more than one `)`"));
        }
        if descriptor.contains(',') {
            return Err(format!(
                "`{descriptor}` is no descriptor; write it as the class file does, e.g. `(ILjava/lang/String;)V`"
            ));
        }
        let mut descriptor = descriptor.replace('.', "/");
        if returned.is_empty() {
            descriptor.push('*');
        }
        Ok(MethodPattern { name: Glob::new(name, false), descriptor: Some(Glob::new(&descriptor, false)) })
    }

    fn matches(&self, name: &[u8], descriptor: &[u8]) -> bool {
        self.name.matches(name) && self.descriptor.as_ref().is_none_or(|glob| glob.matches(descriptor))
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
        assert_eq!(filter.class(b"instrument/runtime/HeapProxy"), ClassVerdict::Skip(SkipReason::OwnRuntime));
        assert_eq!(filter.class(b"instrument/Other"), ClassVerdict::All);
        assert_eq!(filter.method(b"a/B", b"run", b"()V"), Ok(()));
    }

    #[test]
    fn includes_widen_and_excludes_win() {
        let filter = filter(&["com.acme.**", "org/Foo"], &["com/acme/gen/*"]);
        assert_eq!(filter.class(b"com/acme/Foo"), ClassVerdict::All);
        assert_eq!(filter.class(b"com/acme/gen/sub/Foo"), ClassVerdict::All);
        assert_eq!(filter.class(b"com/acme/gen/Foo"), ClassVerdict::Skip(SkipReason::Excluded));
        assert_eq!(filter.class(b"org/Foo"), ClassVerdict::All);
        assert_eq!(filter.class(b"org/Bar"), ClassVerdict::Skip(SkipReason::NotIncluded));
    }

    #[test]
    fn one_pattern_may_be_a_list() {
        let filter = filter(&["a.*:b.*"], &["a.X:b.X"]);
        assert_eq!(filter.class(b"a/Y"), ClassVerdict::All);
        assert_eq!(filter.class(b"b/Y"), ClassVerdict::All);
        assert_eq!(filter.class(b"b/X"), ClassVerdict::Skip(SkipReason::Excluded));
        assert_eq!(filter.class(b"c/Y"), ClassVerdict::Skip(SkipReason::NotIncluded));
    }

    #[test]
    fn methods_are_picked_by_name_and_descriptor() {
        let filter =
            filter(&["a.B#run", "a.B#get(I)", "a.C"], &["a.C#<clinit>", "a.C#set([Ljava.lang.String;)V"]);
        assert_eq!(filter.class(b"a/B"), ClassVerdict::ByMethod);
        assert_eq!(filter.class(b"a/C"), ClassVerdict::ByMethod);
        assert_eq!(filter.class(b"a/D"), ClassVerdict::Skip(SkipReason::NotIncluded));
        for (class, name, descriptor, expected) in [
            ("a/B", "run", "(J)Z", Ok(())),
            ("a/B", "get", "(I)Ljava/lang/Object;", Ok(())),
            ("a/B", "get", "(J)I", Err(SkipReason::NotIncluded)),
            ("a/B", "running", "()V", Err(SkipReason::NotIncluded)),
            ("a/C", "run", "()V", Ok(())),
            ("a/C", "<clinit>", "()V", Err(SkipReason::Excluded)),
            ("a/C", "set", "([Ljava/lang/String;)V", Err(SkipReason::Excluded)),
            ("a/C", "set", "([Ljava/lang/String;)I", Ok(())),
            ("a/D", "run", "()V", Err(SkipReason::NotIncluded)),
            ("instrument/runtime/X", "run", "()V", Err(SkipReason::OwnRuntime)),
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
        assert_eq!(filter.class(b"a/X"), ClassVerdict::Skip(SkipReason::Excluded));
        assert_eq!(filter.class(b"b/Z"), ClassVerdict::Skip(SkipReason::NotIncluded));
        assert_eq!(filter.class(b"a/Q"), ClassVerdict::Skip(SkipReason::NotASubclass));
    }

    #[test]
    fn bad_patterns_are_named_with_their_reason() {
        for (pattern, reason) in [
            ("", "no class name"),
            ("a::b", "no class name"),
            ("#run", "`**#method`"),
            ("a b", "' '"),
            ("com.acme.", "`com/acme/**`"),
            ("com..acme", "empty"),
            ("com/acme/{A,B}", "only `*`"),
            ("com/[ab]", "only `*`"),
            ("a.B#", "`#*`"),
            ("a.B#run(I", "lacks its `)`"),
            ("a.B#run(int, int)", "' '"),
            ("a.B#run(int,int)", "as the class file does"),
            ("a.B#run(I))V", "more than one"),
            ("a.B#<main>", "only <init>"),
            ("a.B.run(I)V", "CLASS#method"),
            ("a.B#x#y", "`#`"),
        ] {
            let patterns = [pattern];
            let error = Filter::new(&patterns, &[]).expect_err(pattern);
            assert!(error.to_string().contains(reason), "{pattern}: {error}");
            assert_eq!(error.pattern, pattern);
        }
    }

    #[test]
    fn a_query_uses_the_same_syntax() {
        let query = MethodQuery::new("com/acme/Foo#*:b.C#run(I)").unwrap();
        assert!(query.matches(b"com/acme/Foo", b"<init>", b"()V"));
        assert!(query.matches(b"b/C", b"run", b"(I)I"));
        assert!(!query.matches(b"b/C", b"run", b"(J)I"));
        assert!(MethodQuery::new("a.B#").is_err());
    }
}
