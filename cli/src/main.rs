//! `instrument`: options, I/O and all talking to people.
//!
//! One file per subcommand (`Opts` and `run`); this one parses the command line, calls the subcommand, and turns what comes back
//! into an exit code. Errors are printed here, once.

mod commands;
mod io;
mod options;

use clap::{FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Rewrite Java bytecode so that programs tell exactly what they do.
///
/// `instrument app.jar` writes app-instrumented.jar, which runs under plain `java -jar` and behaves as before; it is short for
/// `instrument rewrite app.jar`, and `instrument rewrite --help` has all its options.
#[derive(Parser)]
#[command(name = "instrument", version, long_version = io::version::LONG, arg_required_else_help = true, after_help = io::exit::HELP)]
#[command(override_usage = "instrument [OPTIONS] <INPUT>...\n       instrument [OPTIONS] <COMMAND>")]
struct Cli {
    #[command(flatten)]
    talk: io::talk::Opts,
    /// Run the command on another machine, over ssh: files, processes and their ids are those of that machine
    #[cfg(processes)]
    #[arg(long, value_name = "USER@HOST", hide_short_help = true)]
    host: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Rewrite(Box<commands::rewrite::Opts>),
    #[cfg(processes)]
    Run(Box<commands::run::Opts>),
    #[cfg(processes)]
    Attach(Box<commands::attach::Opts>),
    #[cfg(processes)]
    Ctl(commands::ctl::Opts),
    #[cfg(unix)]
    Jdk(commands::jdk::Opts),
    JdkPatch(commands::jdk_patch::Opts),
    Dump(commands::dump::Opts),
    Diff(commands::diff::Opts),
    Verify(commands::verify::Opts),
    Ids(commands::ids::Opts),
    Report(commands::report::Opts),
    Xprof(commands::xprof::Opts),
    Xtree(commands::xtree::Opts),
    Xarc(commands::xarc::Opts),
    Stats(commands::stats::Opts),
    Threads(commands::threads::Opts),
    Timeline(commands::timeline::Opts),
    Latency(commands::latency::Opts),
    Monitors(commands::monitors::Opts),
    Heap(commands::heap::Opts),
    Merge(commands::merge::Opts),
    Mcp(commands::mcp::Opts),
    View(commands::view::Opts),
    #[cfg(unix)]
    Top(commands::top::Opts),
    Export(commands::export::Opts),
    Advise(commands::advise::Opts),
    Fleet(commands::fleet::Opts),
    Ship(commands::ship::Opts),
    Gate(commands::gate::Opts),
    Golden(commands::golden::Opts),
    #[cfg(processes)]
    Agent(commands::agent::Opts),
    Config(commands::config::Opts),
    Completions(commands::completions::Opts),
    Man(commands::man::Opts),
}

fn main() -> ExitCode {
    options::completing::answer();
    let given: Vec<_> = std::env::args_os().collect();
    let words = options::command_line::with_default_command(given.clone());
    if words != given
        && let Some(message) = options::command_line::unknown_command(&words)
    {
        let talk =
            io::talk::Opts { quiet: false, verbose: false, color: options::command_line::color(&words) };
        return io::exit::code(Err(instrument_messages::usage(message)), &io::talk::Talk::new(&talk));
    }
    let command = options::command_line::command();
    let is_brief = options::command_line::is_brief(&words);
    #[cfg(processes)]
    let all = words.clone();
    let command = if is_brief { options::command_line::brief(command) } else { command };
    let command = command.color(options::command_line::color(&words).for_clap());
    let cli = match command.try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        // clap prints help to stdout with code 0 and wrong usage to stderr with code 2.
        Err(error) => error.exit(),
    };
    let talk = io::talk::Talk::new(&cli.talk);
    #[cfg(processes)]
    if let Some(host) = &cli.host {
        let port = if let Command::View(opts) = &cli.command { opts.serves() } else { None };
        return io::exit::code(io::host::run(host, &all, port), &talk);
    }
    let result = match cli.command {
        Command::Rewrite(opts) => commands::rewrite::run(*opts, &talk),
        #[cfg(processes)]
        Command::Run(opts) => commands::run::run(*opts, &talk),
        #[cfg(processes)]
        Command::Attach(opts) => commands::attach::run(*opts, &talk),
        #[cfg(processes)]
        Command::Ctl(opts) => commands::ctl::run(&opts, &talk),
        #[cfg(unix)]
        Command::Jdk(opts) => commands::jdk::run(&opts, &talk),
        Command::JdkPatch(opts) => commands::jdk_patch::run(&opts, &talk),
        Command::Dump(opts) => commands::dump::run(opts, &talk),
        Command::Diff(opts) => commands::diff::run(opts, &talk),
        Command::Verify(opts) => commands::verify::run(&opts, &talk),
        Command::Ids(opts) => commands::ids::run(&opts, &talk),
        Command::Report(opts) => commands::report::run(&opts, &talk),
        Command::Xprof(opts) => commands::xprof::run(&opts, &talk),
        Command::Xtree(opts) => commands::xtree::run(&opts, &talk),
        Command::Xarc(opts) => commands::xarc::run(&opts, &talk),
        Command::Stats(opts) => commands::stats::run(&opts, &talk),
        Command::Threads(opts) => commands::threads::run(&opts, &talk),
        Command::Timeline(opts) => commands::timeline::run(&opts, &talk),
        Command::Latency(opts) => commands::latency::run(&opts, &talk),
        Command::Monitors(opts) => commands::monitors::run(&opts, &talk),
        Command::Heap(opts) => commands::heap::run(&opts, &talk),
        Command::Merge(opts) => commands::merge::run(&opts, &talk),
        Command::Mcp(opts) => commands::mcp::run(&opts, &talk),
        Command::View(opts) => commands::view::run(&opts, &talk),
        #[cfg(unix)]
        Command::Top(opts) => commands::top::run(&opts, cli.talk.color),
        Command::Export(opts) => commands::export::run(&opts, &talk),
        Command::Advise(opts) => commands::advise::run(&opts, &talk),
        Command::Fleet(opts) => commands::fleet::run(&opts, &talk),
        Command::Ship(opts) => commands::ship::run(&opts, &talk),
        Command::Gate(opts) => commands::gate::run(opts, &talk),
        Command::Golden(opts) => commands::golden::run(opts, &talk),
        #[cfg(processes)]
        Command::Agent(opts) => commands::agent::run(&opts),
        Command::Config(opts) => commands::config::run(&opts, &talk),
        Command::Completions(opts) => commands::completions::run(&opts),
        Command::Man(opts) => commands::man::run(&opts, &talk),
    };
    io::exit::code(result, &talk)
}
