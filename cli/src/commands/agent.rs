//! `instrument agent`: where the agent's library is.

use crate::io::agent_library;
use crate::io::exit::Exit;
use anyhow::Result;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

/// Print the path of the agent's library, for `java -agentpath:PATH=OPTIONS`
///
/// It is beside this program, in the `lib/instrument` beside its folder, or carried by this program; then it is put into ~/.cache/instrument first.
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {}

pub(crate) fn run(_: &Opts) -> Result<Exit> {
    let mut line = agent_library::find(None)?.as_os_str().as_bytes().to_vec();
    line.push(b'\n');
    std::io::stdout().lock().write_all(&line)?;
    Ok(Exit::Done)
}
