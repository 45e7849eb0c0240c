//! `instrument completions`: completion scripts for shells.

use crate::io::exit::Exit;
use anyhow::Result;
use std::io::Write;

/// Print a completion script for a shell
///
/// For example: instrument completions bash > ~/.local/share/bash-completion/completions/instrument
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// The shell to complete in
    shell: clap_complete::Shell,
}

pub(crate) fn run(opts: &Opts) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(
        opts.shell,
        &mut crate::options::command_line::command(),
        "instrument",
        &mut script,
    );
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}
