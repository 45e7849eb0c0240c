//! `instrument`: options, I/O and all talking to people.

mod diff;
mod dump;
mod source;

use clap::Parser;
use std::process::ExitCode;

#[derive(clap::Parser)]
enum Command {
    Dump(dump::Opts),
    Diff(diff::Opts),
}

fn main() -> anyhow::Result<ExitCode> {
    match Command::parse() {
        Command::Dump(opts) => dump::run(opts),
        Command::Diff(opts) => diff::run(opts),
    }
}
