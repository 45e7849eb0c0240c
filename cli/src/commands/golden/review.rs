//! `golden review`, `accept` and `reject`: what `check` kept, one difference after the other.

use crate::io::exit::Exit;
use anyhow::Result;
use instrument_artifacts::golden::case::Case;
use instrument_artifacts::golden::pending::Change;
use instrument_messages::number;
use instrument_names::printable::{printable, printable_lines};
use std::io::{BufRead, IsTerminal, Write, stdin};

/// What becomes of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is right from now on.
    Accept,
    /// What was blessed stays right.
    Reject,
    /// Nobody knows yet.
    Skip,
}

/// Asks what becomes of a difference; none: of this and all that follow it nobody knows.
type Ask<'a> = dyn FnMut(&Case, &Change, &mut dyn Write) -> Result<Option<Verdict>> + 'a;

/// Judges all differences in one way.
///
/// # Errors
/// A file that cannot be read or written; the output failed.
pub(super) fn all(cases: &[Case], verdict: Verdict, out: &mut dyn Write) -> Result<Exit> {
    judge(cases, &mut |_, _, _| Ok(Some(verdict)), out)
}

/// Shows each difference, and asks what becomes of it. Where the answers end, the rest is skipped.
///
/// # Errors
/// As of [`all`]; the answers cannot be read.
pub(super) fn review(
    cases: &[Case],
    context: usize,
    answers: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<Exit> {
    let mut ask = |case: &Case, change: &Change, out: &mut dyn Write| {
        let (name, file) = (printable(&case.name), printable(&change.file));
        writeln!(out, "{name}: {file}\n{}", printable_lines(&change.text(context)).trim_end())?;
        loop {
            write!(out, "[a]ccept, [r]eject, [s]kip or [q]uit? ")?;
            out.flush()?;
            let mut answer = String::new();
            if answers.read_line(&mut answer)? == 0 {
                writeln!(out)?;
                return Ok(None);
            }
            // A terminal has shown it.
            if !stdin().is_terminal() {
                writeln!(out, "{}", answer.trim())?;
            }
            match answer.trim() {
                "a" | "accept" => return Ok(Some(Verdict::Accept)),
                "r" | "reject" => return Ok(Some(Verdict::Reject)),
                "s" | "skip" => return Ok(Some(Verdict::Skip)),
                "q" | "quit" => return Ok(None),
                _ => {}
            }
        }
    };
    judge(cases, &mut ask, out)
}

fn judge(cases: &[Case], ask: &mut Ask<'_>, out: &mut dyn Write) -> Result<Exit> {
    let (mut accepted, mut rejected, mut left) = (0, 0, 0);
    let mut goes_on = true;
    for case in cases {
        for change in case.pending()? {
            let verdict = if goes_on { ask(case, &change, out)? } else { None };
            goes_on &= verdict.is_some();
            match verdict {
                Some(Verdict::Accept) => {
                    case.accept(&change)?;
                    accepted += 1;
                }
                Some(Verdict::Reject) => {
                    case.reject(&change)?;
                    rejected += 1;
                }
                Some(Verdict::Skip) | None => left += 1,
            }
        }
    }
    if accepted + rejected + left == 0 {
        writeln!(out, "nothing to review: `instrument golden check` keeps what differs")?;
    } else {
        writeln!(out, "{} accepted, {rejected} rejected, {left} left", number(accepted, "file"))?;
    }
    out.flush()?;
    Ok(if left == 0 { Exit::Done } else { Exit::Negative })
}
