//! Exit codes, and which error leads to which.

use crate::io::talk::Talk;
use instrument_analysis::{report, session};
use instrument_messages::{Listener, UsageError};
use std::io;
use std::process::ExitCode;

/// What every `--help` says about exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  failed, or a difference or fault was found
  2  wrong usage: options, configuration, or a request that makes no sense
  3  done, but under --strict some input was skipped, or a pattern fitted nothing
  4  cannot tell: what was recorded does not answer the question (heap --leaks)";

/// How a command ended that did not fail with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0.
    Done,
    /// 1: something was looked for and not found, or differs.
    Negative,
    /// 3: done, but under `--strict` something was skipped, or a pattern fitted nothing.
    Partial,
    /// 4: what was recorded does not answer the question.
    Undetermined,
    /// As the program ended that was run.
    #[cfg(processes)]
    Program(u8),
}

/// Prints the error, if any, and gives the exit code. Where the reader of our output has gone we end silently, as other Unix tools do.
pub(crate) fn code(result: anyhow::Result<Exit>, talk: &Talk) -> ExitCode {
    let error = match result {
        Ok(Exit::Done) => return ExitCode::SUCCESS,
        Ok(Exit::Negative) => return ExitCode::from(1),
        Ok(Exit::Partial) => return ExitCode::from(3),
        Ok(Exit::Undetermined) => return ExitCode::from(4),
        #[cfg(processes)]
        Ok(Exit::Program(code)) => return ExitCode::from(code),
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        end_as_by_sigpipe();
        return ExitCode::from(141);
    }
    talk.error(format_args!("{error:#}"));
    ExitCode::from(if error.chain().any(is_usage) { 2 } else { 1 })
}

/// Whether the request is wrong, and not the state of the world.
fn is_usage(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<UsageError>()
        || matches!(cause.downcast_ref(), Some(session::Error::Request(_)))
        || cause.downcast_ref().is_some_and(report::Error::is_request)
}

/// Prints the warnings of patterns that fit nothing; what becomes of the exit code that would be `exit` without them.
pub(crate) fn with_warnings(warnings: &[String], strict: bool, exit: Exit, talk: &Talk) -> Exit {
    for warning in warnings {
        talk.warn(format_args!("{warning}"));
    }
    if strict && exit == Exit::Done && !warnings.is_empty() { Exit::Partial } else { exit }
}

/// Whether the reader of standard output went away. Errors of other crates hide the one that they come from.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        None.or_else(|| cause.downcast_ref::<io::Error>().map(io::Error::kind))
            .or_else(|| cause.downcast_ref().and_then(serde_json::Error::io_error_kind))
            .or_else(|| cause.downcast_ref().and_then(report::Error::io_kind))
            .or_else(|| cause.downcast_ref().and_then(session::Error::io_kind))
    };
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}

/// The signal's own way to end: a shell sees 128 + 13.
fn end_as_by_sigpipe() {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
}
