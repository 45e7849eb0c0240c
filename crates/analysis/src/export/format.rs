//! The formats of other tools, and how what there is gets into a file of one: a session's ([`Recorded`]) or merged
//! processes' ([`Merged`]).

use std::io::{self, Write};
use std::path::Path;

use super::chrome::Chrome;
use super::firefox::Firefox;
use super::perfetto::Perfetto;
use super::speedscope::{self, Speedscope};
use super::tau::{self, Rows};
use super::timeline::{Axis, Timeline, lay_out_threads};
use super::trace::{self, Trace};
use super::{Figure, call_tree, folded, otlp_metrics, otlp_profiles, pprof, size, spans, xml};
use crate::merge::{Calls, processes};
use crate::model::Arcflow;
use crate::origin::Origins;
use crate::session::{Error, Message, ProfileFile, Request, Session, thread_filter};
use crate::uncertainty::accompanies;
use instrument_names::word::{Word, words};

words! {
    /// A format of another tool.
    Format {
        Folded = "folded": "Stacks for flame graphs: flamegraph.pl, inferno",
        Speedscope = "speedscope": "JSON for speedscope.app",
        Firefox = "firefox": "JSON for profiler.firefox.com",
        Chrome = "chrome": "Trace events as JSON for chrome://tracing",
        Perfetto = "perfetto": "Trace for ui.perfetto.dev",
        Pprof = "pprof": "Profile for go tool pprof",
        Tau = "tau": "Directory of profiles for TAU's ParaProf",
        CallTree = "call-tree": "JSON that this program reads again",
        Xml = "xml": "XML trace of objects, collections, threads and monitors, in the vocabulary of TPTP",
        Otlp = "otlp": "OpenTelemetry spans of remote calls, as JSON: one request a line",
        OtlpMetrics = "otlp-metrics": "OpenTelemetry exponential histograms of how long calls took (run --latency), as JSON: one request",
        OtlpProfiles = "otlp-profiles-v1development": "OpenTelemetry profiles (alpha), as protobuf: one request",
        Lcov = "lcov": "Executions of lines and branches, as lcov and genhtml read them",
        Jacoco = "jacoco": "Lines and branches that were missed and covered, as JaCoCo's XML report",
        Parquet = "parquet": "Directory of tables for DuckDB, Spark and others, of any number of profiles",
    }
}

impl Format {
    /// Whether it is not for a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Perfetto | Format::Pprof | Format::OtlpProfiles)
    }

    /// Whether it has no room for a figure that is requested, or for all of them.
    pub fn takes_no_figure(self) -> bool {
        matches!(
            self,
            Format::Pprof
                | Format::Tau
                | Format::CallTree
                | Format::Xml
                | Format::Otlp
                | Format::OtlpMetrics
                | Format::OtlpProfiles
                | Format::Lcov
                | Format::Jacoco
                | Format::Parquet
        )
    }

    /// Whether it shows which lines were executed, which takes the class files as well.
    pub fn is_coverage(self) -> bool {
        matches!(self, Format::Lcov | Format::Jacoco)
    }

    fn is_timeline(self) -> bool {
        matches!(self, Format::Speedscope | Format::Firefox | Format::Chrome | Format::Perfetto)
    }
}

/// Which format, and which figure it shows.
#[derive(Debug, Clone, Copy)]
pub struct ExportRequest<'a> {
    pub format: Format,
    /// The figure to show; none: the first, or the time at which everything happened where that is known.
    pub resource: Option<&'a str>,
    /// TAU: without the rows of contexts.
    pub flat: bool,
    /// Also what would be much larger than the profiles ([`size`]).
    pub large: bool,
}

/// What can be written in these formats.
pub trait Exportable {
    fn model(&self) -> &Arcflow;

    /// The profiles that it was made of, each with what the model calls its process.
    fn processes(&self) -> Vec<(String, &ProfileFile)>;

    /// Whether it is known when everything happened that a format shows.
    fn is_timed(&self, format: Format) -> bool;

