//! The test suites of others, as packages ship them: each test that passes as it is passes with rewritten classes and under the agent. A usual run takes
//! the smallest suite, of which both ways count the same calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{Outcome, finish, option};
use instrument_tests::corpus::Corpus;
use instrument_tests::machine::{Jdk, join};
use instrument_tests::subject;

/// So many of the most called methods are compared.
const HOTTEST: usize = 20;

/// How often each test passed, and how often it did not: parameters make several of one.
type Passed = BTreeMap<String, (u32, u32)>;

struct Suite {
    tests: PathBuf,
    /// What the tests need beside the classes.
    with: Vec<PathBuf>,
    console: PathBuf,
}

impl Suite {
    /// What its tests do with these classes.
    fn run(&self, classes: &Path, flags: &[String]) -> Result<(Passed, Outcome)> {
        let reports = tempfile::tempdir()?;
        let path: Vec<&Path> =
            [classes, &self.tests].into_iter().chain(self.with.iter().map(PathBuf::as_path)).collect();
        let kit = Jdk::default_kit()?;
        let mut java: Command = if Corpus::full() { kit.java() } else { kit.brief_java() };
        java.args(flags).arg("-jar").arg(&self.console).arg("-cp").arg(join(&path));
        java.arg("--scan-classpath")
            .arg(&self.tests)
            .args(["--details=none", "--disable-banner", "--reports-dir"])
            .arg(reports.path());
        let outcome = finish(java)?;
        let mut passed = Passed::new();
        for entry in fs::read_dir(reports.path())? {
            let text = fs::read_to_string(entry?.path())?;
            note(&text, &mut passed).with_context(|| outcome.stderr.clone())?;
        }
        ensure!(!passed.is_empty(), "no tests: {}", outcome.stderr);
        Ok((passed, outcome))
    }
}

/// Reads a report in JUnit's XML.
fn note(report: &str, passed: &mut Passed) -> Result<()> {
    for case in report.split("<testcase ").skip(1) {
        let attribute = |key: &str| {
            let (_, rest) = case.split_once(&format!("{key}=\""))?;
            rest.split_once('"').map(|(value, _)| value)
        };
        let name = format!(
            "{}.{}",
            attribute(" classname").context("a class")?,
            case.strip_prefix("name=\"").and_then(|rest| rest.split('"').next()).context("a name")?
        );
        let body = case.split("</testcase>").next().unwrap_or_default();
        let count = passed.entry(name).or_default();
        match ["<failure", "<error", "<skipped"].iter().any(|end| body.contains(end)) {
            true => count.1 += 1,
            false => count.0 += 1,
        }
    }
    Ok(())
}

/// Tests that passed more often as they are.
fn worse(bare: &Passed, recorded: &Passed) -> Vec<String> {
    let passed = |name: &String| recorded.get(name).map_or(0, |count| count.0);
    bare.iter().filter(|(name, count)| passed(name) < count.0).map(|(name, _)| name.clone()).collect()
}

/// A suite: the row of its classes in the corpus, that of its tests ends with `-tests`; the package of the classes; and whether its tests do the
/// same each time.
fn pass_as_bare(name: &str, package: &str, is_steady: bool) -> Result<()> {
    let corpus = Corpus::open()?;
    let plain = corpus.path(name)?;
    let suite = Suite {
        tests: corpus.path(&format!("{name}-tests"))?,
        with: ["junit4", "hamcrest"].iter().map(|name| corpus.path(name)).collect::<Result<_>>()?,
        console: corpus.path("junit-console")?,
    };
    let folder = tempfile::tempdir()?;
    let changed = folder.path().join("changed.jar");
    subject::rewrite::<&str>(&plain, &changed, &[])?;
    let (bare, _) = suite.run(&plain, &[])?;
    let good = bare.values().filter(|count| count.0 > 0).count();
    ensure!(good > 100, "{bare:?}");
    let agent = option(&format!("include={package}.**"))?;
    let mut calls = Vec::new();
    for (way, classes, flags) in [("rewritten", &changed, vec![]), ("agent", &plain, vec![agent])] {
        let (recorded, outcome) = suite.run(classes, &flags)?;
        let mut failed = worse(&bare, &recorded);
        if !failed.is_empty() {
            // Some depend on the time, or on the order in which threads run.
            let (again, _) = suite.run(classes, &flags)?;
            let (bare, _) = suite.run(&plain, &[])?;
            let still = worse(&bare, &again);
            failed.retain(|test| still.contains(test));
        }
        ensure!(failed.is_empty(), "{way}: {failed:#?}");
        ensure!(outcome.profiles() > 0, "{way}: {}", outcome.stderr);
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for method in subject::profile(outcome.folder.path())? {
            ensure!(method.unclosed + method.unmatched == 0, "{way}: {method:?}");
            *sums.entry(method.name).or_default() += method.entries;
        }
        calls.push(sums);
    }
    println!("{name}: {good} tests pass, {} calls", calls[0].values().sum::<u64>());
    if is_steady { agree(&calls[0], &calls[1]) } else { Ok(()) }
}

#[test]
fn commons_csv() -> Result<()> {
    pass_as_bare("commons-csv", "org.apache.commons.csv", true)
}

/// Minutes each. Hash codes and random data decide what they call: two runs of one way differ as well.
macro_rules! long {
    ($name:ident, $row:literal, $package:literal) => {
        #[test]
        fn $name() -> Result<()> {
            if Corpus::full() {
                return pass_as_bare($row, $package, false);
            }
            println!("not run: {} is for the long run", $row);
            Ok(())
        }
    };
}

long!(commons_codec, "commons-codec", "org.apache.commons.codec");
long!(commons_collections, "commons-collections4", "org.apache.commons.collections4");
long!(commons_io, "commons-io", "org.apache.commons.io");
long!(commons_lang, "commons-lang3", "org.apache.commons.lang3");
long!(commons_math, "commons-math3", "org.apache.commons.math3");

/// Whether both ways count the same calls. Under the agent the tests themselves are recorded as well.
fn agree(rewritten: &BTreeMap<String, u64>, agent: &BTreeMap<String, u64>) -> Result<()> {
    let mut hottest: Vec<_> = rewritten.iter().collect();
    hottest.sort_by_key(|(_, calls)| std::cmp::Reverse(**calls));
    for (method, &calls) in hottest.into_iter().take(HOTTEST) {
        let other = agent.get(method).copied().unwrap_or_default();
        // Tests wait for each other, and make up their data at random.
        ensure!(calls.abs_diff(other) * 20 <= calls.max(other), "{method}: {calls} and {other} calls");
    }
    Ok(())
}
