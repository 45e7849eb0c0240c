//! The seam between the command line and the rewriter: files in, new bytes and an account of them out.
//!
//! The engine reads the inputs itself, one at a time, so that memory holds the largest input and not all of them. It hands out ids in
//! the order of the units and their files, whatever the number of threads. It never writes a file.

use crate::account::ClassRecord;
use crate::settings::Settings;
use anyhow::Result;
use instrument_rewriter::id_map::{ENTRY_NAME, IdMap, gz};
use std::path::PathBuf;

/// One input as the user named it, with the files of it that may hold classes.
#[derive(Debug)]
pub(crate) struct Unit {
    /// For messages and the account.
    pub(crate) label: String,
    pub(crate) kind: UnitKind,
    /// A directory's class files and archives, sorted by path; otherwise one file.
    pub(crate) files: Vec<InputFile>,
}

/// What the user named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// A jar, war, ear or zip.
    Archive,
    /// One class file.
    ClassFile,
    /// A directory, the root of a class path.
    Directory,
}

/// One file of a [`Unit`].
#[derive(Debug)]
pub(crate) struct InputFile {
    pub(crate) path: PathBuf,
    /// Its path within the directory, with `/`; none if the unit is this file.
    pub(crate) entry: Option<String>,
    pub(crate) kind: FileKind,
    /// Its length in bytes when it was found.
    pub(crate) size: u64,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Archive,
    ClassFile,
}

/// Who takes what the engine makes.
pub(crate) trait Sink {
    /// What became of a class; in the order of the inputs.
    fn record(&mut self, record: &ClassRecord<'_>) -> Result<()>;

    /// The new bytes of a file, or none if it stays as it is. Called once for every file.
    fn output(&mut self, unit: usize, file: usize, bytes: Option<&[u8]>) -> Result<()>;

    /// A file to add to a directory: the runtime, the id map. `name` is relative, with `/`.
    fn extra(&mut self, unit: usize, name: &str, bytes: &[u8]) -> Result<()>;

    /// `bytes` more of the input are done.
    fn advance(&mut self, bytes: u64, name: &str);
}

/// Rewrites all units.
///
/// # Errors
/// The first input that cannot be read or must be refused; the sink's own errors.
pub(crate) fn run(units: &[Unit], _settings: &Settings, ids: &mut IdMap, sink: &mut dyn Sink) -> Result<()> {
    for (unit_index, unit) in units.iter().enumerate() {
        for (index, file) in unit.files.iter().enumerate() {
            sink.output(unit_index, index, None)?;
            sink.advance(file.size, &unit.label);
        }
        if unit.kind == UnitKind::Directory {
            let mut text = Vec::new();
            ids.write_all(&mut text);
            sink.extra(unit_index, ENTRY_NAME, &gz::compress(&text))?;
        }
    }
    Ok(())
}
