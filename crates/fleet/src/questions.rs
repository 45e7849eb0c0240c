//! Questions to a dataset of many profiles, which DuckDB answers: the files of `crates/fleet/sql`.

use anyhow::{Context, Result, anyhow, bail};
use instrument_analysis::report::is_formula;
use instrument_messages::usage;
use instrument_names::printable::printable;
use instrument_names::word::words;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

words! {
    /// A question.
    Question {
        Xprof = "xprof": "Every method: calls, own time, and time with all that it called",
        Xtree = "xtree": "The calling context tree over all processes",
        Xarc = "xarc": "Callers and callees of every method",
        Stats = "stats": "Calls of each method: shortest, longest, average, deviation",
        Balance = "balance": "How the calls of each method ended, and whether every call is accounted for",
        Invariants = "invariants": "Equations between the figures that do not hold: none, if all is well",
        Top = "top": "The methods that took most, of each build",
        Diff = "diff": "What changed between two builds, with errors",
        Callers = "callers": "Where the callers of a method changed between two builds",
        Growth = "growth": "What one call of a caller calls more often than before (N+1)",
        Never = "never": "Methods that were there and never called",
        Latency = "latency": "How long calls took: percentiles over all processes",
        Remote = "remote": "Remote calls: who called what of whom",
        Profile = "profile": "Write all processes that are chosen as one profile (--output), for every report, the viewer and the gate",
    }
}

impl Question {
    /// The files of `crates/fleet/sql` that answer it, behind the one that opens the dataset.
    fn sql(self) -> &'static [&'static str] {
        const CONTEXTS: &str = include_str!("../sql/contexts.sql");
        const TABLES: &str = include_str!("../sql/tables.sql");
        const ARCS: &str = include_str!("../sql/xarc.sql");
        match self {
            Question::Xprof => &[include_str!("../sql/xprof.sql")],
            Question::Xtree => &[CONTEXTS, include_str!("../sql/xtree.sql")],
            Question::Xarc => &[CONTEXTS, ARCS],
            Question::Stats => &[CONTEXTS, include_str!("../sql/stats.sql")],
            Question::Balance => &[include_str!("../sql/balance.sql")],
            Question::Invariants => &[CONTEXTS, ARCS, include_str!("../sql/invariants.sql")],
            Question::Top => &[include_str!("../sql/top_methods.sql")],
            Question::Diff => &[include_str!("../sql/diff.sql")],
            Question::Callers => &[CONTEXTS, include_str!("../sql/callers_changed.sql")],
            Question::Growth => &[CONTEXTS, include_str!("../sql/n_plus_one.sql")],
            Question::Never => &[include_str!("../sql/never_called.sql")],
            Question::Latency => &[include_str!("../sql/latency.sql")],
            Question::Remote => &[TABLES, include_str!("../sql/remote_calls.sql")],
            Question::Profile => &[],
        }
    }

    /// Whether it is about two builds.
    pub fn compares(self) -> bool {
        matches!(self, Question::Diff | Question::Callers | Question::Growth)
    }
}

/// What opens the dataset.
const DATASET: &str = include_str!("../sql/dataset.sql");

/// Rows that are printed as text unless asked for otherwise.
const TOP: usize = 20;

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A table for people.
    Text,
    /// A list of rows.
    Json,
    /// A table for programs.
    Csv,
    /// Not at all: the SQL is what is wanted.
    Sql,
}

/// A question, and which processes it is about.
#[derive(Debug, Clone)]
pub struct Request {
    pub question: Question,
    /// The folder of the dataset.
    pub dataset: PathBuf,
    /// Only processes of this service.
    pub service: Option<String>,
    /// Only processes of this build.
    pub build: Option<String>,
    /// Only processes that began on this day or later.
    pub since: Option<String>,
    /// Only processes that began on this day or earlier.
    pub until: Option<String>,
    /// The build to compare with.
    pub before: Option<String>,
    /// The build to look at.
    pub after: Option<String>,
    /// Only methods whose name contains this text.
    pub method: Option<String>,
    /// Only the first rows.
    pub top: Option<u64>,
    /// What has a smaller share of the whole is cut, in percent.
    pub prune: Option<f64>,
    /// How the answer is printed.
    pub form: Form,
}

/// Has DuckDB answer a script. `program`: its command.
///
/// # Errors
/// There is no such command, or it fails.
pub fn ask(opts: &Request, script: String, program: &Path, out: impl Write) -> Result<()> {
    let mut child = start(opts, program)?;
    let mut stdin = child.stdin.take().context("duckdb has no standard input")?;
    // It reads all of it before it answers, or has failed and says why.
    let asking = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let errors = child.stderr.take().context("duckdb has no standard error")?;
    let complaining = std::thread::spawn(move || said(errors));
    let answer = child.stdout.take().context("duckdb has no standard output")?;
    let printed = print(answer, opts.form, out);
    let status = child.wait().context("waiting for duckdb")?;
    let complaint = complaining.join().map_err(|_| anyhow!("reading what duckdb says failed"))?;
    if !status.success() || !complaint.trim().is_empty() {
        bail!("{} failed ({status}): {}", program.display(), complaint.trim());
    }
    asking.join().map_err(|_| anyhow!("asking duckdb failed"))?.context("asking duckdb")?;
    printed?;
    Ok(())
}

