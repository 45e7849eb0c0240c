//! A server of the Model Context Protocol, so that assistants can ask profiles what the reports and the viewer ask
//! them.
//!
//! | module | |
//! |---|---|
//! | `rpc` | JSON-RPC 2.0: messages, one a line |
//! | `server` | the methods of the protocol |
//! | `arguments` | what a tool can be given: its schema and its check are one table |
//! | `files` | the profiles that may be asked, by name |
//! | `tools` | the tools |
//! | `question`, `processes` | what the tools ask: of one session, and of several processes or sides |
//! | `answer` | a report as an answer of bounded size, with the command line that prints the same |
//!
//! The crate `rmcp` is not used: it needs tokio with most of its parts, futures, schemars and some 20 crates more for
//! what is a loop over lines here, with no second thing to wait for.

mod answer;
mod arguments;
mod files;
mod processes;
mod question;
mod rpc;
mod server;
mod tools;

use anyhow::Result;
use std::io::{BufRead, Write};
use std::path::PathBuf;

/// Answers questions about these files until the input ends.
///
/// # Errors
/// A file that cannot be opened; an input or output that fails.
pub fn serve(files: &[PathBuf], input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    let server = server::Server { files: files::Files::new(files)? };
    Ok(rpc::serve(input, output, &|request| server.handle(request))?)
}
