//! What clap cannot say: `rewrite` is the default command, `--color` counts before anything is parsed, and a word that is neither a
//! command nor a file was probably meant as a command.

use crate::io::talk::Color;
use clap::{Command, CommandFactory, ValueEnum};
use instrument_names::nearest::nearest;
use std::ffi::{OsStr, OsString};

/// The whole command line's definition, as clap sees it.
pub(crate) fn command() -> Command {
    // An account was called report once; `run --report` is the report that is printed.
    let command = crate::Cli::command().mut_subcommand("rewrite", |rewrite| {
        rewrite.after_help(crate::io::exit::HELP).mut_arg("account", |arg| arg.alias("report"))
    });
    #[cfg(processes)]
    let command = of_programs(command);
    command
}

/// Hides options of rewriting that have no effect in a program that runs.
#[cfg(processes)]
fn of_programs(command: Command) -> Command {
    let without = |command: Command| {
        let ids = crate::options::settings::WITHOUT_EFFECT.iter();
        ids.fold(command, |command, id| command.mut_arg(id, |arg| arg.hide(true)))
    };
    command.mut_subcommand("run", without).mut_subcommand("attach", |attach| {
        // What is about the start of a program, or about all classes at once.
        let ids = ["early", "strict"].into_iter();
        ids.fold(without(attach), |attach, id| attach.mut_arg(id, |arg| arg.hide(true)))
    })
}

/// The same as `-h` prints it, so that it fits a screen: the variables of the environment are named by `--help` only.
pub(crate) fn brief(command: Command) -> Command {
    let hide = |command: Command| command.mut_args(|argument| argument.hide_env(true));
    hide(command).mut_subcommands(hide)
}

/// Whether the short help is asked for.
pub(crate) fn is_brief(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "-h")
}

/// The commands that print something of profiles: all their operands are files, and nothing else is required.
#[cfg(processes)]
pub(crate) fn reports() -> Vec<String> {
    const OTHERS: [&str; 4] = ["dump", "diff", "export", "mcp"];
    let command = crate::Cli::command();
    let reads_files = |command: &&Command| {
        let mut required = command.get_arguments().filter(|argument| argument.is_required_set());
        required.next().is_some_and(|argument| argument.get_id() == "files") && required.next().is_none()
    };
    let names = command.get_subcommands().filter(reads_files).map(|command| command.get_name().to_owned());
    names.filter(|name| !OTHERS.contains(&name.as_str())).collect()
}

/// Puts `rewrite` before the first word that is neither a global option nor a command.
pub(crate) fn with_default_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.to_str() {
            Some("--color" | "--host") => at += 2,
            Some(word) if is_global_flag(word) => at += 1,
            Some("-h" | "--help" | "-V" | "--version" | "help") => return words,
            Some(word) if commands().any(|name| name == word) => return words,
            _ => {
                words.insert(at, "rewrite".into());
                return words;
            }
        }
    }
    words
}

fn is_global_flag(word: &str) -> bool {
    let short = |flags: &str| !flags.is_empty() && flags.chars().all(|c| "qv".contains(c));
    ["--quiet", "--verbose"].contains(&word)
        || word.starts_with("--color=")
        || word.starts_with("--host=")
        || word.strip_prefix('-').is_some_and(short)
}

fn commands() -> impl Iterator<Item = String> {
    let names: Vec<String> =
        crate::Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
    names.into_iter()
}

/// The `--color` of the command line or environment, for the messages of clap itself.
pub(crate) fn color(words: &[OsString]) -> Color {
    let value = |index: usize, word: &OsStr| {
        if word == "--color" {
            words.get(index + 1).cloned()
        } else {
            word.to_str()?.strip_prefix("--color=").map(OsString::from)
        }
    };
    let given =
        words.iter().take_while(|word| *word != "--").enumerate().find_map(|(i, word)| value(i, word));
    given
        .or_else(|| std::env::var_os("INSTRUMENT_COLOR"))
        .and_then(|value| Color::from_str(value.to_str()?, false).ok())
        .unwrap_or(Color::Auto)
}

/// What to say of a first word that is neither a command nor a file: what was probably meant. Options of the command that it should have been
/// would be refused before anybody looks for a file of this name.
pub(crate) fn unknown_command(words: &[OsString]) -> Option<String> {
    // `with_default_command` has put its own word in front.
    let at = words.iter().position(|word| word == "rewrite")?;
    // What another machine has is not known here.
    let is_host = |word: &OsString| word == "--host" || word.as_encoded_bytes().starts_with(b"--host=");
    if words[..at].iter().any(is_host) {
        return None;
    }
    let word = words.get(at + 1)?.to_str()?;
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_word || word.starts_with('-') || std::path::Path::new(word).exists() {
        return None;
    }
    let names: Vec<String> = commands().collect();
    Some(match meant_as(word) {
        Some(command) => format!("`{word}` is neither a file nor a command; did you mean `{command}`?"),
        None => format!("`{word}` is neither a file nor a command; the commands are {}", names.join(", ")),
    })
}

/// The command that is most like `word`.
pub(crate) fn meant_as(word: &str) -> Option<String> {
    nearest(word, commands()).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        with_default_command(words).iter().map(|w| w.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn rewrite_is_the_default_command() {
        for (given, expected) in [
            ("instrument app.jar", "instrument rewrite app.jar"),
            ("instrument -o ids app.jar", "instrument rewrite -o ids app.jar"),
            ("instrument -qv --color never app.jar", "instrument -qv --color never rewrite app.jar"),
            ("instrument --color=never -v ids x", "instrument --color=never -v ids x"),
            ("instrument rewrite app.jar", "instrument rewrite app.jar"),
            ("instrument --help", "instrument --help"),
            ("instrument help ids", "instrument help ids"),
            ("instrument -V", "instrument -V"),
            ("instrument", "instrument"),
            ("instrument --verbose", "instrument --verbose"),
            ("instrument -- ids", "instrument rewrite -- ids"),
            ("instrument ./ids", "instrument rewrite ./ids"),
            ("instrument -", "instrument rewrite -"),
        ] {
            assert_eq!(inserted(given), expected);
        }
    }

    #[test]
    fn near_misses_are_recognised() {
        assert_eq!(meant_as("rewirte").as_deref(), Some("rewrite"));
        assert_eq!(meant_as("idz").as_deref(), Some("ids"));
        assert_eq!(meant_as("completion").as_deref(), Some("completions"));
        assert_eq!(meant_as("xproff").as_deref(), Some("xprof"));
        assert_eq!(meant_as("app.jar"), None);
        assert_eq!(meant_as("x"), None);
    }
}