fn start(opts: &Request, program: &Path) -> Result<std::process::Child> {
    let form = match opts.form {
        Form::Json => "-json",
        Form::Csv => "-csv",
        Form::Text | Form::Sql => "-box",
    };
    let mut duckdb = Command::new(program);
    // Nobody's own settings.
    duckdb.args(["-init", "/dev/null", "-batch", "-bail", form, ":memory:"]);
    duckdb.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    duckdb.spawn().map_err(|error| {
        let name = program.display();
        if error.kind() == io::ErrorKind::NotFound {
            return anyhow!(
                "{name}: there is no such command. Install DuckDB's command line (duckdb.org), or say where it is with --duckdb PATH; \
                 --sql prints the question for any other program that has DuckDB in it, such as Python with the package duckdb"
            );
        }
        anyhow::Error::new(error).context(format!("running {name}"))
    })
}

/// Prints an answer. Names in it come from programs: in text, control characters must not reach a terminal, and in a
/// table no formula a spreadsheet.
fn print(answer: impl Read, form: Form, mut out: impl Write) -> io::Result<()> {
    let mut answer = BufReader::new(answer);
    match form {
        Form::Csv => {
            formulas_as_text(answer, &mut out)?;
            return out.flush();
        }
        Form::Json | Form::Sql => {
            io::copy(&mut answer, &mut out)?;
            return out.flush();
        }
        Form::Text => {}
    }
    let mut line = Vec::new();
    while answer.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        writeln!(out, "{}", printable(text.trim_end_matches('\n')))?;
        line.clear();
    }
    out.flush()
}

/// Copies a CSV table. What a spreadsheet would take for a formula becomes text, as in
/// [`field`](instrument_analysis::report::field).
fn formulas_as_text(table: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let (mut field, mut is_quoted) = (Vec::new(), false);
    let mut put = |field: &mut Vec<u8>| {
        let text = field.strip_prefix(b"\"").unwrap_or(field);
        out.write_all(&field[..field.len() - text.len()])?;
        if is_formula(text.strip_suffix(b"\"").unwrap_or(text)) {
            out.write_all(b"'")?;
        }
        out.write_all(text)?;
        field.clear();
        Ok(())
    };
    for byte in table.bytes() {
        let byte = byte?;
        is_quoted ^= byte == b'"';
        if !is_quoted && matches!(byte, b',' | b'\n') {
            put(&mut field)?;
            field.push(byte);
            put(&mut field)?;
        } else {
            field.push(byte);
        }
    }
    put(&mut field)
}

/// What DuckDB says on standard error, as far as anybody would read it.
fn said(errors: impl Read) -> String {
    const MOST: u64 = 10_000;
    let mut errors = BufReader::new(errors);
    let mut text = Vec::new();
    let read = errors.by_ref().take(MOST).read_to_end(&mut text);
    // The rest, so that it is not held up.
    let rest = read.and_then(|_| io::copy(&mut errors, &mut io::sink()));
    let failed = rest.err().map(|error| format!(" ({error})")).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned() + &failed
}

/// Everything that DuckDB is asked.
///
/// # Errors
/// There is no such dataset, or the question makes no sense: wrong usage.
pub fn script(opts: &Request) -> Result<String> {
    let Request { question, before, after, .. } = opts;
    if question.compares() && (before.is_none() || after.is_none()) {
        return Err(usage("this compares two builds: say which with --before BUILD and --after BUILD"));
    }
    if !question.compares() && (before.is_some() || after.is_some()) {
        return Err(usage("--before and --after go with diff, callers and growth; --build chooses a build"));
    }
    if opts.prune.is_some_and(|share| !(0.0..=100.0).contains(&share)) {
        return Err(usage("--prune: a share of the whole is from 0 to 100 percent"));
    }
    let dataset = dataset(&opts.dataset)?;
    let is_text = opts.form == Form::Text;
    let mut script = String::new();
    let mut set = |name: &str, value: String| {
        let _ = writeln!(script, "SET VARIABLE {name} = {value};");
    };
    set("dataset", quoted(&dataset));
    for (name, value) in [
        ("service", &opts.service),
        ("build", &opts.build),
        ("before", before),
        ("after", after),
        ("pattern", &opts.method),
    ] {
        set(name, value.as_deref().map_or_else(|| "NULL::VARCHAR".into(), quoted));
    }
    for (name, day) in [("since", &opts.since), ("until", &opts.until)] {
        set(name, day.as_deref().map_or_else(|| "NULL::DATE".into(), |day| format!("DATE {}", quoted(day))));
    }
    let top = opts.top.map(|top| top.min(i64::MAX as u64)).or_else(|| is_text.then_some(TOP as u64));
    set("top", top.map_or_else(|| "NULL::BIGINT".into(), |top| top.to_string()));
    let prune = opts.prune.unwrap_or(if is_text { 0.1 } else { 0.0 }) / 100.0;
    set("prune", format!("{prune}"));
    for part in [DATASET].iter().chain(question.sql()) {
        script.push_str(part);
    }
    Ok(script)
}

