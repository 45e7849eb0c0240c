//! `instrument mcp`: a server of the Model Context Protocol on standard input and output, so that assistants can ask profiles what the
//! reports and the viewer ask them.

use std::path::PathBuf;

use crate::io::exit::Exit;
use crate::io::talk::Talk;
use anyhow::Result;
use instrument_messages::Listener;

/// Answer questions of assistants about profiles, over the Model Context Protocol on standard input and output
///
/// A client starts it, and it ends with its input. Tools: summary, hot_methods, callers_callees, tree, difference, objects, leak_suspects,
/// monitors, remote_calls. They read the profiles that are given here and nothing else, anew for each question, and change nothing. Answers
/// have at most 8 KB: what is left out is counted, and the command line that prints the rest is a part of each.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Opts {
    /// Profiles (`*.iprof`), or texts that reports take; what may be asked about
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Serves until the input ends.
///
/// # Errors
/// A file that cannot be opened; an input or output that fails.
pub(crate) fn run(opts: &Opts, talk: &Talk) -> Result<Exit> {
    talk.detail(format_args!("serving {} files to the client on standard input", opts.files.len()));
    instrument_mcp::serve(&opts.files, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())?;
    Ok(Exit::Done)
}
