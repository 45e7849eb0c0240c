//! The account: what became of every class and method, of archives that are rewritten and of classes that are rewritten
//! as they load.
//!
//! `--account FILE` writes it as JSON lines, one object per class, followed by those of its methods:
//!
//! ```json
//! {"kind":"class","input":"app.jar","entry":"com/acme/Foo.class","class":"com/acme/Foo","outcome":"rewritten"}
//! {"kind":"method","class":"com/acme/Foo","method":"run","descriptor":"()V","outcome":"rewritten","id":17}
//! {"kind":"method","class":"com/acme/Foo","method":"big","descriptor":"()V","outcome":"skipped","reason":"method-too-large"}
//! ```
//!
//! With `--probes` there is a line for each rule: how many calls were inserted into how many methods, and how many
//! places were left, by reason:
//!
//! ```json
//! {"kind":"probe","file":"probes.toml","rule":"prices","places":12,"methods":9,"left":{"static":2}}
//! ```
//!
//! `outcome` is `rewritten`; `unchanged` (nothing to do: no code, nothing to insert); `excluded` (by a filter, or our
//! own runtime); or `skipped` (it should have been rewritten but cannot be; `reason` is from a closed list). Entries
//! that are no classes are named only if skipped.

use crate::instrumenter::{self, Totals};
pub use crate::reason::Outcome;
use crate::reason::Reason;
use crate::rewrite::Note;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// How every account begins: the first key of its first line.
pub const BEGIN: &str = "{\"kind\":\"";

/// Outcome of one class, or of an entry or file that could not be treated as one.
#[derive(Debug)]
pub struct ClassRecord<'a> {
    /// The input as the user named it; none of a class that was loaded.
    pub input: Option<&'a str>,
    /// The entry within it (`lib/x.jar!/a/B.class`), if it is not a class file itself.
    pub entry: Option<&'a str>,
    /// The class's name, if it could be read.
    pub class: Option<&'a str>,
    /// Its outcome.
    pub outcome: Outcome,
    /// From a closed list; with `Excluded` and `Skipped`.
    pub reason: Option<Reason>,
    /// More for people.
    pub detail: Option<&'a str>,
    /// Its methods, in the order of the class file.
    pub methods: &'a [MethodRecord<'a>],
}

/// Outcome of one method.
#[derive(Debug)]
pub struct MethodRecord<'a> {
    /// As in the class file, escaped for people.
    pub name: &'a str,
    /// The same.
    pub descriptor: &'a str,
    /// Its outcome.
    pub outcome: Outcome,
    /// From a closed list; of what is not rewritten.
    pub reason: Option<Reason>,
    /// More for people.
    pub detail: Option<&'a str>,
    /// Of a rewritten method.
    pub id: Option<u32>,
}

/// Outcome of a rule for calls of one's own.
#[derive(Debug, Serialize)]
pub struct ProbeRecord<'a> {
    /// The file of the rule, as it was named.
    pub file: &'a str,
    /// The name of the rule.
    pub rule: &'a str,
    /// Calls that were inserted.
    pub places: u64,
    /// Methods that got one.
    pub methods: u64,
    /// Places that were left, by reason; from a closed list.
    pub left: &'a BTreeMap<String, u64>,
}

/// Writes the line of a rule.
///
/// # Errors
/// Those of `out`.
pub fn write_probe(record: &ProbeRecord<'_>, out: &mut impl Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        #[serde(flatten)]
        record: &'a ProbeRecord<'a>,
    }
    serde_json::to_writer(&mut *out, &Line { kind: "probe", record })?;
    out.write_all(b"\n")
}

/// How many of each outcome.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// [`Outcome::Rewritten`].
    pub rewritten: u64,
    /// [`Outcome::Unchanged`].
    pub unchanged: u64,
    /// [`Outcome::Excluded`].
    pub excluded: u64,
    /// [`Outcome::Skipped`].
    pub skipped: u64,
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
pub struct Tally {
    /// Classes, and what was to be one.
    pub classes: Counts,
    /// Their methods.
    pub methods: Counts,
    /// Patterns that fitted nothing.
    #[serde(skip)]
    pub unmatched: u64,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: &Tally) {
        for (mine, theirs) in [(&mut self.classes, &other.classes), (&mut self.methods, &other.methods)] {
            mine.rewritten += theirs.rewritten;
            mine.unchanged += theirs.unchanged;
            mine.excluded += theirs.excluded;
            mine.skipped += theirs.skipped;
        }
        self.unmatched += other.unmatched;
    }

    /// Adds what the rewriter has counted over all inputs.
    pub fn add_totals(&mut self, totals: &Totals) {
        let (classes, methods) = (&mut self.classes, &mut self.methods);
        classes.rewritten += totals.classes_rewritten;
        methods.rewritten += totals.methods_rewritten;
        let mut left = totals.classes - totals.classes_rewritten;
        for (reason, count) in &totals.classes_skipped {
            classes.count(reason.outcome(), *count);
            left -= count;
        }
        classes.unchanged += left;
        let mut left = totals.methods - totals.methods_rewritten;
        for (reason, count) in &totals.methods_skipped {
            methods.count(reason.outcome(), *count);
            left -= count;
        }
        // Their class was left as a whole, and is counted there.
        methods.excluded += left;
    }

    /// Everything that should have been rewritten and was not.
    pub fn skipped(&self) -> u64 {
        self.classes.skipped + self.methods.skipped
    }
}