    /// Writes what happened, with its times, to the timeline.
    ///
    /// # Errors
    /// A profile that cannot be read, an output that cannot be written.
    fn write_events(&self, timeline: &mut dyn Timeline) -> Result<Vec<Message>, Error>;

    /// Writes what is known of the times of some things while all others are totals, laid out as so many processes.
    ///
    /// # Errors
    /// A profile that cannot be read, an output that cannot be written.
    fn write_some_events(&self, processes: usize, timeline: &mut dyn Timeline) -> Result<(), Error>;

    /// Writes events as XML.
    ///
    /// # Errors
    /// There are no such events; a profile that cannot be read, an output that cannot be written.
    fn xml(&self, out: &mut dyn Write) -> Result<(), Error>;

    /// Writes remote calls as OpenTelemetry spans.
    ///
    /// # Errors
    /// There are no such calls; a profile that cannot be read, an output that cannot be written.
    fn otlp(&self, out: &mut dyn Write) -> Result<Vec<Message>, Error>;
}

impl ExportRequest<'_> {
    /// Whether a model is needed; `is_timed`: it is known when everything happened that the format shows.
    pub fn takes_model(&self, is_timed: bool) -> bool {
        match self.format {
            Format::Xml | Format::Otlp | Format::OtlpMetrics | Format::Lcov | Format::Jacoco => false,
            format => !(format.is_timeline() && self.resource.is_none() && is_timed),
        }
    }

    /// Writes the export; of TAU, whose profiles are directories, see [`write_tau`](Self::write_tau).
    ///
    /// # Errors
    /// A figure that is not there, a format that cannot hold what there is, an output that cannot be written.
    pub fn write(&self, what: &dyn Exportable, out: &mut dyn Write) -> Result<Vec<Message>, Error> {
        match self.format {
            Format::Xml => return what.xml(out).map(|()| Vec::new()),
            Format::Otlp => return what.otlp(out),
            Format::OtlpMetrics => {
                otlp_metrics::write(&what.processes(), out)?;
                return Ok(Vec::new());
            }
            Format::Lcov | Format::Jacoco => {
                return Err(Error::Request(
                    "lines are exported by instrument export, which knows class files".into(),
                ));
            }
            format if !self.takes_model(what.is_timed(format)) => {
                return what.write_events(&mut *self.timeline(Axis::Time, &what.model().origins, out));
            }
            _ => {}
        }
        let model = &plain(what.model());
        let figure = match self.resource {
            None => Figure::first(model),
            Some(name) => Figure::named(model, name)
                .ok_or_else(|| Error::Request(format!("--resource {name}: there is {}", figures(model))))?,
        };
        let size = match self.format {
            Format::Folded => folded::size(model, figure),
            Format::Speedscope => speedscope::size(model, figure),
            Format::OtlpProfiles => otlp_profiles::size(model),
            Format::Pprof => pprof::size(model),
            _ => 0,
        };
        self.check_size(what, size)?;
        match self.format {
            Format::Folded => folded::write(model, figure, out)?,
            Format::Pprof => pprof::write(model, &what.processes(), out)?,
            Format::OtlpProfiles => otlp_profiles::write(model, &what.processes(), out)?,
            Format::CallTree => {
                call_tree::write(what.model(), out)?;
                return Ok(nests(call_tree::depth(what.model())).into_iter().collect());
            }
            Format::Tau => {
                return Err(Error::Request("TAU profiles are a directory: say which with -o".into()));
            }
            Format::Parquet => {
                return Err(Error::Request("Parquet is a directory of tables: say which with -o".into()));
            }
            Format::Speedscope => speedscope::write(model, figure, out)?,
            _ => {
                let axis = Axis::of(&figure.resource(model)).0;
                let mut timeline = self.timeline(axis, &model.origins, out);
                let processes = lay_out_threads(model, figure, &mut *timeline)?;
                if self.resource.is_none() && axis == Axis::Time {
                    what.write_some_events(processes, &mut *timeline)?;
                }
                timeline.finish()?;
            }
        }
        Ok(Vec::new())
    }

    /// Refuses what would be much larger than the profiles.
    fn check_size(&self, what: &dyn Exportable, size: u64) -> Result<(), Error> {
        let length = |file: &ProfileFile| std::fs::metadata(&file.path).map_or(0, |of| of.len());
        let profiles = what.processes().iter().map(|(_, file)| length(file)).sum();
        if self.large || !size::is_large(size, profiles) {
            return Ok(());
        }
        let cure = if self.format == Format::Tau { "--flat leaves the stacks out, " } else { "" };
        let packed = if self.format == Format::Pprof { " when it is unpacked" } else { "" };
        Err(Error::Request(format!(
            "--format {}: this would be about {} MB{packed}, since it has the whole stack of each context: {cure}--large writes it all the \
             same; call-tree, chrome, firefox, perfetto and parquet grow with the number of contexts only",
            self.format.word(),
            size.div_ceil(1_000_000)
        )))
    }

    /// Writes TAU profiles into files that `create` makes.
    ///
    /// # Errors
    /// It would be much larger than the profiles; a file that cannot be written.
    pub fn write_tau<W: Write>(
        &self,
        what: &dyn Exportable,
        create: impl FnMut(&Path) -> io::Result<W>,
    ) -> Result<(), Error> {
        let model = &plain(what.model());
        self.check_size(what, if self.flat { 0 } else { tau::size(model) })?;
        Ok(tau::write(model, if self.flat { Rows::Consumers } else { Rows::Contexts }, create)?)
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

/// Contexts of a way down that all readers of JSON take: each is two levels of nesting, of which jq 1.6 takes 256.
const READ_BY_ALL: usize = 120;

/// What is to be said of a tree that nests deeper than other readers take.
fn nests(depth: usize) -> Option<Message> {
    (depth > READ_BY_ALL).then(|| {
        Message::note(format!(
            "--format call-tree: this nests {depth} contexts deep, which this program reads; many readers of JSON take no more than \
             {READ_BY_ALL}, jq and Python among them: for those, xtree --json --flat prints a list"
        ))
    })
}

/// The figures that can be requested.
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

/// What a session recorded, each process for itself.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    pub session: &'a Session,
    /// What it was read for.
    pub request: &'a Request,
}