/// Whether a folder is a dataset.
///
/// # Errors
/// It is none: wrong usage.
pub fn check(path: &Path) -> Result<()> {
    if path.join("processes").is_dir() {
        return Ok(());
    }
    Err(usage(format!(
        "{} is no dataset: there is no folder processes in it. `instrument export --format parquet -o DIR FILE..` writes one",
        path.display()
    )))
}

/// The folder of a dataset, as DuckDB takes it.
fn dataset(path: &Path) -> Result<String> {
    let name = path.display();
    check(path)?;
    match path.to_str() {
        Some(text) if !text.contains(['*', '?', '[', ']', '{', '}']) => Ok(text.to_owned()),
        _ => Err(usage(format!(
            "{name}: DuckDB takes a part of this path for a pattern; give the folder another name"
        ))),
    }
}

/// A string of SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A day, as datasets have it.
///
/// # Errors
/// It is no day.
pub fn day(text: &str) -> Result<String, String> {
    let is_day = humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok();
    if is_day { Ok(text.to_owned()) } else { Err("a day is written 2026-11-24".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(question: Question, dataset: &Path) -> Request {
        Request {
            question,
            dataset: dataset.to_owned(),
            service: None,
            build: None,
            since: None,
            until: None,
            before: None,
            after: None,
            method: None,
            top: None,
            prune: None,
            form: Form::Text,
        }
    }

    /// A folder that is a dataset.
    fn dataset() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("processes")).unwrap();
        folder
    }

    #[test]
    fn what_is_asked_for_stands_in_the_script() {
        let folder = dataset();
        let of = |change: fn(&mut Request)| {
            let mut request = request(Question::Xprof, folder.path());
            change(&mut request);
            script(&request).unwrap()
        };
        let text = of(|_| {});
        assert!(text.contains("top = 20;") && text.contains("prune = 0.001;"), "{text}");
        let json = of(|request| request.form = Form::Json);
        assert!(json.contains("top = NULL::BIGINT;") && json.contains("prune = 0;"), "{json}");
        let more = of(|request| {
            (request.service, request.since) = (Some("o'hara".into()), Some("2026-11-24".into()));
            (request.top, request.prune) = (Some(7), Some(100.0));
        });
        for line in ["service = 'o''hara';", "since = DATE '2026-11-24';", "top = 7;", "prune = 1;"] {
            assert!(more.contains(line), "{line} in {more}");
        }
    }

    #[test]
    fn two_builds_are_compared_and_one_is_chosen() {
        let folder = dataset();
        let is_right = |question, before: bool, after: bool| {
            let mut request = request(question, folder.path());
            request.before = before.then(|| "1".into());
            request.after = after.then(|| "2".into());
            script(&request).is_ok()
        };
        for question in [Question::Diff, Question::Callers, Question::Growth] {
            let found = [(true, true), (true, false), (false, true), (false, false)]
                .map(|(before, after)| is_right(question, before, after));
            assert_eq!(found, [true, false, false, false]);
        }
        let found = [(false, false), (true, false), (false, true), (true, true)]
            .map(|(before, after)| is_right(Question::Top, before, after));
        assert_eq!(found, [true, false, false, false]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let folder = dataset();
        let with = |prune| {
            let mut request = request(Question::Top, folder.path());
            request.prune = Some(prune);
            script(&request).is_ok()
        };
        assert_eq!([0.0, 100.0, 100.1, -0.1].map(with), [true, true, false, false]);
        let empty = tempfile::tempdir().unwrap();
        assert!(script(&request(Question::Top, empty.path())).is_err());
        let pattern = folder.path().join("a*");
        std::fs::create_dir_all(pattern.join("processes")).unwrap();
        assert!(script(&request(Question::Top, &pattern)).is_err());
        assert_eq!(["2026-11-24", "2026-13-01", "today"].map(|text| day(text).is_ok()), [true, false, false]);
    }

    #[test]
    fn numbers_in_quotes_are_no_formulas() {
        let mut out = Vec::new();
        formulas_as_text(&b"\"-3\",\"-x\""[..], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\"-3\",\"'-x\"");
    }

    #[test]
    fn a_table_has_no_formulas() {
        let table = "name,=n,delta\n=1+1,2,-3\n\"@a,b\",\"=\"\"x\"\"\",+1.5e3\r\n\"a\n=b\",-x,\n,-1";
        let mut out = Vec::new();
        super::formulas_as_text(table.as_bytes(), &mut out).unwrap();
        let expected = "name,'=n,delta\n'=1+1,2,-3\n\"'@a,b\",\"'=\"\"x\"\"\",+1.5e3\r\n\"a\n=b\",'-x,\n,-1";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
