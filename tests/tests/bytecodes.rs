//! Executed bytecodes: what the transform counts is what a JVM counts. The judge is an agent in C that takes a JVMTI single-step
//! event for every instruction that the interpreter begins to execute.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_tests::{agent, subject};
use serde_json::Value;
use tempfile::TempDir;

/// The classes of `tests/java/bytecodes/Programs.java` with a main.
const PROGRAMS: [&str; 20] = [
    "Loops",
    "BackToTheStart",
    "Switches",
    "Thrown",
    "NestedHandlers",
    "Finally",
    "Constructors",
    "Lambdas",
    "Recursion",
    "Synchronized",
    "LongDouble",
    "Wide",
    "MultiCatch",
    "Initialisers",
    "Interfaces",
    "Arrays2",
    "Strings",
    "ThreadsOfIts",
    "Resources",
    "Straight",
];

/// Golden cases: constructs that javac does not write. Each has a class Main.
const GOLDEN: [&str; 22] = [
    "branches-of-every-kind",
    "condy",
    "exception-caught-inside",
    "extra-new-super",
    "handler-before-range",
    "handler-over-super-49",
    "handler-reached-by-flow",
    "jsr-finally",
    "jsr-nested-wide",
    "kotlin-inlined-try",
    "loop-to-pc-0",
    "operands-under-return",
    "several-super-calls",
    "super-argument-throws",
    "super-throws",
    "switch-alignment",
    "this-call-throws",
    "tree-of-constructors",
    "try-before-super",
    "unbalanced-monitors",
    "version-45-3",
    "wide-locals",
];

/// Instructions by method.
type Counts = BTreeMap<String, u64>;

/// The judge, and the compiled programs.
struct Bench {
    folder: TempDir,
    jdk: Jdk,
}

impl Bench {
    fn new() -> Result<Bench> {
        let (folder, jdk) = (tempfile::tempdir()?, Jdk::default_kit()?.clone());
        let include = jdk.home.join("include");
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(folder.path().join("libjudge.so"));
        cc.arg("-I").arg(&include).arg("-I").arg(include.join(system));
        cc.arg(root().join("tests/c/single_step.c")).run_quietly()?;
        let classes = folder.path().join("classes");
        let mut javac = jdk.tool("javac");
        javac.arg("-d").arg(&classes).arg(root().join("tests/java/bytecodes/Programs.java")).run_quietly()?;
        Ok(Bench { folder, jdk })
    }

    fn classes(&self) -> PathBuf {
        self.folder.path().join("classes")
    }

    /// What the interpreter executes of the classes of a folder.
    fn judge(&self, classes: &Path, main: &str) -> Result<Counts> {
        let out = self.folder.path().join(format!("{main}.steps"));
        let library = self.folder.path().join("libjudge.so");
        let mut java = self.jdk.java();
        // Two instructions that HotSpot has made one are one step.
        java.args(["-Xint", "-XX:-RewriteBytecodes", "-XX:-RewriteFrequentPairs"]);
        java.arg(format!("-agentpath:{}={}", library.display(), out.display()));
        java.arg("-cp").arg(classes).arg(main).capture()?;
        let mut counts = Counts::new();
        for line in fs::read_to_string(&out)?.lines() {
            let [class, name, descriptor, count] = line.split('\t').collect::<Vec<_>>()[..] else {
                anyhow::bail!("the judge said {line:?}")
            };
            let class = class.trim_start_matches('L').trim_end_matches(';');
            // Classes that the virtual machine makes up have no file.
            if classes.join(format!("{class}.class")).is_file() {
                let key = format!("{}.{name}{descriptor}", class.replace('/', "."));
                *counts.entry(key).or_default() += count.parse::<u64>()?;
            }
        }
        ensure!(!counts.is_empty(), "{main}: the judge saw nothing");
        Ok(counts)
    }

    /// What our agent counts, in one way to record.
    fn counted(&self, classes: &Path, main: &str, record: &str) -> Result<Counts> {
        let option = format!("record={record},transform=method-events:thread-links:bytecodes");
        let mut java = self.jdk.java();
        java.arg(agent::option(&option)?).arg("-cp").arg(classes).arg(main);
        let outcome = agent::finish(java)?;
        let profiles: Vec<PathBuf> = outcome.profile().collect();
        ensure!(profiles.len() == 1, "{main}: {}", outcome.stderr);
        let report = subject::call()?.args(["report", "--counts", "--json"]).args(&profiles).run_quietly()?;
        let report: Value = serde_json::from_slice(&report.stdout)?;
        ensure!(report["balance"]["holds"] == true, "{main}: {}", report["balance"]);
        let rows = report["methods"].as_array().context("no methods")?;
        let count = |row: &Value| {
            let name = row["name"].as_str().context("a method without a name")?.to_owned();
            Ok((name, row["bytecodes"].as_u64().with_context(|| format!("no bytecodes in {row}"))?))
        };
        rows.iter().map(count).collect()
    }
}

/// The methods on which the two differ.
fn differences(judge: &Counts, ours: &Counts) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = judge.keys().chain(ours.keys()).collect();
    let of = |counts: &Counts, name: &str| counts.get(name).copied().unwrap_or(0);
    let pairs = names.into_iter().map(|name| (name, of(judge, name), of(ours, name)));
    pairs.filter(|(_, judge, ours)| judge != ours).map(|pair| format!("{pair:?}")).collect()
}

fn check(bench: &Bench, classes: &Path, main: &str) -> Result<()> {
    let judge = bench.judge(classes, main)?;
    for record in ["tree", "counts"] {
        let ours = bench.counted(classes, main, record)?;
        let wrong = differences(&judge, &ours);
        let total: u64 = judge.values().sum();
        println!("{}: {total} instructions in {} methods, {record}", classes.display(), judge.len());
        ensure!(wrong.is_empty(), "{main} with {record}: method, judge, ours:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// Checks all; every fault is told.
fn check_all<'a>(bench: &Bench, programs: impl Iterator<Item = (PathBuf, &'a str)>) {
    let faults: Vec<String> = programs
        .filter_map(|(classes, main)| Some(format!("{:#}", check(bench, &classes, main).err()?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn the_transform_counts_what_the_interpreter_executes() -> Result<()> {
    let bench = Bench::new()?;
    check_all(&bench, PROGRAMS.iter().map(|main| (bench.classes(), *main)));
    Ok(())
}

#[test]
fn so_it_does_in_code_that_javac_does_not_write() -> Result<()> {
    let bench = Bench::new()?;
    check_all(&bench, GOLDEN.iter().map(|case| (root().join("golden").join(case), "Main")));
    Ok(())
}
