//! `instrument latency`: see `instrument_analysis::latency`.

use crate::io::exit::Exit;
use crate::io::recorded;
use crate::io::talk::Talk;
use crate::options::{session, view};
use anyhow::Result;
use instrument_analysis::latency::{CallTree, Durations, Latency, MOST_SLOWEST, MOST_WORST, Worst};
use instrument_analysis::report::latency::{Slow, Slowest};
use instrument_analysis::report::{self, Format, latency, latency_worst};
use instrument_analysis::session::{Session, thread_filter};
use instrument_analysis::timeline::Timeline;
use instrument_messages::usage;

/// Print how long the calls of methods took, as percentiles; from a trace what the slowest calls did, too
///
/// From a trace, of all methods; from a tree, of those that --latency named when it was recorded. A call counts from its entry to its exit, with all that it called; a call within a call of the same method is part of it. Percentiles are right
/// within 0.6 %; one that would need more calls than there are is not printed. Times are as measured: the cost of recording is part of them,
/// without the moments in which the recorder wrote for itself. Methods
/// with fewer than 20 calls are left out, unless --method names them. Rows are sorted by what the slowest percent of their calls took beyond the
/// median. A FILE may be the id of a process that is recorded: its calls so far.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  instrument latency app-4711.iprof\n  instrument latency --method 'OrderService#list' --slowest=3 app-4711.iprof\n  instrument latency --worst app-4711.iprof\n  instrument latency 4711"
)]
#[command(mut_arg("files", |files| files.help(session::PROFILES)))]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    /// Of the first method, print its N slowest calls, at most 10: what took longer than in a typical call, and the tree of what it did
    #[arg(long, value_name = "N", default_missing_value = "1", num_args = 0..=1, require_equals = true,
        value_parser = clap::value_parser!(u8).range(1..=MOST_SLOWEST as i64), conflicts_with = "csv")]
    slowest: Option<u8>,
    /// Of methods that --latency named, print what their longest calls did and the others did not, and the trees of the N longest, at most 10
    #[arg(long, value_name = "N", default_missing_value = "1", num_args = 0..=1, require_equals = true,
        value_parser = clap::value_parser!(u8).range(0..=MOST_WORST as i64), conflicts_with = "slowest")]
    worst: Option<u8>,
    /// Print at most N levels of these trees
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

/// Prints the percentiles.
///
/// # Errors
/// A file that cannot be read or understood; there is no trace; an output that fails.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let (of, print) = (&opts.view.session, &opts.view.print);
    check(of, print)?;
    if opts.depth.is_some() && opts.slowest.is_none() && opts.worst.is_none() {
        return Err(usage("--depth is about the trees of calls, which --worst and --slowest print"));
    }
    if opts.depth.is_some() && print.format() != Format::Text {
        return Err(usage(
            "--depth is about trees that are printed as text; --json and --csv have all of them",
        ));
    }
    let mut request = of.request();
    request.files = request.files.iter().map(|file| recorded::profile(file)).collect::<Result<_>>()?;
    let mut session = of.read_indexed_as(&request, talk)?;
    let timeline = Timeline::of_session(&session, &request)?;
    let found = found(opts, &session, &timeline)?;
    session.model = found.model(&session.profiles);
    session.calls.clear();
    let worst = opts.worst.map(|trees| worst(opts, &session, trees)).transpose()?;
    for name in worst.iter().flat_map(|(of, _)| of).flat_map(Worst::names) {
        session.model.consumer(name);
    }
    view::print(print, opts.depth, &session, of.strict, talk, |out, session, _, options| {
        if options.format == Format::Text {
            writeln!(out, "calls from entry to exit, as measured: the cost of recording is included\n")?;
        }
        if let Some((worst, trees)) = &worst {
            return latency_worst::write(out, worst, *trees, &session.model, options);
        }
        let rows = latency::rows(&found, options);
        let slowest = match (rows.first(), opts.slowest) {
            (Some(&(method, durations)), Some(calls)) => {
                slowest(method, durations, calls, session, &timeline)?
            }
            _ => Slowest::default(),
        };
        latency::write(out, &rows, &timeline, (&session.model, &found), &slowest, options)?;
        Ok(())
    })
}

/// What the slowest calls of a method did, so many of them, and a typical one.
fn slowest<'a>(
    method: &'a str,
    durations: &Durations,
    calls: u8,
    session: &Session,
    timeline: &Timeline,
) -> Result<Slowest<'a>, report::Error> {
    let tree = |call| {
        let tree = CallTree::new(timeline, &session.profiles, method, call);
        tree.map_err(|error| report::Error::Output(std::io::Error::other(error)))
    };
    let typical = durations.typical().map(tree).transpose()?.flatten();
    let calls = durations.slowest.iter().take(calls.into());
    let calls = calls.map(|&call| Ok(Slow { method, call, tree: tree(call)? }));
    Ok(Slowest { calls: calls.collect::<Result<_, report::Error>>()?, typical })
}

/// The worst calls that the profiles have, and how many trees are asked for.
fn worst(opts: &Opts, session: &Session, trees: u8) -> Result<(Vec<Worst>, usize)> {
    let worst = Worst::kept(&session.profiles, &thread_filter(&opts.view.session.thread))?;
    if worst.is_empty() && session.profiles.iter().any(|file| !file.profile.worst_calls.is_empty()) {
        return Err(usage(
            "--worst: none of the longest calls ended since figures were reset, in a thread that --thread names; threads that have ended have no names",
        ));
    }
    if worst.is_empty() {
        return Err(usage(
            "--worst prints what the longest calls did of methods that were chosen when they were recorded, and there is none: `instrument run --latency 'Shop#sell'` keeps them; of a trace, --slowest prints them",
        ));
    }
    Ok((worst, trees.into()))
}

/// The durations that the profiles have.
fn found(opts: &Opts, session: &Session, timeline: &Timeline) -> Result<Latency> {
    let wants = thread_filter(&opts.view.session.thread);
    let kept = Latency::kept(&session.profiles, &wants);
    let traced = timeline.traced(session);
    if traced.is_ok() && !opts.view.session.request().is_everything() {
        return Err(refused("--since"));
    }
    let Some(kept) = kept else {
        let cure = "`instrument run --latency 'Shop#sell'` keeps the durations of methods in a tree";
        let traced = traced.map_err(|error| usage(format!("{error}; {cure}")))?;
        return Ok(Latency::of(timeline, &session.profiles, &traced)?);
    };
    match traced {
        Ok(traced) => {
            let mut found = Latency::of(timeline, &session.profiles, &traced)?;
            found.merge(kept);
            Ok(found)
        }
        Err(_) if opts.slowest.is_some() => Err(usage(
            "--slowest prints single calls, and only a trace has them: `instrument run --record trace` records one",
        )),
        Err(_) => Ok(kept),
    }
}

/// Refuses what single calls have no answer to.
fn check(of: &session::Opts, print: &view::Print) -> Result<()> {
    let given = [
        ("--collapse", !of.collapse.is_empty()),
        ("--split", !of.split.is_empty()),
        ("--links", of.links),
        ("--resource", !print.resource.is_empty()),
        ("--percent", print.percent),
        ("--absolute", print.absolute),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(refused(option)),
        None => Ok(()),
    }
}

fn refused(option: &str) -> anyhow::Error {
    usage(format!("{option} does not go with latency, which prints the times of single calls"))
}
