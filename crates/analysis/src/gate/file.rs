//! The text of a gate: first what people write (budgets, as TOML, and comments), then what was learned.
//!
//! ```text
//! [[budget]]
//! method = "**.Connection#prepareStatement"
//! under = "com.acme.OrderService#list"
//! calls = "<= 1"
//!
//! # ---- learned: `instrument gate learn` and `instrument gate bless` write what follows ----
//! format=2 runs=5 calls=6015 record=tree java=17
//! selection=transform=method-events,thread-links,waits
//!
//! [methods]
//! calls=12 allocations=3 com.acme.OrderService.list()V
//!
//! [moved]
//! calls=10..12 com.acme.Pool.take()V -- threads
//!
//! [never called]
//! com.acme.OrderService.retry
//! com.acme.Unused.*
//!
//! [contexts]
//! calls=1 com.acme.Main.main([Ljava/lang/String;)V
//!  calls=12 allocations=3 com.acme.OrderService.list()V
//!
//! [unsettled]
//! 7f1c0d3a9be2486d0c5518e2a4b7f390 com.acme.Pool.take()V
//! 08d2aa51f3b94c77be60127d5c9f3e41 com.acme.Task.run()V -- settled
//! ```
//!
//! A line is `FIGURE=VALUE` for each figure that is not 0, and a name; `FIGURE=LEAST..MOST` moves. `[methods]`,
//! `[moved]` and `[never called]` (what was instrumented; `Class.*`: no method of the class was called) are sorted by
//! name; what is called stands below its caller in `[contexts]`, one blank further in, siblings sorted by name.
//! `levels=N` in `[contexts]`: deeper ones were left out. `[unsettled]` has the contexts below which nothing is judged,
//! by name and by the key of the path, and those below them from which on it is. `calls` is of all methods. Lines that
//! begin with `#` are comments.

use std::fmt::{self, Write};

use super::baseline::{Baseline, Context, Method};
use super::budget::{self, Budget};
use super::conditions::Conditions;
use super::explain::moving;
use super::figure::{Figure, Range, Ranges};
use super::reason::Reason;

/// The version of the text.
const FORMAT: &str = "2";
/// The one before, which had no `calls` and no `[unsettled]`.
const OLDER: &str = "1";
/// What the line that divides the two parts begins with.
const DIVIDER: &str = "# ---- learned";
const DIVIDING_LINE: &str =
    "# ---- learned: `instrument gate learn` and `instrument gate bless` write what follows ----";
/// In front of the reason.
const BECAUSE: &str = " -- ";
/// Behind the name of a context that is settled below one that is not.
const SETTLED: &str = " -- settled";
/// What a new file begins with.
const INTRODUCTION: &str = "\
# A gate: `instrument gate check THIS_FILE RUN.iprof..` compares runs with it. This part is yours; budgets look like this:
#
# [[budget]]
# method = \"**.Connection#prepareStatement\"
# under = \"com.acme.OrderService#list\"
# calls = \"<= 1\"

";

/// A gate: budgets, and what was learned.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GateFile {
    /// What people wrote, as they did.
    pub written: String,
    /// The budgets in it.
    pub budgets: Vec<Budget>,
    /// What was learned, if anything was.
    pub baseline: Option<Baseline>,
}

/// Why a text is no gate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The part that people write.
    #[error(transparent)]
    Budget(#[from] budget::Error),
    /// A line of the other part.
    #[error("line {line}: {reason}; learn the file again, or restore it from version control")]
    Line {
        /// Its number in the file, from 1.
        line: usize,
        reason: String,
    },
}

impl GateFile {
    /// One that nobody wrote into.
    pub fn new() -> GateFile {
        GateFile { written: INTRODUCTION.into(), ..GateFile::default() }
    }

    /// Reads a gate.
    ///
    /// # Errors
    /// Names the line.
    pub fn parse(text: &str) -> Result<GateFile, Error> {
        let begin = text.lines().position(|line| line.starts_with(DIVIDER));
        let written: String = match begin {
            Some(at) => text.split_inclusive('\n').take(at).collect(),
            None => text.to_owned(),
        };
        let budgets = budget::parse(&written)?;
        let baseline = begin.map(|at| learned(text, at + 1)).transpose()?;
        Ok(GateFile { written, budgets, baseline })
    }
}

