//! Exit codes, and which error leads to which.

use crate::talk::Talk;
use std::fmt;
use std::io;
use std::process::ExitCode;

/// What every `--help` says about exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  failed, or a difference or fault was found
  2  wrong usage: options, configuration, or a request that makes no sense
  3  done, but under --strict some input was skipped, or a pattern fitted nothing";

/// How a command ended that did not fail with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0.
    Done,
    /// 1: something was looked for and not found, or differs.
    Negative,
    /// 3: done, but under `--strict` something was skipped, or a pattern fitted nothing.
    Partial,
    /// As the program ended that was run.
    #[cfg(unix)]
    Program(u8),
}

/// An error that is the user's request and not the world's state: exit code 2.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// A [`UsageError`] as anyhow's error.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(UsageError(message.into()))
}

/// Prints the error, if any, and gives the exit code. A reader that closed our output early wanted no more: that is no error.
pub(crate) fn code(result: anyhow::Result<Exit>, talk: &Talk) -> ExitCode {
    let error = match result {
        Ok(Exit::Done) => return ExitCode::SUCCESS,
        Ok(Exit::Negative) => return ExitCode::from(1),
        Ok(Exit::Partial) => return ExitCode::from(3),
        #[cfg(unix)]
        Ok(Exit::Program(code)) => return ExitCode::from(code),
        Err(error) => error,
    };
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken_pipe) {
        return ExitCode::SUCCESS;
    }
    talk.error(format_args!("{error:#}"));
    ExitCode::from(if error.chain().any(|cause| cause.is::<UsageError>()) { 2 } else { 1 })
}
