//! The formats of other tools as options of `export` and `merge --format`, and where the file goes.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::{Context, Result};
use instrument_analysis::export::format::{ExportRequest, Exportable, Format};
use instrument_artifacts::outputs::Outputs;
use instrument_messages::{Listener, usage};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// What is to be written, and where.
pub(crate) struct Export<'a> {
    pub(crate) format: Format,
    /// Standard output if it is not given.
    pub(crate) output: Option<&'a Path>,
    /// The figure to show.
    pub(crate) resource: Option<&'a str>,
    /// TAU: leave out the rows of contexts.
    pub(crate) flat: bool,
    /// Also what would be much larger than the profiles.
    pub(crate) large: bool,
}

impl Export<'_> {
    /// The request to the export.
    pub(crate) fn request(&self) -> ExportRequest<'_> {
        ExportRequest { format: self.format, resource: self.resource, flat: self.flat, large: self.large }
    }

    /// To be called before anything is read.
    ///
    /// # Errors
    /// Options that do not go together.
    pub(crate) fn check(&self) -> Result<()> {
        if self.format.takes_no_figure() && self.resource.is_some() {
            return Err(usage("--resource: this format holds all figures, or none"));
        }
        if self.flat && self.format != Format::Tau {
            return Err(usage("--flat goes with --format tau"));
        }
        if self.output.is_none() && self.format == Format::Parquet {
            return Err(usage("--format parquet writes a directory of tables: say which with -o"));
        }
        if self.output.is_none() && self.format.is_binary() && io::stdout().is_terminal() {
            return Err(usage("this format is not for a terminal: say where to write it with -o"));
        }
        Ok(())
    }

    /// Writes it.
    ///
    /// # Errors
    /// An output that cannot be written, a figure that is not there.
    pub(crate) fn write(&self, what: &dyn Exportable, talk: &Talk) -> Result<Exit> {
        let model = what.model();
        let is_time = |name: &str| model.resource(name).is_some_and(|r| model.resources()[r].unit == "ns");
        if let Some(line) = model.correction.line().filter(|_| self.resource.is_none_or(is_time)) {
            talk.caution(format_args!("{line}"));
        }
        let Some(target) = self.output else {
            let mut out = BufWriter::new(io::stdout().lock());
            talk.messages(&self.request().write(what, &mut out)?);
            out.flush()?;
            return Ok(Exit::Done);
        };
        let mut outputs = Outputs::default();
        let writing = || format!("writing {}", target.display());
        if self.format == Format::Tau {
            if target.exists() && !is_tau(target) {
                let target = target.display();
                return Err(usage(format!("{target} exists and is not a TAU profile")));
            }
            let directory = outputs.tree(target)?;
            let create = |path: &Path| {
                let path = directory.join(path);
                path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                Ok(BufWriter::new(File::create_new(path)?))
            };
            self.request().write_tau(what, create).with_context(writing)?;
        } else {
            let mut out = BufWriter::new(Outputs::open(target)?);
            talk.messages(&self.request().write(what, &mut out)?);
            let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
            outputs.stage(target, None, file)?;
        }
        outputs.commit()?;
        talk.note(format_args!("{}", target.display()));
        Ok(Exit::Done)
    }
}

/// Whether a directory is one that may be replaced: empty, or a TAU profile.
fn is_tau(directory: &Path) -> bool {
    let Ok(entries) = directory.read_dir() else { return false };
    entries.into_iter().all(|entry| {
        let name = entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("profile.") || name.starts_with("MULTI__")
    })
}
