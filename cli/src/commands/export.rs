//! `instrument export`: profiles, events, folded stacks and call trees, as other tools read them.

mod coverage;

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::formats::Export;
use crate::options::labels::{self, Label};
use crate::options::session;
use crate::options::settings::words;
use anyhow::Result;
use clap::Args;
use instrument_analysis::export::format::{Format, Recorded};
use instrument_analysis::export::parquet::labels::Sources;
use instrument_analysis::export::parquet::{self, Written};
use instrument_analysis::session::Error;
use instrument_artifacts::outputs::Outputs;
use instrument_messages::{Listener, usage};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Write what was recorded in the formats of other tools
///
/// Formats that show one figure take --resource; pprof, otlp-profiles, tau and call-tree hold all of them, xml events of the heap and of
/// threads one by one (its schema is crates/analysis/schema/trace.xsd), otlp remote calls. Traces are written to chrome,
/// perfetto, firefox and speedscope with every call at its time; everything else, and --resource, is laid out there context by
/// context, and marked as such. What several programs did for each other is written by `instrument merge --format`.
///
/// lcov and jacoco show which lines and branches were executed, of profiles that were recorded with --transform method-events,lines; they
/// need the class files as they were before they were rewritten (--class-path). lcov has counts. Figures of several profiles are added up.
///
/// parquet writes any number of profiles as one directory of tables, each process once: what is there already stays. It always has all
/// threads, and everything since the start.
///
/// For example: instrument export --format speedscope app-4711.iprof -o app.speedscope.json
#[derive(Debug, Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    session: session::Opts,

    /// What to write
    #[arg(short, long, visible_alias = "to", value_parser = words::<Format>(), value_name = "FORMAT")]
    format: Format,

    /// Where to write it: a file, or for tau and parquet a directory; standard output if it is not given
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Figure to show where there is room for one: a resource such as `wall`, or what is counted, such as `calls`
    #[arg(long, value_name = "NAME")]
    resource: Option<String>,

    /// tau: leave out the rows of contexts
    #[arg(long)]
    flat: bool,

    /// Also write what would be much larger than the profiles: folded, speedscope, otlp-profiles and tau have the whole stack of each context
    #[arg(long)]
    large: bool,

    /// lcov, jacoco: archives, directories and class files of the program as they were before they were rewritten
    #[arg(long, value_name = "PATH")]
    class_path: Option<std::ffi::OsString>,

    /// lcov: directories in which the source files are looked for, as com/acme/Shop.java below one of them
    #[arg(long, value_name = "PATH")]
    source_path: Option<std::ffi::OsString>,

    /// parquet: a label of all processes; `service` and `build` are what the tables are kept apart by
    ///
    /// What is not given is taken from the profile (instrument run --label), then from OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES (service.name is the service, service.version the
    /// build), then from the variables of CI services (the commit is the build). Without any, the service is what the program is called.
    #[arg(long, value_name = "KEY=VALUE", value_parser = labels::parse)]
    label: Vec<Label>,
}

/// Writes the export.
///
/// # Errors
/// An input that cannot be read, an output that cannot be written, options that make no sense.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let export = Export {
        format: opts.format,
        output: opts.output.as_deref(),
        resource: opts.resource.as_deref(),
        flat: opts.flat,
        large: opts.large,
    };
    export.check()?;
    if let (Format::Parquet, Some(target)) = (opts.format, opts.output.as_deref()) {
        return dataset(opts, target, talk);
    }
    if !opts.label.is_empty() {
        return Err(usage("--label goes with --format parquet"));
    }
    if opts.format.is_coverage() {
        return lines(opts, talk);
    }
    if opts.class_path.is_some() {
        return Err(usage("--class-path goes with --format lcov and jacoco"));
    }
    if opts.source_path.is_some() {
        return Err(usage("--source-path goes with --format lcov"));
    }
    let mut request = opts.session.request();
    if opts.format == Format::Tau {
        // Each thread has a file, whose first routine is the thread itself: it has what the thread did in no recorded method.
        request.lifetimes = true;
        request.split_threads = true;
    }
    let session = session::read(&request, talk)?;
    export.write(&Recorded { session: &session, request: &request }, talk)
}

/// Writes which lines were executed.
fn lines(opts: &Opts, talk: &Talk) -> Result<Exit> {
    if is_cut(&opts.session) || opts.session.links {
        return Err(usage(
            "this format has all threads, since the start: leave out --thread, --collapse, --since, --split and --links",
        ));
    }
    if opts.source_path.is_some() && opts.format != Format::Lcov {
        return Err(usage("--source-path goes with --format lcov"));
    }
    coverage::run(
        &coverage::Request {
            format: opts.format,
            files: &opts.session.files,
            class_path: opts.class_path.as_deref(),
            source_path: opts.source_path.as_deref(),
            output: opts.output.as_deref(),
        },
        talk,
    )
}

/// Whether not everything is asked for.
fn is_cut(of: &session::Opts) -> bool {
    !of.thread.is_empty() || !of.collapse.is_empty() || !of.since.is_empty() || !of.split.is_empty()
}

/// Adds profiles to a dataset.
fn dataset(opts: &Opts, target: &Path, talk: &Talk) -> Result<Exit> {
    let of = &opts.session;
    if is_cut(of) || of.links {
        return Err(usage(
            "--format parquet has all threads, pool by pool, since the start: leave out --thread, --collapse, --since, --split and --links",
        ));
    }
    add(target, &opts.label, talk, |labels, folder| parquet::write(&of.files, labels, folder))
}

/// Adds to a dataset what `write` writes.
pub(crate) fn add(
    target: &Path,
    labels: &[Label],
    talk: &Talk,
    write: impl FnOnce(&Sources, &mut Folder<'_>) -> Result<Written, Error>,
) -> Result<Exit> {
    if target.exists() && !target.is_dir() {
        return Err(usage(format!("{} is no directory", target.display())));
    }
    let labels = labels::sources(labels, |name| std::env::var(name).ok());
    let mut folder = Folder { target, outputs: Outputs::default() };
    let written = write(&labels, &mut folder)?;
    talk.messages(&written.messages);
    folder.outputs.commit()?;
    let (processes, values) = (written.processes, written.values);
    let plural = if processes == 1 { "process" } else { "processes" };
    talk.note(format_args!("{}: {processes} {plural}, {values} contexts in threads", target.display()));
    Ok(Exit::Done)
}

/// The directory of a dataset. Files appear when all are written, in the order in which they were.
pub(crate) struct Folder<'a> {
    target: &'a Path,
    outputs: Outputs,
}

impl parquet::Folder for Folder<'_> {
    type File = NamedTempFile;

    fn create(&mut self, path: &Path) -> io::Result<NamedTempFile> {
        Outputs::open(&self.target.join(path)).map_err(other)
    }

    fn finish(&mut self, path: &Path, file: NamedTempFile) -> io::Result<()> {
        self.outputs.stage(&self.target.join(path), None, file).map_err(other)
    }
}

/// The error of the medium, if there is one.
fn other(error: anyhow::Error) -> io::Error {
    match error.downcast_ref::<io::Error>() {
        Some(of) => io::Error::new(of.kind(), format!("{error:#}")),
        None => io::Error::other(format!("{error:#}")),
    }
}
