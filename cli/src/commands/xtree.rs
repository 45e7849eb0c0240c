//! `instrument xtree`: see `instrument_analysis::report::xtree`.

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use crate::options::{own, session, view};
use anyhow::Result;
use clap::ValueEnum;
use instrument_analysis::report::fold::Fold;
use instrument_analysis::report::print::calls_of;
use instrument_analysis::report::{Options, Select, xtree};
use instrument_analysis::session::lookup::{each_for_itself, method_names};
use instrument_analysis::session::{Methods, Request};
use instrument_messages::usage;

/// Print every context of every method, as a tree: who called whom, and what that consumed
///
/// With --focus, from some methods down, all their calls merged; above them their callers, merged in reverse. With --json, a complete call tree
/// that is also an input.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    #[command(flatten)]
    own: own::Opts,
    /// Print at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Put the methods that match on top: what they called below them, who called them in a tree above
    #[arg(long, value_name = "PATTERN")]
    focus: Vec<String>,
    /// --focus: only calls that are made within methods that match, at any depth; several: the outermost first
    #[arg(long, value_name = "PATTERN", requires = "focus")]
    within: Vec<String>,
    /// --json: a list of contexts, each with the place of its caller in it; readers such as jq and Python refuse trees that are deep
    #[arg(long, requires = "json")]
    flat: bool,
    /// Show several contexts as one [default: all; for --json and --csv none]
    ///
    /// Methods that call themselves become one context; in text, a chain of methods that called only the next becomes one line.
    #[arg(long, value_enum, value_name = "WHAT")]
    fold: Option<Folded>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Folded {
    /// Recursion and chains
    All,
    /// Methods that call themselves
    Recursion,
    /// Chains of methods that called only the next
    Chains,
    /// Nothing
    None,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    let request = Request { own: opts.own.patterns(), ..opts.view.session.request() };
    let mut session = session::read(&request, talk)?;
    let methods = Methods::new("--focus", &opts.focus, &method_names(&session.model))?;
    let outer = each_for_itself("--within", &opts.within, &session.model)?;
    for methods in [&methods].into_iter().chain(&outer) {
        if methods.fit_nothing() {
            return Err(usage(methods.warnings.join("; ")));
        }
    }
    let outer: Vec<_> = outer.iter().map(calls_of).collect();
    let outer: Vec<Select<'_>> = outer.iter().map(|select| select as Select<'_>).collect();
    session.warnings.extend(methods.warnings.iter().cloned());
    let focus = calls_of(&methods);
    let strict = opts.view.session.strict;
    view::print(&opts.view.print, opts.depth, &session, strict, talk, |out, session, _, options| {
        let mut options = Options { flat: opts.flat, ..*options };
        if !methods.is_empty() {
            options.focus = Some(&focus);
            options.within = &outer;
        }
        if let Some(fold) = opts.fold {
            let is = |one| fold == one || fold == Folded::All;
            options.fold = Fold { recursion: is(Folded::Recursion), chains: is(Folded::Chains) };
        }
        xtree::write(out, &session.model, &options)
    })
}
