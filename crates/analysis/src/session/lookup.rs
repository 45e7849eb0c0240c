//! Patterns that a user gives to a report: of methods, classes and threads. One that fits nothing is a warning, with the names near it;
//! under `--strict` the exit code is 3.

use super::error::Error;
use crate::model::Arcflow;
use instrument_names::glob::Glob;
use instrument_names::nearest::did_you_mean;
use instrument_names::pattern::Pattern;
use instrument_names::types::ObjectPatterns;
use std::collections::HashSet;

/// What a pattern is about, as warnings call it.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// As it is typed.
    pub name: &'a str,
    /// What does not fit it.
    pub what: &'a str,
}

/// How the names of links begin, and those of no method.
const LINK: char = '(';

/// Patterns of methods that were compared with all names that there are.
#[derive(Debug, Default)]
pub struct Methods {
    patterns: Vec<Pattern>,
    /// What was said of patterns that fit nothing.
    pub warnings: Vec<String>,
}

impl Methods {
    /// `option`: as it is typed.
    ///
    /// # Errors
    /// A pattern that cannot be read: wrong usage.
    pub fn new(option: &str, patterns: &[String], names: &HashSet<&str>) -> Result<Methods, Error> {
        let mut methods = Methods::default();
        for list in patterns {
            // A name from another tool may hold anything; that of a link is none of a method.
            let is_name = |list| names.iter().any(|name| Pattern::literal(list).matches_name(name));
            let list = match Pattern::list(list) {
                Ok(list) => list,
                Err(_) if list.starts_with(LINK) || is_name(list) => vec![Pattern::literal(list)],
                Err(error) => return Err(Error::Request(error.to_string())),
            };
            for pattern in list {
                let fits = |pattern: &Pattern| names.iter().any(|name| pattern.matches_name(name));
                let short = || pattern.shortened().into_iter().find(fits);
                if fits(&pattern) {
                    methods.patterns.push(pattern);
                } else if let Some(pattern) = short() {
                    methods.patterns.push(pattern);
                } else {
                    let given = Given { name: option, what: "method" };
                    methods.warnings.push(nothing_fits(given, pattern.text(), names.iter()));
                    methods.patterns.push(pattern);
                }
            }
        }
        Ok(methods)
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether there are patterns, and all of them fit nothing.
    pub fn fit_nothing(&self) -> bool {
        !self.is_empty() && self.warnings.len() == self.patterns.len()
    }

    /// Whether a name fits one of the patterns.
    pub fn fits(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches_name(name))
    }
}

/// The names of the methods and links of a model: both are rows of reports.
pub fn method_names(model: &Arcflow) -> HashSet<&str> {
    let methods = model.nodes().iter().filter(|node| node.kind.is_looked_up());
    let consumers: HashSet<_> = methods.map(|node| node.consumer).collect();
    consumers.into_iter().map(|consumer| model.name(consumer)).collect()
}

/// Warns of patterns of threads, `*` and `?` stand for others, that no thread has.
pub fn unknown_threads(patterns: &[String], names: &HashSet<&str>) -> Vec<String> {
    let unknown = patterns
        .iter()
        .filter(|pattern| !names.iter().any(|name| Glob::of_words(pattern).matches_text(name)));
    let given = Given { name: "--thread", what: "thread" };
    unknown.map(|pattern| nothing_fits(given, pattern, names.iter())).collect()
}

/// Warns of patterns of classes that no object has.
pub fn unknown_classes(patterns: &ObjectPatterns, names: &HashSet<String>) -> Vec<String> {
    let unknown = patterns.each().filter(|(_, one)| !names.iter().any(|name| one.matches(name.as_bytes())));
    let given = Given { name: "--class", what: "class" };
    unknown.map(|(pattern, _)| nothing_fits(given, pattern, names.iter())).collect()
}

/// The warning of a pattern that nothing fits.
pub fn nothing_fits<S: AsRef<str>>(
    given: Given<'_>,
    pattern: &str,
    names: impl IntoIterator<Item = S>,
) -> String {
    let Given { name, what } = given;
    format!("no {what} fits {name} '{pattern}'{}", did_you_mean(pattern, names))
}

/// The methods of each pattern, each for itself: their order matters. `option`: as it is typed.
///
/// # Errors
/// A pattern that cannot be read.
pub fn each_for_itself(option: &str, patterns: &[String], model: &Arcflow) -> Result<Vec<Methods>, Error> {
    let names = method_names(model);
    patterns.iter().map(|pattern| Methods::new(option, std::slice::from_ref(pattern), &names)).collect()
}
