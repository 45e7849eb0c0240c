//! The account of every class of the program that was loaded, and of its methods: the lines that the command line's `--report` writes,
//! but for the place that a class came from.

use instrument_rewriter::instrumenter::{ClassRecord, Note};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The open file. Every class is in it as soon as it is loaded.
#[derive(Debug)]
pub(crate) struct Report(File);

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    class: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    descriptor: Option<&'a str>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
}

fn outcome(reason: Option<&str>, usual: &'static str) -> &'static str {
    match reason {
        None => usual,
        Some("own-runtime" | "not-included" | "excluded" | "generated" | "needed-by-probes") => "excluded",
        Some("not-code" | "no-code") => "unchanged",
        Some(_) => "skipped",
    }
}

fn describe(notes: &[Note]) -> Option<String> {
    let texts: Vec<String> = notes
        .iter()
        .map(|note| match note {
            Note::CrossedHugeMethodLimit => "exceeds 8,000 bytes of code now".to_owned(),
            Note::UnknownCodeAttributes(count) => {
                format!("{count} unknown attributes of its code kept as they are")
            }
            Note::UntrackedAllocations(count) => format!("{count} allocation sites cannot be counted"),
            Note::ThreadStarts(count) => format!("{count} calls of start()"),
            Note::HandOvers(count) => format!("{count} calls hand over a task"),
            Note::UnreachedHandOvers(count) => {
                format!(
                    "{count} calls hand over a task that lies too deep in the operand stack to be wrapped"
                )
            }
            Note::RemoteCalls(count) => format!("tells of remote calls in {count} places"),
            Note::LibraryCalls(count) => format!("{count} calls into libraries"),
            Note::Region(number) => format!("holds code region {number}"),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

impl Report {
    /// Creates the file, or empties it.
    pub(crate) fn create(path: &Path) -> io::Result<Report> {
        File::create(path).map(Report)
    }

    /// Writes what became of a class.
    pub(crate) fn record(&mut self, record: &ClassRecord) -> io::Result<()> {
        let usual = if record.rewritten { "rewritten" } else { "unchanged" };
        let mut text = Vec::new();
        let class = Line {
            kind: "class",
            class: &record.name,
            method: None,
            descriptor: None,
            outcome: outcome(record.skipped, usual),
            reason: record.skipped,
            detail: record.detail.clone(),
            id: None,
        };
        push(&class, &mut text)?;
        for method in &record.methods {
            let line = Line {
                kind: "method",
                class: &record.name,
                method: Some(&method.name),
                descriptor: Some(&method.descriptor),
                outcome: outcome(method.skipped, "rewritten"),
                reason: method.skipped,
                detail: describe(&method.notes),
                id: method.id,
            };
            push(&line, &mut text)?;
        }
        self.0.write_all(&text)
    }

    /// Writes that a class was left as it is before it was looked at.
    pub(crate) fn left(&mut self, class: &str, reason: &'static str) -> io::Result<()> {
        let record = ClassRecord {
            name: class.to_owned(),
            rewritten: false,
            skipped: Some(reason),
            detail: None,
            methods: Vec::new(),
        };
        self.record(&record)
    }
}

fn push(line: &Line<'_>, text: &mut Vec<u8>) -> io::Result<()> {
    serde_json::to_writer(&mut *text, line)?;
    text.push(b'\n');
    Ok(())
}