impl fmt::Display for GateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)?;
        let Some(baseline) = &self.baseline else { return Ok(()) };
        if !self.written.is_empty() && !self.written.ends_with('\n') {
            f.write_char('\n')?;
        }
        let Conditions { record, java, selection } = &baseline.conditions;
        let java = java.replace(' ', ",");
        let Baseline { runs, all_calls: calls, .. } = baseline;
        writeln!(
            f,
            "{DIVIDING_LINE}\nformat={FORMAT} runs={runs} calls={calls} record={record} java={java}"
        )?;
        if !selection.is_empty() {
            writeln!(f, "selection={}", selection.replace('\n', " "))?;
        }
        writeln!(f, "\n[methods]")?;
        for (name, method) in &baseline.methods {
            let fixed =
                method.ranges.map(|range| if range.value().is_some() { range } else { Range::default() });
            if fixed != Ranges::default() {
                line(f, &fixed, name)?;
                writeln!(f)?;
            }
        }
        writeln!(f, "\n[moved]")?;
        for (name, method) in &baseline.methods {
            if moving(method).next().is_none() {
                continue;
            }
            let moved =
                method.ranges.map(|range| if range.value().is_none() { range } else { Range::default() });
            line(f, &moved, name)?;
            writeln!(f, "{BECAUSE}{}", method.reason.as_ref().unwrap_or(&Reason::Unknown))?;
        }
        writeln!(f, "\n[never called]")?;
        baseline.never.iter().try_for_each(|name| writeln!(f, "{name}"))?;
        writeln!(f, "\n[contexts]")?;
        if let Some(levels) = baseline.levels {
            writeln!(f, "levels={levels}")?;
        }
        let mut levels = vec![0usize];
        for context in &baseline.contexts[1.min(baseline.contexts.len())..] {
            let level = levels[context.parent];
            levels.push(level + 1);
            (0..level).try_for_each(|_| f.write_char(' '))?;
            line(f, &context.ranges, &context.name)?;
            writeln!(f)?;
        }
        writeln!(f, "\n[unsettled]")?;
        for (key, name, settled) in baseline.unsettled.lines() {
            writeln!(f, "{key} {name}{}", if settled { SETTLED } else { "" })?;
        }
        Ok(())
    }
}

fn line(f: &mut fmt::Formatter<'_>, ranges: &Ranges, name: &str) -> fmt::Result {
    for (figure, range) in Figure::ALL.iter().zip(ranges).filter(|(_, range)| range.max > 0) {
        write!(f, "{}={range} ", figure.word())?;
    }
    f.write_str(name)
}

fn learned(text: &str, first: usize) -> Result<Baseline, Error> {
    let mut baseline = Baseline::default();
    baseline.contexts.push(Context { parent: 0, name: String::new(), ranges: Ranges::default() });
    let mut section = "";
    // The contexts above the next one.
    let mut above = vec![0usize];
    for (number, text) in text.lines().enumerate().skip(first) {
        let fail = |reason: String| Error::Line { line: number + 1, reason };
        let trimmed = text.trim_start_matches(' ');
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if matches!(text, "[methods]" | "[moved]" | "[never called]" | "[contexts]" | "[unsettled]") {
            section = text;
            continue;
        }
        match section {
            "" => header(text, &mut baseline).map_err(fail)?,
            "[never called]" => _ = baseline.never.insert(text.to_owned()),
            "[unsettled]" => {
                let (key, name) = text.split_once(' ').unwrap_or((text, ""));
                let key = key.parse().map_err(|_| fail(format!("`{key}`: not the key of a context")))?;
                let settled = name.strip_suffix(SETTLED);
                baseline.unsettled.add(key, settled.unwrap_or(name), settled.is_some());
            }
            "[contexts]" if text.starts_with("levels=") => {
                let levels = text["levels=".len()..].parse();
                baseline.levels =
                    Some(levels.map_err(|_| fail(format!("`{text}`: not a number of levels")))?);
            }
            "[contexts]" => {
                let level = text.len() - trimmed.len();
                if level + 1 > above.len() {
                    return Err(fail("this context has no caller above it".into()));
                }
                above.truncate(level + 1);
                let (ranges, name) = figures(trimmed).map_err(fail)?;
                above.push(baseline.contexts.len());
                baseline.contexts.push(Context { parent: above[level], name: name.to_owned(), ranges });
            }
            _ => {
                let (ranges, name) = figures(text).map_err(fail)?;
                let (name, reason) = if section == "[moved]" { with_reason(name) } else { (name, None) };
                let method = baseline
                    .methods
                    .entry(name.to_owned())
                    .or_insert_with(|| Method { ranges: Ranges::default(), reason: None });
                for (known, range) in method.ranges.iter_mut().zip(ranges) {
                    if range != Range::default() {
                        *known = range;
                    }
                }
                method.reason = reason.or(method.reason.take());
            }
        }
    }
    Ok(baseline)
}

fn header(text: &str, baseline: &mut Baseline) -> Result<(), String> {
    if let Some(selection) = text.strip_prefix("selection=") {
        baseline.conditions.selection = selection.to_owned();
        return Ok(());
    }
    for word in text.split(' ') {
        match word.split_once('=') {
            Some(("format", FORMAT | OLDER)) => {}
            Some(("format", other)) => {
                return Err(format!("this is format {other}, and this version reads {FORMAT} only"));
            }
            Some(("runs", runs)) => {
                baseline.runs = runs.parse().map_err(|_| format!("`{word}`: not a number of runs"))?;
            }
            Some(("calls", calls)) => {
                baseline.all_calls = calls.parse().map_err(|_| format!("`{word}`: not a number of calls"))?;
            }
            Some(("record", record)) => baseline.conditions.record = record.to_owned(),
            Some(("java", java)) => baseline.conditions.java = java.replace(',', " "),
            _ => return Err(format!("`{word}` is not understood")),
        }
    }
    Ok(())
}

