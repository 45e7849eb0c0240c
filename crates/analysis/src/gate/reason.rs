//! The reasons why a figure moves among runs of one build, and their words.

use std::fmt;

/// Why a method's figures move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Below a class initialiser or the loading of a class.
    ClassInitialisation,
    /// What the collector does, and when.
    GarbageCollection,
    /// Time.
    Timers,
    /// Which thread comes first.
    Threads,
    /// Hash codes that differ from run to run.
    Hashing,
    /// Its callers move; the one nearest to the cause.
    Follows(String),
    /// Nothing that was recorded tells.
    Unknown,
}

const WORDS: [(Reason, &str); 6] = [
    (Reason::ClassInitialisation, "class initialisation"),
    (Reason::GarbageCollection, "garbage collection"),
    (Reason::Timers, "timers"),
    (Reason::Threads, "threads"),
    (Reason::Hashing, "hashing"),
    (Reason::Unknown, "unknown"),
];

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, WORDS.iter().find(|(reason, _)| reason == self)) {
            (Reason::Follows(method), _) => write!(f, "follows {method}"),
            (_, Some((_, word))) => f.write_str(word),
            (_, None) => Ok(()),
        }
    }
}

impl Reason {
    /// The reason that a text says, if it says one.
    pub fn parse(text: &str) -> Option<Reason> {
        let known = WORDS.iter().find(|(_, word)| *word == text);
        match text.strip_prefix("follows ") {
            Some(method) => Some(Reason::Follows(method.to_owned())),
            None => known.map(|(reason, _)| reason.clone()),
        }
    }
}
