//! `instrument export`: profiles, events, folded stacks and call trees, as other tools read them.

use crate::exit::{Exit, usage};
use crate::output::Outputs;
use crate::talk::Talk;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use instrument_analysis::Arcflow;
use instrument_analysis::export::chrome::Chrome;
use instrument_analysis::export::firefox::Firefox;
use instrument_analysis::export::perfetto::Perfetto;
use instrument_analysis::export::tau::{self, Rows};
use instrument_analysis::export::timeline::{Axis, lay_out};
use instrument_analysis::export::{Figure, call_tree, folded, pprof, speedscope};
use instrument_analysis::input;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Write what was recorded in the formats of other tools
///
/// Formats that show one figure take --metric; pprof, tau and call-tree hold all of them. Chrome, perfetto and firefox show
/// when something happened: totals are laid out there context by context, and marked as such.
#[derive(Debug, Args)]
#[command(after_help = "\
Inputs:
  events      `12 > name` and `15 < name`: starts and ends with their stamps
  folded      `a;b;c 12`: stacks, as async-profiler -o collapsed, perf and others write them
  call trees  JSON, as --format call-tree writes them

For example: instrument export --format speedscope stacks.txt -o stacks.speedscope.json")]
pub(crate) struct Opts {
    /// What was recorded; several are added up; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// What to write
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    format: Format,

    /// Where to write it: a file, or for tau a directory; standard output if it is not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Figure to show where there is room for one: a resource such as `wall`, or what is counted, such as `calls`
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,

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
}

impl Format {
    fn is_binary(self) -> bool {
        matches!(self, Format::Perfetto | Format::Pprof)
    }

    /// Whether it holds all figures.
    fn is_complete(self) -> bool {
        matches!(self, Format::Pprof | Format::Tau | Format::CallTree)
    }
}

/// Writes the export.
///
/// # Errors
/// An input that cannot be read, an output that cannot be written, options that make no sense.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if opts.format.is_complete() && opts.metric.is_some() {
        return Err(usage("--metric: this format holds all figures"));
    }
    if opts.flat && opts.format != Format::Tau {
        return Err(usage("--flat goes with --format tau"));
    }
    let Some(target) = &opts.output else {
        if opts.format.is_binary() && io::stdout().is_terminal() {
            return Err(usage("this format is not for a terminal: say where to write it with -o"));
        }
        let model = load(&opts.files, talk)?;
        let mut out = BufWriter::new(io::stdout().lock());
        write(&model, opts, &mut out)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    let model = load(&opts.files, talk)?;
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
        tau::write(&model, rows, create).with_context(writing)?;
    } else {
        let mut out = BufWriter::new(Outputs::open(target)?);
        write(&model, opts, &mut out)?;
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

/// Adds the inputs up.
fn load(files: &[PathBuf], talk: &Talk) -> Result<Arcflow> {
    let mut sum: Option<Arcflow> = None;
    for path in files {
        let name = path.display();
        let input = if path.as_os_str() == "-" {
            input::read(io::stdin().lock())
        } else {
            let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
            input::read(BufReader::with_capacity(1 << 16, file))
        };
        let input = input.with_context(|| name.to_string())?;
        let remarks = input.remarks.to_string();
        if !remarks.is_empty() {
            talk.warn(format_args!("{name}: {remarks}"));
        }
        match &mut sum {
            None => sum = Some(input.model),
            Some(sum) if sum.resources() == input.model.resources() => sum.merge(&input.model),
            Some(sum) => {
                let (others, these) = (figures(sum), figures(&input.model));
                return Err(usage(format!("{name} has {these}, but the inputs before it have {others}")));
            }
        }
    }
    sum.context("no input")
}

fn figures(model: &Arcflow) -> String {
    let mut names: Vec<&str> = model.resources().iter().map(|resource| resource.name.as_str()).collect();
    if !names.contains(&model.occurrences.as_str()) {
        names.push(&model.occurrences);
    }
    names.join(", ")
}

fn write(model: &Arcflow, opts: &Opts, out: &mut dyn Write) -> Result<()> {
    let figure = match &opts.metric {
        None => Figure::first(model),
        Some(name) => Figure::named(model, name)
            .with_context(|| format!("--metric {name}: the input has {}", figures(model)))
            .map_err(|error| usage(error.to_string()))?,
    };
    match opts.format {
        Format::Folded => folded::write(model, figure, out)?,
        Format::Speedscope => speedscope::write(model, figure, out)?,
        Format::Firefox => {
            let (axis, _) = Axis::of(&figure.resource(model));
            lay_out(model, figure, &mut Firefox::new(out, axis))?;
        }
        Format::Chrome => lay_out(model, figure, &mut Chrome::new(out))?,
        Format::Perfetto => lay_out(model, figure, &mut Perfetto::new(out))?,
        Format::Pprof => pprof::write(model, out)?,
        Format::CallTree => call_tree::write(model, out)?,
        Format::Tau => return Err(usage("TAU profiles are a directory: say which with -o")),
    }
    Ok(())
}
