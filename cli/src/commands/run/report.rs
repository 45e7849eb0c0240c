//! `instrument run --report`: a report of the profile, as if its command had been typed when the program had ended.

use crate::io::talk::{COLOR, Talk};
use crate::options::command_line;
use anyhow::{Context, Result};
use instrument_messages::usage;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to print, and where.
#[derive(Debug)]
pub(crate) struct Report {
    words: Vec<String>,
    to: Option<(PathBuf, File)>,
}

impl Report {
    /// Checks the words and creates the file, before anything is run.
    ///
    /// # Errors
    /// Words that are no command that reports on a profile, or a file that cannot be written.
    pub(crate) fn new(words: &str, to: Option<&Path>) -> Result<Report> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let known = command_line::reports();
        let Some(name) = words.first().filter(|name| known.contains(name)) else {
            let name = words.first().map_or("", String::as_str);
            return Err(usage(format!("--report {name}: there are {}", known.join(", "))));
        };
        let line = ["instrument"].into_iter().chain(words.iter().map(String::as_str)).chain(["x.iprof"]);
        if let Err(error) = command_line::command().try_get_matches_from(line) {
            let text = error.to_string();
            let reason = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            return Err(usage(format!("--report {name}: {reason}")));
        }
        let file = |path: &Path| {
            let file = File::create(path).with_context(|| path.display().to_string())?;
            Ok::<_, anyhow::Error>((path.to_owned(), file))
        };
        Ok(Report { words, to: to.map(file).transpose()? })
    }

    /// Prints it. What there is to say about the profile is said by the command itself.
    ///
    /// # Errors
    /// The command cannot be started.
    pub(crate) fn print(self, profiles: &[PathBuf], talk: &Talk) -> Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(&self.words).arg("--").args(profiles).stdin(Stdio::null());
        command.env(COLOR, talk.color_word());
        if let Some((_, file)) = self.to {
            command.stdout(file);
        }
        let program = command.get_program().to_owned();
        command.status().with_context(|| Path::new(OsStr::new(&program)).display().to_string())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_report_are_taken() {
        for words in ["report", "xtree --depth 3", "xprof --resource cpu", "xarc", "stats", "threads"] {
            Report::new(words, None).unwrap_or_else(|error| panic!("{words}: {error}"));
        }
        for (words, reason) in [
            ("", "there are "),
            ("diff", "there are "),
            ("rewrite", "there are "),
            ("xtree --deep", "--report xtree: unexpected argument '--deep'"),
        ] {
            let error = Report::new(words, None).unwrap_err().to_string();
            assert!(error.contains(reason), "{words}: {error}");
        }
        let nowhere = Report::new("report", Some(Path::new("/nowhere/x"))).unwrap_err();
        assert!(format!("{nowhere:#}").contains("/nowhere/x"));
    }
}