const WRAPPED: &str =
    "has no room for probes: it is a wrapper with them now, and its code is in a private method";

/// What is worth knowing of a rewritten method, for people.
pub fn describe(notes: &[Note]) -> Option<String> {
    let texts: Vec<String> = notes
        .iter()
        .map(|note| match note {
            Note::CrossedHugeMethodLimit => {
                "exceeds 8,000 bytes of code now, so HotSpot will not compile it (-XX:-DontCompileHugeMethods)".to_owned()
            }
            Note::UnknownCodeAttributes(count) => format!("{count} unknown attributes of its code kept as they are"),
            Note::UntrackedAllocations(count) => format!("{count} allocation sites cannot be counted"),
            Note::ThreadStarts(count) => format!("{count} calls of start()"),
            Note::HandOvers(count) => format!("{count} calls hand over a task"),
            Note::Statements(count) => format!("{count} calls run statements of databases, or prepare them"),
            Note::Requests(count) => format!("{count} calls make requests by HTTP, or serve them"),
            Note::Files(count) => format!("{count} calls open, copy, move or delete files"),
            Note::RemoteCalls(count) => format!("records remote calls at {count} places"),
            Note::LibraryCalls(count) => format!("{count} calls into libraries"),
            Note::Wrapped => WRAPPED.to_owned(),
            Note::WrappedBare => {
                format!("{WRAPPED}; there is no room to record what that code makes and calls")
            }
            Note::Region(number) => format!("holds code region {number}"),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Calls `write` with the account of a class that the rewriter has looked at.
pub fn with_record<T>(
    input: Option<&str>,
    entry: Option<&str>,
    record: &instrumenter::ClassRecord,
    write: impl FnOnce(&ClassRecord<'_>) -> T,
) -> T {
    let outcome = match record.skipped {
        Some(reason) => reason.outcome(),
        None if record.rewritten => Outcome::Rewritten,
        None => Outcome::Unchanged,
    };
    let details: Vec<Option<String>> = record.methods.iter().map(|method| describe(&method.notes)).collect();
    let methods: Vec<MethodRecord<'_>> = (record.methods.iter().zip(&details))
        .map(|(method, detail)| MethodRecord {
            name: &method.name,
            descriptor: &method.descriptor,
            outcome: method.skipped.map_or(Outcome::Rewritten, Reason::outcome),
            reason: method.skipped,
            detail: detail.as_deref(),
            id: method.id,
        })
        .collect();
    write(&ClassRecord {
        input,
        entry,
        class: Some(record.name.as_str()).filter(|name| !name.is_empty()),
        outcome,
        reason: record.skipped,
        detail: record.detail.as_deref(),
        methods: &methods,
    })
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
    reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
}

/// Writes the lines of one class.
///
/// # Errors
/// Those of `out`.
pub fn write_lines(record: &ClassRecord<'_>, out: &mut impl Write) -> io::Result<()> {
    let line = Line {
        kind: if record.class.is_some() { "class" } else { "entry" },
        input: record.input,
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
            input: Some("app.jar"),
            entry: Some("com/acme/Foo.class"),
            class: Some("com/acme/Foo"),
            outcome: Outcome::Rewritten,
            reason: None,
            detail: None,
            methods: &[
                method("run", Outcome::Rewritten, None, Some(17)),
                method("big", Outcome::Skipped, Some(Reason::MethodTooLarge), None),
            ],
        };
        let mut out = Vec::new();
        write_lines(&record, &mut out).unwrap();
        let left = BTreeMap::from([("static".to_owned(), 2)]);
        let probe = ProbeRecord { file: "probes.toml", rule: "prices", places: 12, methods: 9, left: &left };
        write_probe(&probe, &mut out).unwrap();
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
            classes_skipped: [(Reason::NotAClass, 1), (Reason::Excluded, 1)].into(),
            methods: 9,
            methods_rewritten: 6,
            methods_skipped: [(Reason::MethodTooLarge, 2)].into(),
            ..Totals::default()
        };
        let mut tally = Tally::default();
        tally.add_totals(&totals);
        assert_eq!(tally.classes, Counts { rewritten: 2, unchanged: 1, excluded: 1, skipped: 1 });
        assert_eq!(tally.methods, Counts { rewritten: 6, unchanged: 0, excluded: 1, skipped: 2 });
        assert_eq!(tally.skipped(), 3);
    }
}