/// A name and the reason behind it. Both may have in them what divides them: names of Kotlin may be any text.
fn with_reason(text: &str) -> (&str, Option<Reason>) {
    let divided = text.match_indices(BECAUSE).find_map(|(at, _)| {
        let reason = Reason::parse(&text[at + BECAUSE.len()..])?;
        Some((&text[..at], Some(reason)))
    });
    divided.unwrap_or((text, None))
}

/// The figures in front of a name.
fn figures(text: &str) -> Result<(Ranges, &str), String> {
    let mut ranges = Ranges::default();
    let mut rest = text;
    while let Some((word, behind)) = rest.split_once(' ') {
        let Some((figure, value)) = word.split_once('=').and_then(|(f, v)| Some((Figure::from_word(f)?, v)))
        else {
            break;
        };
        ranges[figure as usize] = Range::parse(value).ok_or_else(|| format!("`{word}`: not a figure"))?;
        rest = behind;
    }
    if rest.is_empty() { Err("no name of a method".into()) } else { Ok((ranges, rest)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::samples::run;

    fn gate() -> GateFile {
        let runs = [12, 12, 15].map(|n| {
            run(&[
                ("a.M.main", 1, 2),
                ("a.M.main > a.O.list", 10, 0),
                ("a.M.main > a.O.list > a.P.it's a \"name\" -- of Kotlin", n, 4),
                ("a.M.main > a.O.list > a.P.it's a \"name\" -- of Kotlin > a.Q.q", 3, 0),
                ("(task of a.M.main) > a.T.run", 2, 0),
            ])
        });
        let all = ["a.Q.q()V", "a.Q.unused()V", "b.Gone.a()V", "b.Gone.b$1()V", "#17"];
        let runs = runs.map(|run| run.with_instrumented(all.into_iter()));
        let baseline = Baseline::learn(&runs, 100).unwrap();
        GateFile { baseline: Some(baseline), ..GateFile::new() }
    }

    #[test]
    fn a_gate_is_text_that_is_read_as_it_was_written() {
        let gate = gate();
        let text = gate.to_string();
        assert_eq!(GateFile::parse(&text).unwrap(), gate);
        let learned = text.split_once(DIVIDING_LINE).unwrap().1;
        assert_eq!(
            learned,
            "
format=2 runs=3 calls=31 record=tree java=17

[methods]
calls=1 allocations=2 a.M.main()V
calls=10 a.O.list()V
calls=2 a.T.run()V

[moved]
calls=12..15 allocations=3..5 a.P.it's a \"name\" -- of Kotlin()V -- unknown
calls=2..4 a.Q.q()V -- follows a.P.it's a \"name\" -- of Kotlin()V

[never called]
a.Q.unused
b.Gone.*

[contexts]
(task of a.M.main)
 calls=2 a.T.run()V
calls=1 allocations=2 a.M.main()V
 calls=10 a.O.list()V
  calls=12..15 allocations=4 a.P.it's a \"name\" -- of Kotlin()V

[unsettled]
2e0880d4c0e97a9f25465a890321b743 a.P.it's a \"name\" -- of Kotlin()V
"
        );
        // What people wrote stays as it is, and a file may have nothing else.
        let mine = "# mine\n[[budget]]\nmethod = \"a.P#*\"\ncalls = \"<= 3\"\n";
        let read = GateFile::parse(&format!("{mine}{DIVIDING_LINE}{learned}")).unwrap();
        assert_eq!((&*read.written, read.budgets.len()), (mine, 1));
        assert_eq!(read.baseline, gate.baseline);
        assert_eq!(GateFile::parse(mine).unwrap().baseline, None);
    }

    #[test]
    fn what_is_damaged_is_named_by_its_line() {
        let text = gate().to_string();
        let number = |part: &str| text.lines().position(|line| line.contains(part)).unwrap() + 1;
        for (from, to, reason) in [
            ("format=2", "format=3", "this is format 3"),
            ("calls=10 a.O", "calls=ten a.O", "`calls=ten`: not a figure"),
            (" calls=2 a.T", "   calls=2 a.T", "no caller above it"),
            ("runs=3", "runs=3 x", "`x` is not understood"),
        ] {
            let error = GateFile::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
            let line = format!("line {}: ", number(from));
            assert!(error.starts_with(&line) && error.contains(reason), "{error}");
        }
        assert!(GateFile::parse("[[budget]]\nmetod = 1\n").is_err());
    }
}