impl Recorded<'_> {
    /// Whether nothing but profiles was read.
    fn is_profiles(&self) -> bool {
        self.session.profiles.len() == self.request.files.len()
    }

    fn wanted(&self) -> impl Fn(&str) -> bool + use<> {
        thread_filter(&self.request.threads)
    }
}

impl Exportable for Recorded<'_> {
    fn model(&self) -> &Arcflow {
        &self.session.model
    }

    fn processes(&self) -> Vec<(String, &ProfileFile)> {
        self.session.profiles.iter().map(|file| (file.label(), file)).collect()
    }

    /// Whether everything that was read are traces.
    fn is_timed(&self, _: Format) -> bool {
        let is_timed = |file: &ProfileFile| trace::origin(&file.profile).is_some() && file.window().is_none();
        self.is_profiles() && self.session.profiles.iter().all(is_timed)
    }

    fn write_events(&self, timeline: &mut dyn Timeline) -> Result<Vec<Message>, Error> {
        let origin = self.session.profiles.iter().filter_map(|file| trace::origin(&file.profile)).min();
        for (process, file) in self.session.profiles.iter().enumerate() {
            let methods = |copy, id| file.names.method(copy, id);
            let classes = |copy, number| file.names.class(copy, number);
            let trace = Trace {
                source: file.source(),
                profile: &file.profile,
                process,
                process_name: &file.label(),
                methods: &methods,
                classes: Some(&classes as spans::ClassNames<'_>),
                remote: None,
            };
            trace
                .add_events(origin.unwrap_or_default().into(), &self.wanted(), timeline)
                .map_err(|error| Error::ExportOf(file.path.clone(), error))?;
        }
        timeline.finish()?;
        Ok(Vec::new())
    }

    /// When threads waited.
    fn write_some_events(&self, processes: usize, timeline: &mut dyn Timeline) -> Result<(), Error> {
        let recorded = || self.session.profiles.iter().filter(|file| file.waits().is_some());
        let origin = recorded().map(|file| file.profile.start_clock).min().unwrap_or_default();
        for (process, file) in (processes..).zip(recorded()) {
            let classes = |copy, number| file.names.class(copy, number);
            let name = format!("{} (pid {}, what threads waited for)", file.program(), file.profile.pid);
            let (source, process) = ((file.source(), &file.profile), (process, name.as_str()));
            spans::add_waits(source, &classes, process, origin.into(), &self.wanted(), timeline)
                .map_err(|error| Error::ExportOf(file.path.clone(), error))?;
        }
        Ok(())
    }

    fn xml(&self, out: &mut dyn Write) -> Result<(), Error> {
        if !self.is_profiles() {
            return Err(Error::Request(
                "--format xml: only profiles have events of objects, collections, threads and monitors"
                    .into(),
            ));
        }
        let named = |file| {
            let classes = move |copy: u32, number: u32| ProfileFile::class(file, copy, number);
            (file, file.program(), classes)
        };
        let files: Vec<_> = self.session.profiles.iter().map(named).collect();
        let processes: Vec<_> = files
            .iter()
            .map(|(file, name, classes)| xml::Process {
                source: file.source(),
                profile: &file.profile,
                name,
                host: file.property("host"),
                classes,
            })
            .collect();
        xml::write(&processes, out).map_err(Error::Export)
    }

    fn otlp(&self, out: &mut dyn Write) -> Result<Vec<Message>, Error> {
        if !self.is_profiles() {
            return Err(Error::Request("--format otlp: only profiles have remote calls".into()));
        }
        if !self.request.threads.is_empty() {
            return Err(Error::Request(
                "--thread cannot be combined with otlp: spans cover whole traces".into(),
            ));
        }
        processes::otlp(&self.session.profiles, out)
    }
}

