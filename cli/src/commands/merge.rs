//! `instrument merge`: profiles of processes that call each other, as one.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::io::exit::{Exit, with_warnings};
use crate::io::talk::Talk;
use crate::options::formats::Export;
use crate::options::labels::{self, Label};
use crate::options::session;
use crate::options::settings::{words, words_but};
use crate::options::view::{self, Print};
use anyhow::Result;
use clap::ValueEnum;
use clap::builder::TypedValueParser;
use instrument_analysis::Arcflow;
use instrument_analysis::export::format::{self, Format, Merged};
use instrument_analysis::export::parquet::write_together;
use instrument_analysis::merge::view::roots;
use instrument_analysis::merge::{Processes, View};
use instrument_analysis::origin::Origins;
use instrument_analysis::page::Sections;
use instrument_analysis::report::merged::{MatchedCalls, Report};
use instrument_analysis::report::{self, remote};
use instrument_analysis::session::{Error, Methods, Request};
use instrument_analysis::thread_time::ThreadTime;
use instrument_messages::usage;

/// Merge profiles of programs that call each other: one execution tree over all of them
///
/// Takes profiles recorded with `instrument run --remote rmi,http,grpc,jms`. Requests by HTTP and calls by gRPC are matched by their
/// traceparent header, messages by the ids that their provider gives them, calls of RMI by the UID of their return; what has none of these
/// by its place on a connection that is known, or by ports that no other connection has; never by clocks. Every call is matched or has a
/// reason why not. What a server did for a call stands below the context that made it, and the time is taken from its caller's own, which
/// waited, but for messages, for which nobody waits; shares of what was recorded for several callers together are marked as estimated.
/// Resources: remote-calls, remote (ns in remote calls, as the caller measured it, less that of the calls within, which stand below),
/// network (what of it was not the server's).
#[derive(Debug, Clone, clap::Args)]
#[command(mut_arg("files", |files| files.help(session::PROFILES)))]
pub(crate) struct Opts {
    #[command(flatten)]
    session: session::Opts,
    #[command(flatten)]
    print: Print,
    /// Write it for other tools, as `instrument export` does
    ///
    /// chrome and perfetto show every call at its time on the thread that made it and on the one that served it, with arrows between them
    /// and, where profiles are traces, everything else that happened; otlp is spans for OpenTelemetry; speedscope of traces is a timeline.
    /// parquet adds all processes to a dataset as one (--process all), for `instrument fleet` and Spark. All others, and --resource, are of
    /// the tree. Times are those of the first root's clock; by how much others differ from it is told by the
    /// report `matching`.
    #[arg(short, long, visible_alias = "to", value_parser = formats(), value_name = "FORMAT", conflicts_with_all = PRINTED)]
    format: Option<format::Format>,
    /// Where to write it: a file, or for tau and parquet a directory; standard output if it is not given
    #[arg(short, long, value_name = "OUT", requires = "format")]
    output: Option<PathBuf>,
    /// Write one HTML file that shows the tree over all processes in a browser, as `instrument view` does
    #[arg(hide_short_help = true, long, value_name = "FILE", conflicts_with = "format", conflicts_with_all = PRINTED)]
    html: Option<PathBuf>,
    /// --format tau: leave out the rows of contexts
    #[arg(hide_short_help = true, long, requires = "format")]
    flat: bool,
    /// --format: also write what would be much larger than the profiles
    #[arg(hide_short_help = true, long, requires = "format")]
    large: bool,
    /// --format parquet: a label of the process; `service` and `build` are what the tables are kept apart by
    ///
    /// What is not given is taken from the profiles where all have the same, then from the environment, as `instrument export` does.
    #[arg(hide_short_help = true, long, value_name = "KEY=VALUE", value_parser = labels::parse)]
    label: Vec<Label>,
    /// What to print [default: matching and xtree]
    #[arg(long, value_parser = words::<Report>())]
    report: Option<Report>,
    /// The process whose tree it is, by its name or profile; `all`: every process [default: those that begin]
    ///
    /// With `all`, calls whose caller is not known stay with their process. A process begins whose calls are no part of what another one
    /// asked it for: a call is part of a request if the thread that serves the request makes it. What other threads do for a request, as
    /// those of an executor, counts as the process's own: such a server begins as well. If there is none, it is the first process that makes calls and serves the fewest.
    #[arg(long, value_name = "PROCESS")]
    process: Option<String>,
    /// Whose view it is
    #[arg(long, value_enum, default_value = "client")]
    view: Whose,
    /// Show calls of the registry and of the distributed garbage collector where they were made
    #[arg(hide_short_help = true, long)]
    internals: bool,
    /// xtree: print at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

/// What only goes with something to be printed.
const PRINTED: [&str; 11] =
    ["report", "depth", "percent", "absolute", "sort", "top", "prune", "method", "width", "json", "csv"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// The root's, with all that was done for it elsewhere
    Client,
    /// The root's, with what it did for whom
    Server,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let export = export(opts)?;
    let request = opts.session.request();
    if let Some((Format::Parquet, target)) = opts.format.zip(opts.output.as_deref()) {
        return dataset(opts, target, talk);
    }
    if !opts.label.is_empty() {
        return Err(usage("--label goes with --format parquet"));
    }
    let mut processes = Processes::open(&request).inspect_err(|error| {
        if let Error::NoneReadable(messages) = error {
            talk.messages(messages);
        }
    })?;
    talk.messages(&processes.messages);
    let tree_of = tree_of(opts, &request, &processes)?;
    let begin = roots(&processes.numbers);
    // Of all there is no clock.
    let first = begin.first().copied();
    let (roots, clock) = match tree_of {
        TreeOf::All => (Vec::new(), first),
        TreeOf::One(party) => (vec![party], Some(party)),
        TreeOf::Roots => (begin, first),
    };
    let (threads, internals) = (&request.threads[..], opts.internals);
    if let Some(export) = &export {
        let is_timed = Merged::is_timed(export.format, &processes.files);
        if !export.request().takes_model(is_timed) {
            if opts.view == Whose::Server {
                return Err(usage("--view is about the tree, which this format does not show"));
            }
            let mut model = Arcflow::new(Vec::new());
            model.origins = Origins::new(processes.files.iter().flat_map(|file| file.names.origins()));
            let (model, files, calls) = (&model, &processes.files[..], processes.calls());
            return export.write(&Merged { model, files, calls, clock, threads, internals }, talk);
        }
    }
    if let Some(report @ (Report::Services | Report::Calls)) = opts.report {
        return remote(opts, report, &processes, clock, talk);
    }
    let view = View { roots, is_server: opts.view == Whose::Server, internals };
    // What was called once, on behalf of one process, is not known of single calls.
    let keeps_calls = !matches!(tree_of, TreeOf::One(_));
    let (mut session, stages) = processes.tree(&request, &view, keeps_calls)?;
    talk.messages(&session.messages);
    if let Some(export) = &export {
        let (model, files, calls) = (&session.model, &processes.files[..], processes.calls());
        return export.write(&Merged { model, files, calls, clock, threads, internals }, talk);
    }
    if let Some(path) = &opts.html {
        session.messages.extend(processes.messages.iter().cloned());
        let sections = Sections::of_processes(&session, &request, &mut processes, clock, opts.internals)?;
        super::view::write(path, &session, &sections, &request, super::view::CONTEXTS, talk)?;
        return Ok(with_warnings(&session.warnings, opts.session.strict, Exit::Done, talk));
    }
    let offsets = &processes.calls().offsets(clock)?;
    let (labels, numbers, stages) = (&processes.labels[..], &processes.numbers, &stages);
    let matched = MatchedCalls { labels, numbers, stages, offsets };
    let mut print = opts.print.clone();
    let format = print.format();
    if MatchedCalls::is_alone(opts.report, format) {
        let mut out = BufWriter::new(std::io::stdout().lock());
        matched.write(&mut out, format)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    if let Some(time) = ThreadTime::of(&session.model)
        && format == report::Format::Text
        && print.resource.is_empty()
    {
        // Who waits for a call waits for the other process: it is the whole time that matters here, if that is known.
        let shown = time.whole.unwrap_or(time.running);
        print.resource.push(session.model.resources()[shown].name.clone());
    }
    view::print(&print, opts.depth, &session, opts.session.strict, talk, |out, session, arcs, options| {
        matched.write_tree(out, opts.report, session, arcs, options)
    })
}

/// Prints what is known of the calls alone.
fn remote(
    opts: &Opts,
    report: Report,
    processes: &Processes,
    clock: Option<usize>,
    talk: &Talk,
) -> Result<Exit> {
    if opts.view == Whose::Server {
        return Err(usage("--view is about the tree, which this report does not show"));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    opts.print.with(None, &Methods::default(), talk.colours_results(), |options| -> Result<()> {
        let calls = processes.calls().remote(clock, opts.internals, remote::bounds(options))?;
        match report {
            Report::Services => remote::write_services(&mut out, &calls, options)?,
            _ => remote::write_calls(&mut out, &calls, options)?,
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(with_warnings(&[], opts.session.strict, Exit::Done, talk))
}

/// Adds the processes to a dataset as one.
fn dataset(opts: &Opts, target: &Path, talk: &Talk) -> Result<Exit> {
    let of = &opts.session;
    let is_cut = !of.thread.is_empty() || !of.collapse.is_empty() || !of.since.is_empty();
    if is_cut || !of.split.is_empty() || of.links {
        return Err(usage(
            "--format parquet has all threads, pool by pool, since the start: leave out --thread, --collapse, --since, --split and --links",
        ));
    }
    if opts.view == Whose::Server || opts.process.as_deref().is_some_and(|process| process != "all") {
        return Err(usage("--format parquet has all processes: leave out --view and --process"));
    }
    super::export::add(target, &opts.label, talk, |labels, folder| {
        write_together(&of.files, labels, opts.internals, folder)
    })
}

/// All formats but that of events, which has processes each for itself.
fn formats() -> impl TypedValueParser<Value = format::Format> {
    words_but(&[format::Format::Xml])
}

/// What is to be written for other tools.
fn export(opts: &Opts) -> Result<Option<Export<'_>>> {
    let Some(format) = opts.format else { return Ok(None) };
    let resource = match &opts.print.resource[..] {
        [] => None,
        [one] => Some(one.as_str()),
        _ => return Err(usage("--resource: only one can be exported")),
    };
    if format == format::Format::Otlp && !opts.session.thread.is_empty() {
        return Err(usage("--thread cannot be combined with otlp: spans cover whole traces"));
    }
    let export =
        Export { format, output: opts.output.as_deref(), resource, flat: opts.flat, large: opts.large };
    export.check()?;
    Ok(Some(export))
}

/// Whose tree is printed.
enum TreeOf {
    Roots,
    All,
    One(usize),
}

fn tree_of(opts: &Opts, request: &Request, processes: &Processes) -> Result<TreeOf> {
    match (opts.process.as_deref(), opts.view) {
        (None, Whose::Client) => Ok(TreeOf::Roots),
        (Some("all"), Whose::Client) => Ok(TreeOf::All),
        (None, Whose::Server) => Err(usage("--view server: say which one with --process")),
        (Some("all"), Whose::Server) => {
            Err(usage("--view server: of one process; say which one with --process"))
        }
        (Some(name), _) => Ok(TreeOf::One(processes.position(request, Path::new(name))?)),
    }
}
