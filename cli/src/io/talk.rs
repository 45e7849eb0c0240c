//! Talk to people: everything that is not a result goes to stderr through here, as loud as asked for.

use instrument_analysis::session::message::{Message, Weight};
use instrument_messages::Listener;
use instrument_names::printable::printable_lines;
use std::fmt;
use std::io::{BufWriter, IsTerminal, Write, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// The variable that says what `--color` does.
pub(crate) const COLOR: &str = "INSTRUMENT_COLOR";

/// Options of every subcommand.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Messages")]
pub(crate) struct Opts {
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: everything that is skipped, and why
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Colour in messages and reports, with bars and tree lines; auto: on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        env = COLOR,
        hide_env_values = true
    )]
    pub(crate) color: Color,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// The same for clap's own help and errors.
    pub(crate) fn for_clap(self) -> clap::ColorChoice {
        match self {
            Color::Auto => clap::ColorChoice::Auto,
            Color::Always => clap::ColorChoice::Always,
            Color::Never => clap::ColorChoice::Never,
        }
    }

    /// Whether messages on stderr are coloured; see no-color.org and bixense.com/clicolors.
    fn on_stderr(self) -> bool {
        self.on(stderr().is_terminal())
    }

    /// Whether results on stdout are coloured.
    pub(crate) fn on_stdout(self) -> bool {
        self.on(stdout().is_terminal())
    }

    fn on(self, is_terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
            Color::Auto if set("CLICOLOR_FORCE") => true,
            Color::Auto if std::env::var_os("CLICOLOR").is_some_and(|value| value == "0") => false,
            Color::Auto => is_terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// How loud, and in which colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Talk {
    quiet: bool,
    verbose: bool,
    color: bool,
    colours_results: bool,
    #[cfg(processes)]
    asked: Color,
}

/// Begins a line of a terminal anew.
const CLEAR: &str = "\r\x1b[K";
/// Whether such a line stands there.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Something that is being done.
pub(crate) struct Step;

impl Drop for Step {
    fn drop(&mut self) {
        if IS_SHOWN.swap(false, SeqCst) {
            let _ = stderr().write_all(CLEAR.as_bytes());
        }
    }
}

impl Talk {
    pub(crate) fn new(opts: &Opts) -> Talk {
        Talk {
            quiet: opts.quiet,
            verbose: opts.verbose,
            color: opts.color.on_stderr(),
            colours_results: opts.color.on_stdout(),
            #[cfg(processes)]
            asked: opts.color,
        }
    }

    /// Whether reports on standard output are coloured.
    pub(crate) fn colours_results(&self) -> bool {
        self.colours_results
    }

    /// What `--color` was given, for a command that prints in our place.
    #[cfg(processes)]
    pub(crate) fn color_word(&self) -> &'static str {
        match self.asked {
            Color::Auto => "auto",
            Color::Always => "always",
            Color::Never => "never",
        }
    }

    /// Whether a progress bar may be shown.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && stderr().is_terminal()
    }

    /// Says on a terminal what is being done, until the answer is dropped: what takes long is seen to go on.
    pub(crate) fn step(&self, what: fmt::Arguments<'_>) -> Step {
        if self.shows_progress() && std::env::var_os("TERM").is_none_or(|term| term != "dumb") {
            IS_SHOWN.store(true, SeqCst);
            let _ = write!(stderr(), "{CLEAR}{} ..", printable_lines(&what.to_string()));
        }
        Step
    }

    /// Whether nothing but errors is printed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Where results go whose main part is the exit code: with `--quiet` nowhere, else to standard output.
    pub(crate) fn results(&self) -> Box<dyn Write> {
        if self.quiet {
            Box::new(std::io::sink())
        } else {
            Box::new(BufWriter::new(std::io::stdout().lock()))
        }
    }

    /// What is to be said of the files that were read.
    pub(crate) fn messages(&self, messages: &[Message]) {
        for Message { weight, text } in messages {
            match weight {
                Weight::Warning => self.warn(format_args!("{text}")),
                Weight::Note => self.note(format_args!("{text}")),
                Weight::Detail => self.detail(format_args!("{text}")),
            }
        }
    }

    fn say(&self, kind: &str, colour: &str, message: fmt::Arguments<'_>) {
        if self.color {
            self.line(&format!("\x1b[1;{colour}m{kind}:\x1b[0m "), message);
        } else {
            self.line(&format!("{kind}: "), message);
        }
    }

    /// Names in messages come from programs and files: control characters must not reach a terminal. Nobody may be listening; that is no
    /// reason to fail.
    fn line(&self, start: &str, message: fmt::Arguments<'_>) {
        let message = message.to_string();
        let message = printable_lines(&message);
        // What is being done stands there no more; the message is more than that.
        let clear = if IS_SHOWN.swap(false, SeqCst) { CLEAR } else { "" };
        let _ = stderr().lock().write_fmt(format_args!("{clear}{start}{message}\n"));
    }
}

impl Listener for Talk {
    fn error(&self, message: fmt::Arguments<'_>) {
        self.say("error", "31", message);
    }

    fn warn(&self, message: fmt::Arguments<'_>) {
        if !self.quiet {
            self.say("warning", "33", message);
        }
    }

    /// Not even `--quiet` leaves it out.
    fn caution(&self, message: fmt::Arguments<'_>) {
        self.say("warning", "33", message);
    }

    fn note(&self, message: fmt::Arguments<'_>) {
        if !self.quiet {
            self.line("", message);
        }
    }

    /// Said with `--verbose` only.
    fn detail(&self, message: fmt::Arguments<'_>) {
        if self.verbose {
            self.line("", message);
        }
    }

    fn wants_details(&self) -> bool {
        self.verbose
    }
}
