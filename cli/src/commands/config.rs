//! `instrument config`: `instrument.toml` by itself, and its schema.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{schema, settings};
use anyhow::Result;
use instrument_artifacts::config::DEFAULT;
use instrument_messages::{Listener, usage};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Check instrument.toml, or print its JSON Schema; exit code 2: the file is wrong, and where
///
/// An editor that knows the schema completes keys and words, and marks what is wrong. For example: instrument config --schema > instrument.schema.json, and as
/// the first line of the file: #:schema ./instrument.schema.json
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// The file [default: ./instrument.toml]
    #[arg(value_name = "FILE", conflicts_with = "schema")]
    file: Option<PathBuf>,
    /// Print the JSON Schema (draft 2020-12) of the file
    #[arg(long)]
    schema: bool,
}

/// Prints to standard output.
///
/// # Errors
/// A file that is not there, or is wrong.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if opts.schema {
        let mut out = talk.results();
        serde_json::to_writer_pretty(&mut out, &schema::schema())?;
        writeln!(out)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let file = opts.file.as_deref().unwrap_or(Path::new(DEFAULT));
    if !file.exists() {
        return Err(usage(format!("{}: there is no such file", file.display())));
    }
    // One that nobody named is judged as what it would be: a stranger's.
    settings::of_file(opts.file.clone(), talk)?;
    talk.note(format_args!("{}: no errors", file.display()));
    Ok(Exit::Done)
}
