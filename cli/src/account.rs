//! The account of a run: what became of every class and method.
//!
//! `--report FILE` writes it as JSON lines, one object per class, followed by those of its methods:
//!
//! ```json
//! {"kind":"class","input":"app.jar","entry":"com/acme/Foo.class","class":"com/acme/Foo","outcome":"rewritten"}
//! {"kind":"method","class":"com/acme/Foo","method":"run","descriptor":"()V","outcome":"rewritten","id":17}
//! {"kind":"method","class":"com/acme/Foo","method":"big","descriptor":"()V","outcome":"skipped","reason":"method-too-large"}
//! ```
//!
//! `outcome` is `rewritten`; `unchanged` (nothing to do: no code, nothing to insert); `excluded` (by a filter, or our own runtime); or `skipped` (it should
//! have been rewritten but cannot be; `reason` is from a closed list). Entries that are no classes are named only if skipped.

use instrument_rewriter::instrumenter::Totals;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// How every account begins: the first key of its first line.
const BEGIN: &str = "{\"kind\":\"";

/// What became of a class or method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// Its bytes are new.
    Rewritten,
    /// There was nothing to do.
    Unchanged,
    /// It was not to be touched.
    Excluded,
    /// It should have been rewritten and could not be.
    Skipped,
}

/// How a reason of the rewriter counts: what a filter asked for is no failure, and a module descriptor or an abstract method has no code.
pub(crate) fn outcome_of(reason: &str) -> Outcome {
    match reason {
        "own-runtime" | "not-included" | "excluded" | "not-a-subclass" => Outcome::Excluded,
        "not-code" | "no-code" | "nothing-to-insert" => Outcome::Unchanged,
        _ => Outcome::Skipped,
    }
}

/// What became of one class, or of an entry or file that could not be treated as one.
#[derive(Debug)]
pub(crate) struct ClassRecord<'a> {
    /// The input as the user named it.
    pub(crate) input: &'a str,
    /// The entry within it (`lib/x.jar!/a/B.class`), if it is not a class file itself.
    pub(crate) entry: Option<&'a str>,
    /// The class's name, if it could be read.
    pub(crate) class: Option<&'a str>,
    pub(crate) outcome: Outcome,
    /// From a closed list; with `Excluded` and `Skipped`.
    pub(crate) reason: Option<&'a str>,
    /// More for people.
    pub(crate) detail: Option<&'a str>,
    /// Its methods, in the order of the class file.
    pub(crate) methods: &'a [MethodRecord<'a>],
}

/// What became of one method.
#[derive(Debug)]
pub(crate) struct MethodRecord<'a> {
    pub(crate) name: &'a str,
    pub(crate) descriptor: &'a str,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<&'a str>,
    pub(crate) detail: Option<&'a str>,
    /// Of a rewritten method.
    pub(crate) id: Option<u32>,
}

/// How many of each outcome.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) rewritten: u64,
    pub(crate) unchanged: u64,
    pub(crate) excluded: u64,
    pub(crate) skipped: u64,
}

impl Counts {
    fn count(&mut self, outcome: Outcome, count: u64) {
        match outcome {
            Outcome::Rewritten => self.rewritten += count,
            Outcome::Unchanged => self.unchanged += count,
            Outcome::Excluded => self.excluded += count,
            Outcome::Skipped => self.skipped += count,
        }
    }
}

/// Counts of classes and methods.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) classes: Counts,
    pub(crate) methods: Counts,
}

impl Tally {
    /// Adds another tally.
    pub(crate) fn add(&mut self, other: &Tally) {
        for (mine, theirs) in [(&mut self.classes, &other.classes), (&mut self.methods, &other.methods)] {
            mine.rewritten += theirs.rewritten;
            mine.unchanged += theirs.unchanged;
            mine.excluded += theirs.excluded;
            mine.skipped += theirs.skipped;
        }
    }

