//! `instrument merge`: profiles of processes that call each other, as one.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, usage};
use crate::formats::{self, Exportable, Wanted};
use crate::remote::{Matched, Recordings, labels, parties, sources};
use crate::subject::{self, ProfileFile, Subject, is_profile, not_a_profile};
use crate::talk::Talk;
use crate::view::{self, Print};
use crate::window;
use anyhow::{Context, Result};
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use instrument_analysis::Arcflow;
use instrument_analysis::export::timeline::Timeline;
use instrument_analysis::export::trace;
use instrument_analysis::merge::view::{client, tree};
use instrument_analysis::merge::{Numbers, View, fuller_copies};
use instrument_analysis::origin::Origins;
use instrument_analysis::report::{Format, matching, stats, xarc, xprof, xtree};
use instrument_analysis::thread_time::ThreadTime;

/// Merge profiles of programs that call each other by RMI: one execution tree over all of them
///
/// Takes profiles recorded with `instrument run --transform method-events,rmi`. Calls are matched by the UID of their return, by their
/// place on a connection that is known, or by ports that no other connection has; never by clocks. Every call is matched or has a reason
/// why not. What a server did for a call stands below the context that made it, and the time is taken from its caller's own, which waited;
/// shares of what was recorded for several callers together are marked as estimated. Resources: remote-calls, remote (ns in remote calls,
/// as the caller measured it, less that of the calls within, which stand below), network (what of it was not the server's).
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    subject: subject::Opts,
    #[command(flatten)]
    print: Print,
    /// Write it for other tools, as `instrument export` does
    ///
    /// chrome and perfetto show every call at its time on the thread that made it and on the one that served it, with arrows between them
    /// and, where profiles are traces, everything else that happened; otlp is spans for OpenTelemetry; speedscope of traces is a timeline.
    /// All others, and --resource, are of the tree. Times are those of the root's clock; by how much others differ from it is told by the
    /// report `matching`.
    #[arg(long, visible_alias = "format", value_parser = formats(), value_name = "FORMAT", conflicts_with_all = PRINTED)]
    to: Option<formats::Format>,
    /// --to: where to write it: a file, or for tau a directory; standard output if it is not given
    #[arg(short, long, value_name = "OUT", requires = "to")]
    output: Option<PathBuf>,
    /// --to tau: leave out the rows of contexts
    #[arg(long, requires = "to")]
    flat: bool,
    /// What to print [default: matching and xtree]
    #[arg(long, value_enum)]
    report: Option<Report>,
    /// The profile whose tree it is, one of FILE; `all`: of all, each with what nobody is known to have caused [default: the first that makes
    /// calls and serves none for others, or the fewest]
    #[arg(long, value_name = "FILE")]
    root: Option<String>,
    /// Whose view it is
    #[arg(long, value_enum, default_value = "client")]
    view: Whose,
    /// Show calls of the registry and of the distributed garbage collector where they were made
    #[arg(long)]
    internals: bool,
    /// xtree: print at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

