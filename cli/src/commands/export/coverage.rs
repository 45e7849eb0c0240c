//! `export --format lcov` and `jacoco`: the counters of profiles, and the class files that they were taken from, to figures of lines.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_analysis::export::format::Format;
use instrument_analysis::export::{jacoco, lcov};
use instrument_artifacts::coverage;
use instrument_artifacts::outputs::Outputs;
use instrument_artifacts::sources::Sources;
use instrument_messages::{Listener, usage};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What is to be exported.
pub(crate) struct Request<'a> {
    pub(crate) format: Format,
    /// Profiles.
    pub(crate) files: &'a [PathBuf],
    /// Archives, directories and class files as they were before they were rewritten.
    pub(crate) class_path: Option<&'a std::ffi::OsStr>,
    /// Directories in which sources are looked for.
    pub(crate) source_path: Option<&'a std::ffi::OsStr>,
    /// Standard output if it is not given.
    pub(crate) output: Option<&'a Path>,
}

/// Writes the export.
///
/// # Errors
/// Profiles without such counts, classes that cannot be read, an output that cannot be written.
pub(crate) fn run(request: &Request<'_>, talk: &Talk) -> Result<Exit> {
    let Some(class_path) = request.class_path else {
        return Err(usage(
            "this format is about lines of class files: name the archives or directories of the program as they were before they were rewritten, with --class-path",
        ));
    };
    let coverage = coverage::of(request.files, class_path, talk)?;

    let sources = Sources::new(request.source_path.iter().flat_map(std::env::split_paths).collect());
    let write = |out: &mut dyn Write| match request.format {
        Format::Jacoco => jacoco::write(&coverage, &name(request.files), out),
        _ => lcov::write(&coverage, &|package, file| coverage::source_path(&sources, package, file), out),
    };
    let Some(target) = request.output else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    let writing = || format!("writing {}", target.display());
    let mut out = BufWriter::new(Outputs::open(target)?);
    write(&mut out).with_context(writing)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
    let mut outputs = Outputs::default();
    outputs.stage(target, None, file)?;
    outputs.commit()?;
    talk.note(format_args!("{}", target.display()));
    Ok(Exit::Done)
}

/// What a report is called: as the profile.
fn name(files: &[PathBuf]) -> String {
    let stem = files.first().and_then(|file| file.file_stem());
    stem.map_or_else(|| "instrument".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
