//! The formats of other tools, and how what is there gets into a file of one: for `export` and for `merge --to`.

use crate::exit::{Exit, usage};
use crate::output::Outputs;
use crate::talk::Talk;
use anyhow::{Context, Result};
use clap::ValueEnum;
use instrument_analysis::Arcflow;
use instrument_analysis::export::chrome::Chrome;
use instrument_analysis::export::firefox::Firefox;
use instrument_analysis::export::perfetto::Perfetto;
use instrument_analysis::export::speedscope::{self, Speedscope};
use instrument_analysis::export::tau::{self, Rows};
use instrument_analysis::export::timeline::{Axis, Timeline, lay_out_threads};
use instrument_analysis::export::{Figure, call_tree, folded, pprof};
use instrument_analysis::origin::Origins;
use instrument_analysis::uncertainty::accompanies;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Stacks for flame graphs: flamegraph.pl, inferno
    Folded,
    /// JSON for speedscope.app
    Speedscope,
    /// JSON for profiler.firefox.com
    Firefox,
    /// Trace events as JSON for chrome://tracing
    Chrome,
    /// Trace for ui.perfetto.dev
    Perfetto,
    /// Profile for go tool pprof
    Pprof,
    /// Directory of profiles for TAU's ParaProf
    Tau,
    /// JSON that this program reads again
    CallTree,
    /// XML trace of objects, collections, threads and monitors, in the vocabulary of TPTP
    Xml,
    /// OpenTelemetry spans of remote calls, as JSON: one request a line
    Otlp,
}

impl Format {
    fn is_binary(self) -> bool {
        matches!(self, Format::Perfetto | Format::Pprof)
    }

    /// Whether it has no room for a figure that is asked for, or for all of them.
    fn takes_no_figure(self) -> bool {
        matches!(self, Format::Pprof | Format::Tau | Format::CallTree | Format::Xml | Format::Otlp)
    }

    fn is_timeline(self) -> bool {
        matches!(self, Format::Speedscope | Format::Firefox | Format::Chrome | Format::Perfetto)
    }
}

/// What is wanted.
pub(crate) struct Wanted<'a> {
    pub(crate) format: Format,
    /// Standard output if it is not given.
    pub(crate) output: Option<&'a Path>,
    /// The figure to show.
    pub(crate) resource: Option<&'a str>,
    /// TAU: leave out the rows of contexts.
    pub(crate) flat: bool,
}

/// What can be written in these formats.
pub(crate) trait Exportable {
    /// The model.
    fn model(&self) -> &Arcflow;

    /// Whether it is known when everything happened that a format shows.
    fn is_timed(&self, format: Format) -> bool;

    /// Tells when.
    fn tell(&self, timeline: &mut dyn Timeline) -> Result<()>;

    /// Tells what is known of some things while all others are totals, laid out as so many processes.
    fn tell_some(&self, processes: usize, timeline: &mut dyn Timeline) -> Result<()>;

    /// Writes events as XML.
    fn xml(&self, out: &mut dyn Write) -> Result<()>;

    /// Writes remote calls as OpenTelemetry spans.
    fn otlp(&self, out: &mut dyn Write) -> Result<()>;
}

impl Wanted<'_> {
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
        if self.output.is_none() && self.format.is_binary() && io::stdout().is_terminal() {
            return Err(usage("this format is not for a terminal: say where to write it with -o"));
        }
        Ok(())
    }

    /// Whether a model is needed; `is_timed`: it is known when everything happened that the format shows.
    pub(crate) fn takes_model(&self, is_timed: bool) -> bool {
        match self.format {
            Format::Xml | Format::Otlp => false,
            format => !(format.is_timeline() && self.resource.is_none() && is_timed),
        }
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
            self.write_to(what, &mut out)?;
            out.flush()?;
            return Ok(Exit::Done);
        };
        let mut outputs = Outputs::default();
        let writing = || format!("writing {}", target.display());
        if self.format == Format::Tau {
            if target.exists() && !is_tau(target) {
                let target = target.display();
                return Err(usage(format!("{target} is there already and holds no TAU profile")));
            }
            let directory = outputs.tree(target)?;
            let rows = if self.flat { Rows::Consumers } else { Rows::Contexts };
            let create = |path: &Path| {
                let path = directory.join(path);
                path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                Ok(BufWriter::new(File::create_new(path)?))
            };
            tau::write(&plain(what.model()), rows, create).with_context(writing)?;
        } else {
            let mut out = BufWriter::new(Outputs::open(target)?);
            self.write_to(what, &mut out)?;
            let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
            outputs.stage(target, None, file)?;
        }
        outputs.commit()?;
        talk.note(format_args!("{}", target.display()));
        Ok(Exit::Done)
    }

    fn write_to(&self, what: &dyn Exportable, out: &mut dyn Write) -> Result<()> {
        match self.format {
            Format::Xml => return what.xml(out),
            Format::Otlp => return what.otlp(out),
            format if !self.takes_model(what.is_timed(format)) => {
                return what.tell(&mut *self.timeline(Axis::Time, &what.model().origins, out));
            }
            _ => {}
        }
        let model = &plain(what.model());
        let figure = match self.resource {
            None => Figure::first(model),
            Some(name) => Figure::named(model, name)
                .with_context(|| format!("--resource {name}: there is {}", figures(model)))
                .map_err(|error| usage(error.to_string()))?,
        };
        match self.format {
            Format::Folded => folded::write(model, figure, out)?,
            Format::Pprof => pprof::write(model, out)?,
            Format::CallTree => call_tree::write(what.model(), out)?,
            Format::Tau => return Err(usage("TAU profiles are a directory: say which with -o")),
            Format::Speedscope => speedscope::write(model, figure, out)?,
            _ => {
                let axis = Axis::of(&figure.resource(model)).0;
                let mut timeline = self.timeline(axis, &model.origins, out);
                let processes = lay_out_threads(model, figure, &mut *timeline)?;
                if self.resource.is_none() && axis == Axis::Time {
                    what.tell_some(processes, &mut *timeline)?;
                }
                timeline.finish()?;
            }
        }
        Ok(())
    }

    fn timeline<'o>(&self, axis: Axis, origins: &Origins, out: &'o mut dyn Write) -> Box<dyn Timeline + 'o> {
        let origins = origins.clone();
        match self.format {
            Format::Speedscope => Box::new(Speedscope::new(out).with_origins(origins)),
            Format::Firefox => Box::new(Firefox::new(out, axis).with_origins(origins)),
            Format::Chrome => Box::new(Chrome::new(out).with_origins(origins)),
            _ => Box::new(Perfetto::new(out).with_origins(origins)),
        }
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

/// The figures that can be asked for.
fn figures(model: &Arcflow) -> String {
    let mut names: Vec<&str> = model.resources().iter().map(|resource| resource.name.as_str()).collect();
    if !names.contains(&model.occurrences.as_str()) {
        names.push(&model.occurrences);
    }
    names.join(", ")
}

/// The model without what only accompanies its figures.
fn plain(model: &Arcflow) -> Arcflow {
    let resources = model.resources().iter().enumerate();
    let keep: Vec<usize> = resources.filter(|(_, resource)| !accompanies(resource)).map(|(i, _)| i).collect();
    model.with_resources(&keep)
}