    /// Adds what the rewriter has counted over all inputs.
    pub(crate) fn add_totals(&mut self, totals: &Totals) {
        let (classes, methods) = (&mut self.classes, &mut self.methods);
        classes.rewritten += totals.classes_rewritten;
        methods.rewritten += totals.methods_rewritten;
        let mut left = totals.classes - totals.classes_rewritten;
        for (reason, count) in &totals.classes_skipped {
            classes.count(outcome_of(reason), *count);
            left -= count;
        }
        classes.unchanged += left;
        let mut left = totals.methods - totals.methods_rewritten;
        for (reason, count) in &totals.methods_skipped {
            methods.count(outcome_of(reason), *count);
            left -= count;
        }
        // Their class was left as a whole, and is counted there.
        methods.excluded += left;
    }

    /// Everything that should have been rewritten and was not.
    pub(crate) fn skipped(&self) -> u64 {
        self.classes.skipped + self.methods.skipped
    }
}

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    descriptor: Option<&'a str>,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
}

/// Writes the lines of one class.
pub(crate) fn write_lines(record: &ClassRecord<'_>, out: &mut impl Write) -> io::Result<()> {
    let line = Line {
        kind: if record.class.is_some() { "class" } else { "entry" },
        input: Some(record.input),
        entry: record.entry,
        class: record.class,
        method: None,
        descriptor: None,
        outcome: record.outcome,
        reason: record.reason,
        detail: record.detail,
        id: None,
    };
    write_line(&line, out)?;
    for method in record.methods {
        let line = Line {
            kind: "method",
            input: None,
            entry: None,
            method: Some(method.name),
            descriptor: Some(method.descriptor),
            outcome: method.outcome,
            reason: method.reason,
            detail: method.detail,
            id: method.id,
            ..line
        };
        write_line(&line, out)?;
    }
    Ok(())
}

fn write_line(line: &Line<'_>, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// Whether the file may be replaced by an account: it is none that is there, empty, an account, or no regular file (`/dev/stderr`, a pipe).
pub(crate) fn may_replace(path: &Path) -> bool {
    let Ok(there) = path.metadata() else { return true };
    let mut start = Vec::new();
    let begins = |start: &[u8]| start.is_empty() || start.starts_with(BEGIN.as_bytes());
    !there.is_file()
        || File::open(path)
            .and_then(|file| file.take(BEGIN.len() as u64).read_to_end(&mut start))
            .is_ok_and(|_| begins(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_as_documented() {
        let method = |name, outcome, reason, id| MethodRecord {
            name,
            descriptor: "()V",
            outcome,
            reason,
            detail: None,
            id,
        };
        let record = ClassRecord {
            input: "app.jar",
            entry: Some("com/acme/Foo.class"),
            class: Some("com/acme/Foo"),
            outcome: Outcome::Rewritten,
            reason: None,
            detail: None,
            methods: &[
                method("run", Outcome::Rewritten, None, Some(17)),
                method("big", Outcome::Skipped, Some("method-too-large"), None),
            ],
        };
        let mut out = Vec::new();
        write_lines(&record, &mut out).unwrap();
        let documented: String = include_str!("account.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("//! {"))
            .map(|line| format!("{{{line}\n"))
            .collect();
        assert!(out.starts_with(BEGIN.as_bytes()));
        assert_eq!(String::from_utf8(out).unwrap(), documented);
    }

    #[test]
    fn totals_become_outcomes() {
        let totals = Totals {
            classes: 5,
            classes_rewritten: 2,
            classes_skipped: [("not-a-class", 1), ("excluded", 1)].into(),
            methods: 9,
            methods_rewritten: 6,
            methods_skipped: [("method-too-large", 2)].into(),
        };
        let mut tally = Tally::default();
        tally.add_totals(&totals);
        assert_eq!(tally.classes, Counts { rewritten: 2, unchanged: 1, excluded: 1, skipped: 1 });
        assert_eq!(tally.methods, Counts { rewritten: 6, unchanged: 0, excluded: 1, skipped: 2 });
        assert_eq!(tally.skipped(), 3);
    }
}
