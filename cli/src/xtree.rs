//! `instrument xtree`: see `instrument_analysis::report::xtree`.

use crate::exit::Exit;
use crate::talk::Talk;
use crate::view;
use anyhow::Result;
use instrument_analysis::report::xtree;

/// Print every context of every method, as a tree: who called whom, and what that consumed
///
/// With --json, a complete call tree that is also an input.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    #[command(flatten)]
    view: view::Opts,
    /// Print at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    view::run(&opts.view, opts.depth, talk, |out, subject, _, options| {
        xtree::write(out, &subject.model, options)
    })
}
