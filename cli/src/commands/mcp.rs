//! `instrument mcp`: a server of the Model Context Protocol on standard input and output, so that assistants can ask profiles what the
//! reports and the viewer ask them.
//!
//! | module | |
//! |---|---|
//! | [`rpc`] | JSON-RPC 2.0: messages, one a line |
//! | [`server`] | the methods of the protocol |
//! | [`arguments`] | what a tool can be given: its schema and its check are one table |
//! | [`files`] | the profiles that may be asked, by name |
//! | [`tools`] | the tools |
//! | [`question`], [`processes`] | what the tools ask: of one session, and of several processes or sides |
//! | [`answer`] | a report as an answer of bounded size, with the command line that prints the same |
//!
//! The crate `rmcp` is not used: it needs tokio with most of its parts, futures, schemars and some 20 crates more for what is a loop over
//! lines here, with no second thing to wait for.

mod answer;
mod arguments;
mod files;
mod processes;
mod question;
mod rpc;
mod server;
mod tools;

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
    let server = server::Server { files: files::Files::new(&opts.files)? };
    talk.detail(format_args!("serving {} files to the client on standard input", opts.files.len()));
    rpc::serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock(), &|request| {
        server.handle(request)
    })?;
    Ok(Exit::Done)
}
