//! The binary under test as the end-to-end tests use it: rewriting, its report, and the profiles of a run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::machine::{Run, root, target};

/// The binary under test: `INSTRUMENT_BIN`, or the newest build of it in the target directory.
pub fn instrument() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("INSTRUMENT_BIN") {
        let path = root().join(path);
        ensure!(path.is_file(), "INSTRUMENT_BIN: no such file: {}", path.display());
        return Ok(path);
    }
    ["release", "debug"]
        .iter()
        .map(|profile| target().join(profile).join("instrument"))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .max()
        .map(|(_, path)| path)
        .context("no instrument binary: run `cargo build --release -p instrument` or set INSTRUMENT_BIN")
}

/// A call of the binary under test. What it keeps of traces is no matter of who runs the tests.
pub fn call() -> Result<Command> {
    let mut call = Command::new(instrument()?);
    call.env("XDG_CACHE_HOME", target().join("tmp/cache"));
    Ok(call)
}

/// One line of `--report`: a class, or a method when there is a `method`.
#[derive(Clone, Debug)]
pub struct ReportLine {
    /// Entry of the jar; a method's is that of the class line before it.
    pub entry: String,
    /// Method name, empty for a line about the whole class.
    pub method: String,
    /// Method descriptor.
    pub descriptor: String,
    /// `rewritten`, `unchanged`, `excluded` or `skipped`.
    pub outcome: String,
    /// Why it was skipped, one of a closed list.
    pub reason: String,
}

/// Rewrites `input` to `output` with further `options`, and returns the report.
pub fn rewrite<O: AsRef<OsStr>>(input: &Path, output: &Path, options: &[O]) -> Result<Vec<ReportLine>> {
    let report = output.with_extension("report");
    call()?.arg(input).arg("-o").arg(output).arg("--report").arg(&report).args(options).run_quietly()?;
    ensure!(output.exists(), "no output {}", output.display());
    let text = fs::read_to_string(&report).with_context(|| report.display().to_string())?;
    let mut entry = String::new();
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| report_line(line, &mut entry)).collect()
}

fn report_line(line: &str, entry: &mut String) -> Result<ReportLine> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("--report: {line}"))?;
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_string();
    if value["method"].is_null() {
        *entry = text("entry");
    }
    Ok(ReportLine {
        entry: entry.clone(),
        method: text("method"),
        descriptor: text("descriptor"),
        outcome: text("outcome"),
        reason: text("reason"),
    })
}

/// The counts of one method in a profile.
#[derive(Clone, Debug, Default)]
pub struct MethodCounts {
    /// Class and method, as in `pkg.Class.method`.
    pub name: String,
    /// Times it was entered.
    pub entries: u64,
    /// Times it returned.
    pub exits: u64,
    /// Times an exception left it.
    pub unwinds: u64,
    /// Constructor frames that their `super()` call left by an exception.
    pub aborted: u64,
    /// Frames that events of others closed.
    pub unclosed: u64,
    /// Events without a frame.
    pub unmatched: u64,
    /// Frames that had not ended when the profile ended.
    pub open: u64,
}

/// Every method of the profiles that a run left in `directory`.
///
/// Checks the balance of exact counts: entries = exits + unwinds + aborted + unclosed + open. For an event that was being written when
/// its process was killed, open may be one ahead.
pub fn profile(directory: &Path) -> Result<Vec<MethodCounts>> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "iprof"))
        .collect();
    files.sort();
    ensure!(!files.is_empty(), "the run left no profile in {}", directory.display());
    let output = call()?.args(["report", "--json"]).args(&files).run_quietly()?;
    let mut methods = Vec::new();
    let report: Value = serde_json::from_slice(&output.stdout).context("report --json")?;
    for row in report["methods"].as_array().context("report --json: no methods")? {
        let count =
            |key: &str| row[key].as_u64().with_context(|| format!("report --json: no {key} in {row}"));
        let name = row["name"].as_str().context("report --json: a method without a name")?;
        methods.push(MethodCounts {
            name: name.split('(').next().unwrap_or_default().to_string(),
            entries: count("entries")?,
            exits: count("exits")?,
            unwinds: count("unwinds")?,
            aborted: count("aborted")?,
            unclosed: count("unclosed")?,
            unmatched: count("unmatched")?,
            open: count("open")?,
        });
    }
    ensure!(!methods.is_empty(), "the profile counts no method: {}", String::from_utf8_lossy(&output.stdout));
    let balance = &report["balance"];
    ensure!(balance["holds"] == true, "{balance}");
    let mut in_flight = balance["in_flight"].as_u64().context("report --json: no events in flight")?;
    for method in &methods {
        let ended = method.exits + method.unwinds + method.aborted + method.unclosed + method.open;
        let ahead = ended.checked_sub(method.entries).filter(|&ahead| ahead <= in_flight);
        in_flight -=
            ahead.with_context(|| format!("{method:?}: entries are not what ended and what is open"))?;
    }
    Ok(methods)
}

/// Waits until a program that runs has recorded entries of all of these; a minute at most.
pub fn wait_for_entries(directory: &Path, prefixes: &[&str]) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        // What is being written need not be whole.
        let methods = profile(directory);
        let are_there =
            |methods: &Vec<MethodCounts>| prefixes.iter().all(|prefix| entries_of(methods, prefix) > 0);
        if methods.as_ref().is_ok_and(are_there) {
            return Ok(());
        }
        ensure!(Instant::now() < end, "{prefixes:?}: {methods:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Entries of all methods whose name begins with `prefix`.
pub fn entries_of(methods: &[MethodCounts], prefix: &str) -> u64 {
    methods.iter().filter(|method| method.name.starts_with(prefix)).map(|method| method.entries).sum()
}
