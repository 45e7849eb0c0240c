//! `instrument completions`: completion scripts for shells.

use crate::io::exit::Exit;
use crate::options::command_line;
use crate::options::completing::VARIABLE;
use anyhow::Result;
use clap_complete::Shell;
use clap_complete::env::Shells;
use std::io::Write;

/// Print a completion script for a shell
///
/// It asks `instrument` what may stand at the cursor: commands, options, their words, files, and behind --include and its like the classes and
/// methods of the archives on the line. For example: instrument completions bash > ~/.local/share/bash-completion/completions/instrument
#[derive(Debug, clap::Args)]
pub(crate) struct Opts {
    /// The shell to complete in
    shell: Shell,
}

/// As a file of functions that zsh loads when it first needs one, the script answers then as well.
const ZSH_AT_FIRST: &str =
    "[[ ${funcstack[1]} != _instrument ]] || _clap_dynamic_completer_instrument \"$@\"\n";

pub(crate) fn run(opts: &Opts) -> Result<Exit> {
    let mut script = Vec::new();
    // There the library's script runs the line that is being typed.
    if opts.shell == Shell::PowerShell {
        clap_complete::generate(opts.shell, &mut command_line::command(), "instrument", &mut script);
        std::io::stdout().lock().write_all(&script)?;
        return Ok(Exit::Done);
    }
    let shells = Shells::builtins();
    if let Some(shell) = shells.completer(&opts.shell.to_string()) {
        shell.write_registration(VARIABLE, "instrument", "instrument", "instrument", &mut script)?;
    }
    if opts.shell == Shell::Zsh {
        script.extend_from_slice(ZSH_AT_FIRST.as_bytes());
    }
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}
