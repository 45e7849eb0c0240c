//! `instrument xtree`: see `instrument_analysis::report::xtree`.

use crate::exit::{Exit, usage};
use crate::lookup::{self, Methods};
use crate::subject::Subject;
use crate::talk::Talk;
use crate::view;
use anyhow::Result;
use clap::ValueEnum;
use instrument_analysis::Kind;
use instrument_analysis::report::fold::Fold;
use instrument_analysis::report::{Options, xtree};

/// Print every context of every method, as a tree: who called whom, and what that consumed
///
/// With --focus, from some methods down, all their calls merged; above them their callers, merged in reverse. With --json, a complete call tree
/// that is also an input.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    /// Print at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    /// Put the methods that fit PATTERN on top: what they called below them, who called them in a tree above. 100 % is what they consume
    #[arg(long, value_name = "PATTERN")]
    focus: Vec<String>,
    /// What is folded: methods that call themselves into one context; for text chains of methods that called only the next into one line
    /// [default: all; for --json and --csv none]
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
    let mut subject = Subject::read(&opts.view.subject, false, talk)?;
    let methods = Methods::new("--focus", &opts.focus, &lookup::method_names(&subject.model))?;
    if methods.fit_nothing() {
        return Err(usage(methods.warnings.join("; ")));
    }
    subject.warnings.extend(methods.warnings.iter().cloned());
    let focus = |kind: Kind, name: &str| kind == Kind::Method && methods.fits(name);
    view::print(&opts.view.print, opts.depth, &subject, talk, |out, subject, _, options| {
        let mut options = Options { ..*options };
        if !methods.is_empty() {
            options.focus = Some(&focus);
        }
        if let Some(fold) = opts.fold {
            let is = |one| fold == one || fold == Folded::All;
            options.fold = Fold { recursion: is(Folded::Recursion), chains: is(Folded::Chains) };
        }
        xtree::write(out, &subject.model, &options)
    })
}
