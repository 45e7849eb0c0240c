//! Talks to `tests/java/Harness.java`: links and runs many cases in one JVM.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::machine::Jdk;

/// One set of classes that see each other, and perhaps a main class.
#[derive(Clone, Debug)]
pub struct Block {
    /// Names the block in the report; a file name.
    pub key: String,
    /// The class to run.
    pub main: Option<String>,
    /// The class files.
    pub files: Vec<PathBuf>,
}

/// How a class linked: nothing, or the error's simple name; the message is for people.
#[derive(Clone, Debug)]
pub struct Linked {
    /// `ok` or the simple name of the error.
    pub result: String,
    /// The message of the error.
    pub message: String,
    /// The type-checking verifier gave up and the old one was asked (class files of version 50 only).
    pub failed_over: bool,
}

/// How a main class ran.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Standard output.
    pub stdout: String,
    /// The exit code; 1 when an exception left `main`.
    pub exit_code: i32,
    /// The recorded events.
    pub events: String,
}

/// What one JVM reported.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// By block and class file.
    pub linked: BTreeMap<(String, PathBuf), Linked>,
    /// By block.
    pub ran: BTreeMap<String, Ran>,
}

/// Links, and with `run` also runs, the blocks in one JVM with full verification; `judge` holds the compiled harness.
///
/// # Errors
/// The JVM died, hung or did not report on everything.
pub fn run_blocks(jdk: &Jdk, judge: &Path, blocks: &[Block], run: bool) -> Result<Report> {
    let work = tempfile::tempdir()?;
    let manifest = work.path().join("manifest");
    let mut text = String::new();
    for block in blocks {
        let main = block.main.as_deref().filter(|_| run).unwrap_or("-");
        writeln!(text, "block\t{}\t{main}", block.key)?;
        for file in &block.files {
            writeln!(text, "class\t{}", file.display())?;
        }
    }
    fs::write(&manifest, text)?;
    let mut command = jdk.brief_java();
    command.args(["-Xlog:disable", "-Xlog:class+init=info:stdout:none", "-Xss1m", "-Xmx512m", "-cp"]);
    let done = command.arg(judge).arg("Harness").arg(&manifest).arg(judge).arg(work.path()).output()?;
    let stdout = String::from_utf8_lossy(&done.stdout);
    let mut report = Report::default();
    let mut failed_over = false;
    for line in stdout.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        match words[..] {
            ["@linking", ..] => failed_over = false,
            ["@linked", key, file, result, message] => {
                let linked = Linked { result: result.into(), message: message.into(), failed_over };
                report.linked.insert((key.into(), file.into()), linked);
            }
            ["@timeout", key] => bail!("{key} did not end on JDK {}", jdk.version),
            ["@ran", key, code] => {
                report.ran.insert(key.into(), ran(work.path(), key, code.parse()?)?);
            }
            _ => failed_over |= line.starts_with("Fail over class verification to old verifier"),
        }
    }
    // A program that ended the JVM itself leaves no `@ran` line; it is alone in its JVM.
    if let [block] = blocks
        && run
        && !report.ran.contains_key(&block.key)
    {
        let code = done.status.code().context("the JVM was killed")?;
        report.ran.insert(block.key.clone(), ran(work.path(), &block.key, code)?);
        return Ok(report);
    }
    let tail = || String::from_utf8_lossy(&done.stderr).lines().take(30).collect::<Vec<_>>().join("\n");
    ensure!(done.status.success(), "JDK {}: {:?}\n{}", jdk.version, done.status, tail());
    for block in blocks {
        for file in &block.files {
            let known = report.linked.contains_key(&(block.key.clone(), file.clone()));
            ensure!(known, "{}: {} was not linked\n{}", block.key, file.display(), tail());
        }
        ensure!(
            !run || block.main.is_none() || report.ran.contains_key(&block.key),
            "{} was not run",
            block.key
        );
    }
    Ok(report)
}

fn ran(folder: &Path, key: &str, exit_code: i32) -> Result<Ran> {
    let read = |suffix: &str| -> Result<String> {
        let path = folder.join(format!("{key}.{suffix}"));
        let bytes = fs::read(&path).with_context(|| format!("{key}: no {suffix}"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Ran { stdout: read("stdout")?, exit_code, events: read("events")? })
}
