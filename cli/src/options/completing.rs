//! What a shell may put in the place of a word that was begun: commands, options and their words as the definition has them, files where it
//! says so, and classes and methods of what else is on the line.

use crate::options::command_line;
use clap::builder::ValueHint;
use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use instrument_artifacts::suggestions;
use std::ffi::OsStr;

/// Scripts of shells set it to the name of their shell.
pub(crate) const VARIABLE: &str = "INSTRUMENT_COMPLETE";

/// Answers a shell that asks, and ends the process; returns if none does.
pub(crate) fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// The command line as it is typed: `rewrite` is the default command.
fn command() -> Command {
    let command = command_line::command();
    let usual: Vec<Arg> =
        command.find_subcommand("rewrite").into_iter().flat_map(Command::get_arguments).cloned().collect();
    hinted(command.args(usual))
}

fn hinted(command: Command) -> Command {
    command.mut_args(hint).mut_subcommands(hinted)
}

/// By what its value is called in the help.
fn hint(argument: Arg) -> Arg {
    let value = argument.get_value_names().and_then(|names| names.first()).map(|name| name.to_string());
    match value.as_deref() {
        Some("PATTERN" | "PATTERN[:THRESHOLD]" | "REGION" | "CLASS") => {
            argument.add(ArgValueCompleter::new(methods))
        }
        Some("FILE" | "PATH" | "DIR" | "INPUT" | "ORIGINAL" | "A" | "B")
            if argument.get_value_hint() == ValueHint::Unknown =>
        {
            argument.value_hint(ValueHint::AnyPath)
        }
        _ => argument,
    }
}

/// Classes, and behind `#` methods, of the archives and directories that the line names.
fn methods(typed: &OsStr) -> Vec<CompletionCandidate> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let words = words.flat_map(|word| std::env::split_paths(&word).collect::<Vec<_>>());
    let places: Vec<String> =
        words.filter(|path| suggestions::has_classes(path)).map(|path| path.display().to_string()).collect();
    let typed = typed.to_string_lossy();
    suggestions::begun(&places, &typed).into_iter().map(CompletionCandidate::new).collect()
}
