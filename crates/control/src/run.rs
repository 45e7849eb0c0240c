//! `instrument run` and the agents of the programs that it starts: `run` says in two environment variables what virtual machines that the
//! program starts itself are to be started with, and where each agent is to report; the agents append [`Line`]s to that file.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The variable that every virtual machine takes options from.
pub const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// What [`TOOL_OPTIONS`] is to hold for processes that the recorded one starts; empty: it is to be removed.
pub const FOR_CHILDREN: &str = "INSTRUMENT_RUN_TOOL_OPTIONS";
/// The path of the file that the agents append their lines to.
pub const PROCESSES: &str = "INSTRUMENT_RUN_PROCESSES";

/// One line of the file [`PROCESSES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// The process is recorded: `PID`.
    Started(u32),
    /// No class that this process loaded, and no method of one, fits a pattern: `PID unmatched OPTION PATTERN`.
    Unmatched {
        /// The id of the process.
        process: u32,
        /// The option that has the pattern, without dashes.
        option: &'a str,
        /// The pattern as it was given; it may hold blanks.
        pattern: &'a str,
    },
    /// Outcome of a rule of `--probes`: `PID probe JSON`, a [`RuleOutcome`].
    Probe {
        /// The id of the process.
        process: u32,
        /// The outcome, as JSON in one line.
        outcome: &'a str,
    },
    /// The process has said everything: `PID ended`. One that is killed does not come to it.
    Ended(u32),
}

/// Outcome of a rule in one process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOutcome {
    /// The name of the rule.
    pub rule: String,
    /// Methods that it chose.
    pub chosen: u64,
    /// Methods that got a call.
    pub methods: u64,
    /// Calls that were inserted.
    pub places: u64,
    /// Places that were left, by reason.
    pub left: BTreeMap<String, u64>,
}

impl Line<'_> {
    /// Reads a line; none if it is no such line, as the last one of a full disk may be.
    pub fn parse(line: &str) -> Option<Line<'_>> {
        let mut words = line.splitn(4, ' ');
        let process = words.next()?.parse().ok()?;
        let rest = line.split_once(' ').map(|(_, rest)| rest);
        if let Some(outcome) = rest.and_then(|rest| rest.strip_prefix("probe ")) {
            return Some(Line::Probe { process, outcome });
        }
        match (words.next(), words.next(), words.next()) {
            (None, ..) => Some(Line::Started(process)),
            (Some("ended"), None, _) => Some(Line::Ended(process)),
            (Some("unmatched"), Some(option), Some(pattern)) => {
                Some(Line::Unmatched { process, option, pattern })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Started(process) => write!(f, "{process}"),
            Line::Unmatched { process, option, pattern } => {
                write!(f, "{process} unmatched {option} {pattern}")
            }
            Line::Probe { process, outcome } => write!(f, "{process} probe {outcome}"),
            Line::Ended(process) => write!(f, "{process} ended"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        for line in [
            Line::Started(7),
            Line::Unmatched { process: 7, option: "include", pattern: "a.B.run(int, int)" },
            Line::Probe { process: 7, outcome: r#"{"rule":"a b"}"# },
            Line::Ended(7),
        ] {
            assert_eq!(Line::parse(&line.to_string()), Some(line));
        }
        for text in ["", "x", "7 ", "7 unmatched include", "7 ended now", "7 gone"] {
            assert_eq!(Line::parse(text), None, "{text:?}");
        }
    }
}
