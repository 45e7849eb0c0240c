//! `instrument merge`: profiles of processes that call each other, as one.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::exit::{Exit, usage};
use crate::subject::{self, ProfileFile, Subject, is_profile};
use crate::talk::Talk;
use crate::view::{self, Print};
use anyhow::{Context, Result};
use clap::ValueEnum;
use instrument_analysis::merge::view::{client, tree};
use instrument_analysis::merge::{Numbers, Party, View, fuller_copies, match_calls};
use instrument_analysis::report::{Format, matching, stats, xarc, xprof, xtree};

/// Merge profiles of programs that call each other by RMI: one execution tree over all of them
///
/// Takes profiles recorded with `instrument run --transform method-events,rmi`. Calls are matched by the UID of their return, by their
/// place on a connection that is known, or by ports that no other connection has; never by clocks. Every call is matched or has a reason
/// why not. What a server did for a call stands below the context that made it, and the time is taken from its caller's own, which waited;
/// shares of what was recorded for several callers together are marked as estimated. Resources: remote-calls, remote (ns in remote calls,
/// as the caller measured it, calls within calls included), network (what of it was not the server's).
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    subject: subject::Opts,
    #[command(flatten)]
    print: Print,
    /// What to print [default: matching and xtree]
    #[arg(long, value_enum)]
    report: Option<Report>,
    /// The profile whose tree it is, one of FILE; `all`: of all, each with what nobody is known to have caused [default: the first that makes
    /// calls and serves none]
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
    let Given { files, sources, copies } = open(opts, talk)?;
    let asked = asked_root(opts, &files, &copies)?;
    let names = labels(&files);
    let mut loaded = subject::load_apart(files, names.clone(), &opts.subject);
    let parties: Vec<_> = (loaded.0.iter().zip(&sources))
        .map(|(file, source)| Party { profile: &file.profile, source })
        .collect();
    let is_of_one = matches!(asked, Root::Of(_));
    let matches = match_calls(&parties)?;
    let numbers = Numbers::of(&matches);
    let root = match asked {
        Root::All => None,
        Root::Of(party) => Some(party),
        Root::Default => client(&numbers),
    };
    let wanted = View { root, is_server: opts.view == Whose::Server, internals: opts.internals };
    let merged = tree(&parties, &matches, &loaded.1, &names, &wanted)?;
    drop(parties);
    let stages = merged.stages;
    for remark in loaded.1.remarks.iter().chain(&merged.remarks) {
        talk.note(format_args!("note: {remark}"));
    }
    loaded.1.model = merged.model;
    if is_of_one {
        // What was called once, on behalf of whom, is not known of single calls.
        loaded.1.calls.clear();
    }
    let subject = Subject::of(&opts.subject, loaded.0, loaded.1);
    let format = opts.print.format();
    let only_numbers =
        opts.report == Some(Report::Matching) || (opts.report.is_none() && format == Format::Csv);
    let mut start = Vec::new();
    if only_numbers || (opts.report.is_none() && format == Format::Text) {
        matching::write(&mut start, &names, &numbers, &stages, format)?;
    }
    if only_numbers {
        let mut out = BufWriter::new(std::io::stdout().lock());
        out.write_all(&start)?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    view::print(&opts.print, opts.depth, &subject, talk, |out, subject, arcs, options| {
        let model = &subject.model;
        match opts.report {
            Some(Report::Xprof) => xprof::write(out, model, arcs, options),
            Some(Report::Xarc) => xarc::write(out, model, arcs, options),
            Some(Report::Stats) => stats::write(out, model, &subject.calls, subject.is_corrected, options),
            Some(_) => xtree::write(out, model, options),
            None if format == Format::Json => {
                let numbers = matching::json(&names, &numbers, &stages);
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

/// What the calls of a profile are read from, several times: of a process that still writes, a copy that stays as it is.
fn source(file: &ProfileFile) -> Result<File> {
    let name = || file.path.display().to_string();
    let mut source = File::open(&file.path).with_context(name)?;
    if file.is_live {
        let mut copy = tempfile::tempfile().context("a copy of a profile that is being written")?;
        std::io::copy(&mut source, &mut copy).with_context(name)?;
        return Ok(copy);
    }
    Ok(source)
}

enum Root {
    Default,
    All,
    Of(usize),
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
    at.map(Root::Of).ok_or_else(|| usage(format!("--root {}: not among the profiles given", name.display())))
}

/// What the processes are called: no two the same.
fn labels(files: &[ProfileFile]) -> Vec<String> {
    let plain: Vec<_> = files.iter().map(ProfileFile::label).collect();
    let unique = plain.iter().enumerate().map(|(at, label)| {
        let is_twice = plain.iter().filter(|other| *other == label).count() > 1;
        if is_twice { format!("{label} (file {})", at + 1) } else { label.clone() }
    });
    unique.collect()
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
        return Err(usage(format!("{}: no profile", other.display())));
    }
    let several = opts.subject.files.len() > 1;
    let open = |(number, path): (usize, &PathBuf)| ProfileFile::open(path, number, several);
    let files = opts.subject.files.iter().enumerate().map(open).collect::<Result<Vec<_>>>()?;
    let sources = files.iter().map(source).collect::<Result<Vec<_>>>()?;
    let parties: Vec<_> =
        files.iter().zip(&sources).map(|(file, source)| Party { profile: &file.profile, source }).collect();
    let fuller = fuller_copies(&parties)?;
    drop(parties);
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
