//! `instrument export`: profiles, events, folded stacks and call trees, as other tools read them.

use crate::exit::{Exit, usage};
use crate::output::Outputs;
use crate::subject::{self, Subject};
use crate::talk::Talk;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use instrument_analysis::Arcflow;
use instrument_analysis::export::chrome::Chrome;
use instrument_analysis::export::firefox::Firefox;
use instrument_analysis::export::perfetto::Perfetto;
use instrument_analysis::export::speedscope::{self, Speedscope};
use instrument_analysis::export::tau::{self, Rows};
use instrument_analysis::export::timeline::{Axis, Timeline, lay_out_threads};
use instrument_analysis::export::trace::{self, Trace};
use instrument_analysis::export::{Figure, call_tree, folded, pprof, spans, xml};
use instrument_analysis::uncertainty::accompanies;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Write what was recorded in the formats of other tools
///
/// Formats that show one figure take --resource; pprof, tau and call-tree hold all of them, xml events of the heap and of
/// threads one by one (its schema is analysis/schema/trace.xsd). Traces are written to chrome,
/// perfetto, firefox and speedscope with every call at its time; everything else, and --resource, is laid out there context by
/// context, and marked as such.
///
/// For example: instrument export --format speedscope app-4711.iprof -o app.speedscope.json
#[derive(Debug, Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    subject: subject::Opts,

    /// What to write
    #[arg(short, long, visible_alias = "to", value_enum, value_name = "FORMAT")]
    format: Format,

    /// Where to write it: a file, or for tau a directory; standard output if it is not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Figure to show where there is room for one: a resource such as `wall`, or what is counted, such as `calls`
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// tau: leave out the rows of contexts
    #[arg(long)]
    flat: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
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
}

impl Format {
    fn is_binary(self) -> bool {
        matches!(self, Format::Perfetto | Format::Pprof)
    }

    /// Whether it holds all figures.
    fn is_complete(self) -> bool {
        matches!(self, Format::Pprof | Format::Tau | Format::CallTree | Format::Xml)
    }
}

/// Writes the export.
///
/// # Errors
/// An input that cannot be read, an output that cannot be written, options that make no sense.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if opts.format.is_complete() && opts.resource.is_some() {
        return Err(usage("--resource: this format holds all figures"));
    }
    if opts.flat && opts.format != Format::Tau {
        return Err(usage("--flat goes with --format tau"));
    }
    if opts.output.is_none() && opts.format.is_binary() && io::stdout().is_terminal() {
        return Err(usage("this format is not for a terminal: say where to write it with -o"));
    }
    let subject = Subject::read(&opts.subject, false, talk)?;
    let Some(target) = &opts.output else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&subject, opts, &mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    let mut outputs = Outputs::default();
    let writing = || format!("writing {}", target.display());
    if opts.format == Format::Tau {
        if target.exists() && !is_tau(target) {
            return Err(usage(format!("{} is there already and holds no TAU profile", target.display())));
        }
        let directory = outputs.tree(target)?;
        let rows = if opts.flat { Rows::Consumers } else { Rows::Contexts };
        let create = |path: &Path| {
            let path = directory.join(path);
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            Ok(BufWriter::new(File::create_new(path)?))
        };
        tau::write(&plain(&subject.model), rows, create).with_context(writing)?;
    } else {
        let mut out = BufWriter::new(Outputs::open(target)?);
        write(&subject, opts, &mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
        outputs.stage(target, None, file)?;
    }
    outputs.commit()?;
    talk.note(format_args!("{}", target.display()));
    Ok(Exit::Done)
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

fn write(subject: &Subject, opts: &Opts, out: &mut dyn Write) -> Result<()> {
    let model = &plain(&subject.model);
    let figure = match &opts.resource {
        None => Figure::first(model),
        Some(name) => Figure::named(model, name)
            .with_context(|| format!("--resource {name}: there is {}", figures(model)))
            .map_err(|error| usage(error.to_string()))?,
    };
    match opts.format {
        Format::Folded => folded::write(model, figure, out)?,
        Format::Pprof => pprof::write(model, out)?,
        Format::CallTree => call_tree::write(&subject.model, out)?,
        Format::Xml => events(subject, opts, out)?,
        Format::Tau => return Err(usage("TAU profiles are a directory: say which with -o")),
        Format::Speedscope | Format::Firefox | Format::Chrome | Format::Perfetto => {
            let is_trace = opts.resource.is_none() && is_trace(subject, opts);
            let axis = if is_trace { Axis::Time } else { Axis::of(&figure.resource(model)).0 };
            let mut timeline: Box<dyn Timeline + '_> = match opts.format {
                Format::Speedscope if !is_trace => return Ok(speedscope::write(model, figure, out)?),
                Format::Speedscope => Box::new(Speedscope::new(out)),
                Format::Firefox => Box::new(Firefox::new(out, axis)),
                Format::Chrome => Box::new(Chrome::new(out)),
                _ => Box::new(Perfetto::new(out)),
            };
            if is_trace {
                tell(subject, opts, &mut *timeline)?;
            } else {
                let processes = lay_out_threads(model, figure, &mut *timeline)?;
                if opts.resource.is_none() && axis == Axis::Time {
                    tell_waits(subject, opts, processes, &mut *timeline)?;
                }
                timeline.finish()?;
            }
        }
    }
    Ok(())
}