/// What only goes with something to be printed.
const PRINTED: [&str; 11] =
    ["report", "depth", "percent", "absolute", "sort", "top", "prune", "method", "width", "json", "csv"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Report {
    /// Which calls were matched, and why others were not
    Matching,
    /// Every context, as a tree
    Xtree,
    /// Every consumer
    Xprof,
    /// Every consumer with callers and callees
    Xarc,
    /// Every method's calls, in all processes; with --root FILE those in its tree, of which no shortest and longest is known
    Stats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// The root's, with all that was done for it elsewhere
    Client,
    /// The root's, with what it did for whom
    Server,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let is_everything = window::is_everything(&opts.subject.since);
    if !opts.subject.since.is_empty() && !is_everything {
        return Err(usage(
            "--since: remote calls are known from the start only; use it with the reports of one process, or give --since start",
        ));
    }
    let wanted = wanted(opts)?;
    let Given { files, sources, copies } = open(opts, talk)?;
    for file in files.iter().filter(|_| !is_everything) {
        if window::was_reset(file)? {
            return Err(usage(format!(
                "{}: its process was reset by `instrument ctl {} reset`, but remote calls are known from the start only; --since start merges \
                 everything since the start",
                file.path.display(),
                file.profile.pid
            )));
        }
    }
    let asked = asked_root(opts, &files, &copies)?;
    if let Some(wanted) =
        wanted.as_ref().filter(|wanted| !wanted.takes_model(is_timed(wanted.format, &files)))
    {
        if opts.view == Whose::Server {
            return Err(usage("--view: of the tree, which this format does not show"));
        }
        let recordings = &Recordings::new(&files, &sources);
        let matched = &recordings.matched(talk)?;
        let (_, clock) = asked.roots(&matched.numbers);
        let mut model = Arcflow::new(Vec::new());
        model.origins = Origins::new(files.iter().flat_map(|file| file.names.origins()));
        let model = &model;
        return wanted.write(&Export { model, files: &files, recordings, matched, clock, opts, talk }, talk);
    }
    let names = labels(&files);
    let (files, mut loaded) = subject::load_apart(files, names.clone(), &opts.subject);
    let recordings = Recordings::new(&files, &sources);
    let matched = recordings.matched(talk)?;
    let numbers = &matched.numbers;
    let (root, clock) = asked.roots(numbers);
    let view = View { root, is_server: opts.view == Whose::Server, internals: opts.internals };
    let merged = tree(&matched.parties, &matched.matching, &loaded, &names, &view)?;
    for remark in loaded.remarks.iter().chain(&merged.remarks) {
        talk.note(format_args!("note: {remark}"));
    }
    loaded.model = merged.model;
    if matches!(asked, Root::Of(_)) {
        // What was called once, on behalf of whom, is not known of single calls.
        loaded.calls.clear();
    }
    let subject = Subject::of(&opts.subject, Vec::new(), loaded);
    if let Some(wanted) = wanted {
        let (model, recordings, matched) = (&subject.model, &recordings, &matched);
        return wanted.write(&Export { model, files: &files, recordings, matched, clock, opts, talk }, talk);
    }
    let offsets = matched.offsets(clock)?;
    let stages = merged.stages;
    let format = opts.print.format();
    let only_numbers =
        opts.report == Some(Report::Matching) || (opts.report.is_none() && format == Format::Csv);
    let mut start = Vec::new();
    if only_numbers || (opts.report.is_none() && format == Format::Text) {
        matching::write(&mut start, &names, numbers, &stages, &offsets, format)?;
    }
    if only_numbers {
        let mut out = BufWriter::new(std::io::stdout().lock());
        out.write_all(&start)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let mut print = opts.print.clone();
    if let Some(time) = ThreadTime::of(&subject.model)
        && print.format() == Format::Text
        && print.resource.is_empty()
    {
        // Who waits for a call waits for the other process: it is the whole time that matters here.
        print.resource.push(subject.model.resources()[time.whole].name.clone());
    }
    view::print(&print, opts.depth, &subject, talk, |out, subject, arcs, options| {
        let model = &subject.model;
        match opts.report {
            Some(Report::Xprof) => xprof::write(out, model, arcs, options),
            Some(Report::Xarc) => xarc::write(out, model, arcs, options),
            Some(Report::Stats) => stats::write(out, model, &subject.calls, options),
            Some(_) => xtree::write(out, model, options),
            None if format == Format::Json => {
                let numbers = matching::json(&names, numbers, &stages, &offsets);
                write!(out, "{{\"matching\":{numbers},\"xtree\":")?;
                xtree::write(out, model, options)?;
                Ok(writeln!(out, "}}")?)
            }
            None => {
                out.write_all(&start)?;
                writeln!(out)?;
                xtree::write(out, model, options)
            }
        }
    })
}

/// All formats but XML, which has events of single processes.
fn formats() -> impl TypedValueParser<Value = formats::Format> {
    let all = formats::Format::value_variants().iter().filter(|format| **format != formats::Format::Xml);
    PossibleValuesParser::new(all.filter_map(ValueEnum::to_possible_value))
        .try_map(|name| formats::Format::from_str(&name, false))
}

/// What is to be written for other tools.
fn wanted(opts: &Opts) -> Result<Option<Wanted<'_>>> {
    let Some(format) = opts.to else { return Ok(None) };
    let resource = match &opts.print.resource[..] {
        [] => None,
        [one] => Some(one.as_str()),
        _ => return Err(usage("--resource: one, with --to")),
    };
    if format == formats::Format::Otlp && !opts.subject.thread.is_empty() {
        return Err(usage("--thread: a call is told with all that it is part of"));
    }
    let wanted = Wanted { format, output: opts.output.as_deref(), resource, flat: opts.flat };
    wanted.check()?;
    Ok(Some(wanted))
}

/// Calls are, always; speedscope shows no arrows, and is better off with the tree if there is nothing but calls.
fn is_timed(format: formats::Format, files: &[ProfileFile]) -> bool {
    match format {
        formats::Format::Chrome | formats::Format::Perfetto => true,
        formats::Format::Speedscope => files.iter().all(|file| trace::origin(&file.profile).is_some()),
        _ => false,
    }
}

/// What other tools are told.
struct Export<'a> {
    model: &'a Arcflow,
    files: &'a [ProfileFile],
    recordings: &'a Recordings<'a>,
    matched: &'a Matched<'a>,
    /// The party that times are of.
    clock: Option<usize>,
    opts: &'a Opts,
    talk: &'a Talk,
}

