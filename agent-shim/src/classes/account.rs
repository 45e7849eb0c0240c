//! The account of every class of the program that was loaded, and of its methods: see [`account`]. The place that a class came from is not
//! known.

use instrument_rewriter::account;
use instrument_rewriter::instrumenter::ClassRecord;
use instrument_rewriter::reason::Reason;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The open file. Every class is in it as soon as it is loaded.
#[derive(Debug)]
pub(crate) struct Report(File);

impl Report {
    /// Creates the file, or empties it.
    pub(crate) fn create(path: &Path) -> io::Result<Report> {
        File::create(path).map(Report)
    }

    /// Writes what became of a class.
    pub(crate) fn record(&mut self, record: &ClassRecord) -> io::Result<()> {
        let mut text = Vec::new();
        account::with_record(None, None, record, |record| account::write_lines(record, &mut text))?;
        self.0.write_all(&text)
    }

    /// Writes a line as it is.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(line.as_bytes())
    }

    /// Writes that a class was left as it is before it was looked at.
    pub(crate) fn left(&mut self, class: &str, reason: Reason) -> io::Result<()> {
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