/// Writes the events of profiles as XML.
fn events(subject: &Subject, opts: &Opts, out: &mut dyn Write) -> Result<()> {
    if subject.profiles.len() != opts.subject.files.len() {
        return Err(usage(
            "--format xml: only profiles have events of objects, collections, threads and monitors",
        ));
    }
    let mut sources = Vec::new();
    for file in &subject.profiles {
        let source = File::open(&file.path).with_context(|| file.path.display().to_string())?;
        let classes = move |copy: u32, number: u32| file.names.class(copy, number);
        sources.push((file, source, file.program(), classes));
    }
    let processes: Vec<_> = sources
        .iter()
        .map(|(file, source, name, classes)| xml::Process {
            source,
            profile: &file.profile,
            name,
            host: file.property("host"),
            classes,
        })
        .collect();
    Ok(xml::write(&processes, out)?)
}

/// Whether everything that was read are traces.
fn is_trace(subject: &Subject, opts: &Opts) -> bool {
    subject.profiles.len() == opts.subject.files.len()
        && subject.profiles.iter().all(|file| trace::origin(&file.profile).is_some())
}

/// Tells the timeline what really happened.
fn tell(subject: &Subject, opts: &Opts, timeline: &mut dyn Timeline) -> Result<()> {
    let wanted = subject::thread_filter(&opts.subject);
    let origin = subject.profiles.iter().filter_map(|file| trace::origin(&file.profile)).min();
    for (process, file) in subject.profiles.iter().enumerate() {
        let name = || file.path.display().to_string();
        let source = File::open(&file.path).with_context(name)?;
        let methods = |copy, id| file.names.method(copy, id);
        let process_name = format!("{} (pid {})", file.program(), file.profile.pid);
        let (profile, process_name) = (&file.profile, process_name.as_str());
        let classes = |copy, number| file.names.class(copy, number);
        let classes = Some(&classes as spans::ClassNames<'_>);
        let trace = Trace { source: &source, profile, process, process_name, methods: &methods, classes };
        trace.tell(origin.unwrap_or_default(), &wanted, timeline).with_context(name)?;
    }
    Ok(timeline.finish()?)
}

/// Tells the timeline when threads waited, where everything else is totals; their processes come behind `processes` others.
fn tell_waits(subject: &Subject, opts: &Opts, processes: usize, timeline: &mut dyn Timeline) -> Result<()> {
    let wanted = subject::thread_filter(&opts.subject);
    let recorded = || subject.profiles.iter().filter(|file| file.waits.is_some());
    let origin = recorded().map(|file| file.profile.start_clock).min().unwrap_or_default();
    for (process, file) in (processes..).zip(recorded()) {
        let name = || file.path.display().to_string();
        let source = File::open(&file.path).with_context(name)?;
        let classes = |copy, number| file.names.class(copy, number);
        let process_name = format!("{} (pid {}, what threads waited for)", file.program(), file.profile.pid);
        spans::tell((&source, &file.profile), &classes, (process, &process_name), origin, &wanted, timeline)
            .with_context(name)?;
    }
    Ok(())
}