impl Exportable for Export<'_> {
    fn model(&self) -> &Arcflow {
        self.model
    }

    fn is_timed(&self, format: formats::Format) -> bool {
        is_timed(format, self.files)
    }

    fn tell(&self, timeline: &mut dyn Timeline) -> Result<()> {
        let wanted = subject::thread_filter(&self.opts.subject);
        self.recordings.tell(self.matched, self.clock, &wanted, (timeline, self.talk))
    }

    fn tell_some(&self, _: usize, _: &mut dyn Timeline) -> Result<()> {
        Ok(())
    }

    fn xml(&self, _: &mut dyn Write) -> Result<()> {
        Err(usage("--to xml: events of single processes"))
    }

    fn otlp(&self, out: &mut dyn Write) -> Result<()> {
        self.recordings.otlp(self.matched, self.clock, self.opts.internals, (out, self.talk))
    }
}

enum Root {
    Default,
    All,
    Of(usize),
}

impl Root {
    /// The party whose tree it is, if it is of one; and the party whose clock is taken, for of all there is no clock.
    fn roots(&self, numbers: &Numbers) -> (Option<usize>, Option<usize>) {
        let root = match *self {
            Root::All => None,
            Root::Of(party) => Some(party),
            Root::Default => client(numbers),
        };
        (root, root.or_else(|| client(numbers)))
    }
}

fn asked_root(opts: &Opts, files: &[ProfileFile], copies: &[(PathBuf, PathBuf)]) -> Result<Root> {
    let Some(name) = &opts.root else {
        return match opts.view {
            Whose::Client => Ok(Root::Default),
            Whose::Server => Err(usage("--view server: say which one with --root")),
        };
    };
    if name == "all" {
        return match opts.view {
            Whose::Client => Ok(Root::All),
            Whose::Server => Err(usage("--view server: of one process; say which one with --root")),
        };
    }
    let name = Path::new(name);
    let path = copies.iter().find(|(copy, _)| copy == name).map_or(name, |(_, fuller)| fuller);
    let at = files.iter().position(|file| file.path == path);
    let why = if opts.subject.files.iter().any(|file| file == path) {
        "left out, for it cannot be read"
    } else {
        "not among the profiles given"
    };
    at.map(Root::Of).ok_or_else(|| usage(format!("--root {}: {why}", name.display())))
}

/// The profiles, one for each process.
struct Given {
    files: Vec<ProfileFile>,
    /// What their calls are read from.
    sources: Vec<File>,
    /// What was left out, each with the fuller profile of its process.
    copies: Vec<(PathBuf, PathBuf)>,
}

/// Reads the profiles, each process once.
fn open(opts: &Opts, talk: &Talk) -> Result<Given> {
    if let Some(other) = opts.subject.files.iter().find(|path| !is_profile(path)) {
        File::open(other).with_context(|| format!("cannot read {}", other.display()))?;
        return Err(usage(not_a_profile(other)));
    }
    let several = opts.subject.files.len() > 1;
    let mut files = Vec::new();
    for (number, path) in opts.subject.files.iter().enumerate() {
        File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        match ProfileFile::open(path, number, several) {
            Ok(file) => files.push(file),
            // What the others have recorded is told all the same.
            Err(error) if several => talk.warn(format_args!("{error:#}; left out")),
            Err(error) => return Err(error),
        }
    }
    anyhow::ensure!(!files.is_empty(), "none of the profiles can be read");
    let sources = sources(&files)?;
    let fuller = fuller_copies(&parties(&files, &sources))?;
    let mut copies = Vec::new();
    for (file, other) in files.iter().zip(&fuller) {
        if let Some(other) = other {
            let other = &files[*other].path;
            let (name, fuller) = (file.path.display(), other.display());
            talk.warn(format_args!("{name}: of the same process as {fuller}, which has no less; left out"));
            copies.push((file.path.clone(), other.clone()));
        }
    }
    let all = files.into_iter().zip(sources).zip(fuller);
    let (files, sources): (Vec<_>, Vec<_>) =
        all.filter(|(_, fuller)| fuller.is_none()).map(|(kept, _)| kept).unzip();
    files.iter().for_each(|file| file.say_remarks(talk));
    Ok(Given { files, sources, copies })
}
