//! `instrument`: options, I/O and all talking to people.
//!
//! One file per subcommand (`Opts` and `run`); this one parses the command line, calls the subcommand, and turns what comes back
//! into an exit code. Errors are printed here, once.

mod command_line;
mod completions;
mod config;
mod counts;
#[cfg(target_os = "linux")]
mod ctl;
mod diff;
mod dump;
mod engine;
mod exit;
mod export;
mod formats;
mod heap;
mod id_file;
mod ids;
mod input;
mod jdk;
mod jdk_patch;
mod launcher;
mod lookup;
mod man;
mod merge;
mod monitors;
mod names;
mod output;
mod profile_diff;
mod progress;
mod recording;
mod remote;
mod report;
mod rewrite;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod run_profiles;
mod run_recording;
mod run_report;
mod runtime;
mod settings;
mod source;
mod stats;
mod subject;
mod talk;
mod threads;
mod tree;
mod view;
mod window;
mod xarc;
mod xprof;
mod xtree;

use clap::{FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Rewrite Java bytecode so that programs tell exactly what they do.
///
/// `instrument app.jar` writes app-instrumented.jar, which runs under plain `java -jar` and behaves as before; it is short for
/// `instrument rewrite app.jar`, and `instrument rewrite --help` has all its options.
#[derive(Parser)]
#[command(name = "instrument", version, arg_required_else_help = true, after_help = exit::HELP)]
#[command(override_usage = "instrument [OPTIONS] <INPUT>...\n       instrument [OPTIONS] <COMMAND>")]
struct Cli {
    #[command(flatten)]
    talk: talk::Opts,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Rewrite(Box<rewrite::Opts>),
    #[cfg(unix)]
    Run(Box<run::Opts>),
    #[cfg(target_os = "linux")]
    Ctl(ctl::Opts),
    JdkPatch(jdk_patch::Opts),
    Dump(dump::Opts),
    Diff(diff::Opts),
    Ids(ids::Opts),
    Report(report::Opts),
    Xprof(xprof::Opts),
    Xtree(xtree::Opts),
    Xarc(xarc::Opts),
    Stats(stats::Opts),
    Threads(threads::Opts),
    Monitors(monitors::Opts),
    Heap(heap::Opts),
    Merge(merge::Opts),
    Export(export::Opts),
    Completions(completions::Opts),
    Man(man::Opts),
}

fn main() -> ExitCode {
    let given: Vec<_> = std::env::args_os().collect();
    let words = command_line::with_default_command(given.clone());
    if words != given
        && let Some(message) = command_line::unknown_command(&words)
    {
        let talk = talk::Opts { quiet: false, verbose: false, color: command_line::color(&words) };
        return exit::code(Err(exit::usage(message)), &talk::Talk::new(&talk));
    }
    let command = command_line::command().color(command_line::color(&words).for_clap());
    let cli = match command.try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        // clap prints help to stdout with code 0 and wrong usage to stderr with code 2.
        Err(error) => error.exit(),
    };
    let talk = talk::Talk::new(&cli.talk);
    let result = match cli.command {
        Command::Rewrite(opts) => rewrite::run(*opts, &talk),
        #[cfg(unix)]
        Command::Run(opts) => run::run(*opts, &talk),
        #[cfg(target_os = "linux")]
        Command::Ctl(opts) => ctl::run(&opts, &talk),
        Command::JdkPatch(opts) => jdk_patch::run(&opts, &talk),
        Command::Dump(opts) => dump::run(opts, &talk),
        Command::Diff(opts) => diff::run(opts, &talk),
        Command::Ids(opts) => ids::run(&opts, &talk),
        Command::Report(opts) => report::run(&opts, &talk),
        Command::Xprof(opts) => xprof::run(&opts, &talk),
        Command::Xtree(opts) => xtree::run(&opts, &talk),
        Command::Xarc(opts) => xarc::run(&opts, &talk),
        Command::Stats(opts) => stats::run(&opts, &talk),
        Command::Threads(opts) => threads::run(&opts, &talk),
        Command::Monitors(opts) => monitors::run(&opts, &talk),
        Command::Heap(opts) => heap::run(&opts, &talk),
        Command::Merge(opts) => merge::run(&opts, &talk),
        Command::Export(opts) => export::run(&opts, &talk),
        Command::Completions(opts) => completions::run(&opts),
        Command::Man(opts) => man::run(&opts, &talk),
    };
    exit::code(result, &talk)
}