/// What several processes did for each other.
#[derive(Clone, Copy)]
pub struct Merged<'a> {
    /// The tree; without nodes where a format shows events only.
    pub model: &'a Arcflow,
    pub files: &'a [ProfileFile],
    pub calls: Calls<'a>,
    /// The process whose clock times are of.
    pub clock: Option<usize>,
    /// Names of threads, as in [`Request::threads`].
    pub threads: &'a [String],
    /// Calls of the registry and of the distributed garbage collector are written, too.
    pub internals: bool,
}

impl Merged<'_> {
    /// Calls have times, always; speedscope shows no arrows, and is better off with the tree if there is nothing but
    /// calls.
    pub fn is_timed(format: Format, files: &[ProfileFile]) -> bool {
        match format {
            Format::Chrome | Format::Perfetto => true,
            Format::Speedscope => files.iter().all(|file| trace::origin(&file.profile).is_some()),
            _ => false,
        }
    }
}

impl Exportable for Merged<'_> {
    fn model(&self) -> &Arcflow {
        self.model
    }

    fn processes(&self) -> Vec<(String, &ProfileFile)> {
        self.calls.labels.iter().cloned().zip(self.files).collect()
    }

    fn is_timed(&self, format: Format) -> bool {
        Merged::is_timed(format, self.files)
    }

    fn write_events(&self, timeline: &mut dyn Timeline) -> Result<Vec<Message>, Error> {
        self.calls.write_events(self.clock, &thread_filter(self.threads), timeline)
    }

    fn write_some_events(&self, _: usize, _: &mut dyn Timeline) -> Result<(), Error> {
        Ok(())
    }

    fn xml(&self, _: &mut dyn Write) -> Result<(), Error> {
        Err(Error::Request("xml has events of single processes: use instrument export".into()))
    }

    fn otlp(&self, out: &mut dyn Write) -> Result<Vec<Message>, Error> {
        self.calls.otlp(self.clock, self.internals, out)
    }
}
