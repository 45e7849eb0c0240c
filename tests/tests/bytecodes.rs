//! Executed bytecodes: what the transform counts is what a JVM counts. The judge is an agent in C that takes a JVMTI single-step
//! event for every instruction that the interpreter begins to execute.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use instrument_tests::agent::{self, Outcome};
use instrument_tests::machine::{Jdk, Run, root};
use instrument_tests::subject;
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
    fn judge(&self, classes: &Path, main: &str, arguments: &[&str]) -> Result<Counts> {
        let out = self.folder.path().join(format!("{main}.steps"));
        let library = self.folder.path().join("libjudge.so");
        let mut java = self.jdk.brief_java();
        // Two instructions that HotSpot has made one are one step.
        java.args(["-Xint", "-XX:-RewriteBytecodes", "-XX:-RewriteFrequentPairs"]);
        java.arg(format!("-agentpath:{}={}", library.display(), out.display()));
        java.arg("-cp").arg(classes).arg(main).args(arguments).run_quietly()?;
        let mut counts = Counts::new();
        for line in fs::read_to_string(&out)?.lines() {
            let [class, name, descriptor, count] = line.split('\t').collect::<Vec<_>>()[..] else {
                anyhow::bail!("the judge said {line:?}")
            };
            let class =
                class.strip_prefix('L').and_then(|class| class.strip_suffix(';')).context("a class")?;
            // Classes that the virtual machine makes up have no file.
            if classes.join(format!("{class}.class")).is_file() {
                let key = format!("{}.{name}{descriptor}", class.replace('/', "."));
                *counts.entry(key).or_default() += count.parse::<u64>()?;
            }
        }
        ensure!(!counts.is_empty(), "{main}: the judge saw nothing: {:?}", fs::read_to_string(&out)?);
        Ok(counts)
    }

    /// A run under our agent, which leaves one profile.
    fn recorded(&self, classes: &Path, main: &str, record: &str) -> Result<(Outcome, PathBuf)> {
        let option = format!("record={record},transform=method-events:thread-links:bytecodes");
        let mut java = self.jdk.brief_java();
        java.arg(agent::option(&option)?).arg("-cp").arg(classes).arg(main);
        let outcome = agent::finish(java)?;
        let profiles: Vec<PathBuf> = outcome.profile().collect();
        ensure!(profiles.len() == 1, "{main}: {}", outcome.stderr);
        Ok((outcome, profiles[0].clone()))
    }
}

/// The counts of a profile by method; the balance of its calls is checked.
fn counts(profile: &Path) -> Result<Counts> {
    let report = subject::call()?.args(["report", "--counts", "--json"]).arg(profile).run_quietly()?;
    let report: Value = serde_json::from_slice(&report.stdout)?;
    ensure!(report["balance"]["holds"] == true, "{}", report["balance"]);
    let rows = report["methods"].as_array().context("no methods")?;
    let count = |row: &Value| {
        let name = row["name"].as_str().context("a method without a name")?.to_owned();
        Ok((name, row["bytecodes"].as_u64().with_context(|| format!("no bytecodes in {row}"))?))
    };
    rows.iter().map(count).collect()
}

/// The methods on which the two differ.
fn differences(judge: &Counts, ours: &Counts) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = judge.keys().chain(ours.keys()).collect();
    let of = |counts: &Counts, name: &str| counts.get(name).copied().unwrap_or(0);
    let pairs = names.into_iter().map(|name| (name, of(judge, name), of(ours, name)));
    pairs.filter(|(_, judge, ours)| judge != ours).map(|pair| format!("{pair:?}")).collect()
}

fn check(bench: &Bench, classes: &Path, main: &str) -> Result<()> {
    let judge = bench.judge(classes, main, &[])?;
    for record in ["tree", "counts"] {
        let (_outcome, profile) = bench.recorded(classes, main, record)?;
        let ours = counts(&profile)?;
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

/// All nodes of a tree of contexts, each with the names of its callers in front of its own.
fn contexts(node: &Value, path: &str, found: &mut BTreeMap<String, Value>) {
    let path = format!("{path}/{}", node["name"].as_str().unwrap_or_default());
    for child in node["children"].as_array().into_iter().flatten() {
        contexts(child, &path, found);
    }
    found.insert(path, node["base"].clone());
}

#[test]
fn contexts_have_their_own_counts_beyond_what_an_int_holds() -> Result<()> {
    const WORK: &str = "Contexts.work(I)I";
    let bench = Bench::new()?;
    let judged = |n: &str| Ok::<u64, anyhow::Error>(bench.judge(&bench.classes(), "Contexts", &[n])?[WORK]);
    let once = judged("1")?;
    let turn = judged("2")? - once;
    let of = |n: u64| once - turn + n * turn;
    ensure!(turn > 3 && of(1_000_000_000) > u64::from(u32::MAX), "{turn} instructions a turn");

    let (_outcome, profile) = bench.recorded(&bench.classes(), "Contexts", "tree")?;
    let options =
        ["xtree", "--json", "--prune", "0", "--resource", "bytecodes", "--collapse", "threads,processes"];
    let tree = subject::call()?.args(options).arg(&profile).run_quietly()?;
    let tree: Value = serde_json::from_slice(&tree.stdout)?;
    let mut found = BTreeMap::new();
    contexts(&tree["tree"], "", &mut found);
    for (caller, n) in [("few", 10), ("many", 1_000_000_000)] {
        let ends = format!("Contexts.{caller}()I/{WORK}");
        let base = found.iter().find(|(path, _)| path.ends_with(&ends)).map(|(_, base)| &base[0]);
        assert_eq!(base, Some(&Value::from(of(n))), "{caller}: {found:?}");
    }
    // Nobody knows what the counting took.
    let report = subject::call()?.args(["report", "-v"]).arg(&profile).run_quietly()?;
    let report = String::from_utf8(report.stdout)?;
    ensure!(
        report.contains(
            "executed instructions were counted; how long that took is not known, and is in these times"
        ),
        "{report}"
    );
    Ok(())
}

/// A rewritten folder, each with a profile of its own.
#[test]
fn rewritten_programs_count_the_same_and_the_gate_judges_it() -> Result<()> {
    let bench = Bench::new()?;
    let rewritten = bench.folder.path().join("rewritten");
    let options = ["--record", "tree", "--transform", "method-events,thread-links,bytecodes"];
    subject::rewrite(&bench.classes(), &rewritten, &options)?;
    let run = |main: &str, name: &str| -> Result<PathBuf> {
        let profile = bench.folder.path().join(name);
        let mut java = bench.jdk.brief_java();
        java.arg(format!("-Dinstrument.out={}", profile.display())).arg("-cp").arg(&rewritten).arg(main);
        java.run_quietly()?;
        Ok(profile)
    };
    let judge = bench.judge(&bench.classes(), "Synchronized", &[])?;
    let first = run("Synchronized", "1.iprof")?;
    let wrong = differences(&judge, &counts(&first)?);
    ensure!(wrong.is_empty(), "method, judge, ours: {wrong:?}");

    let gate = |words: &[&str], files: &[&Path]| -> Result<(Option<i32>, String)> {
        let mut command = subject::call()?;
        let done = command.arg("gate").args(words).args(files).current_dir(bench.folder.path()).capture()?;
        let text =
            [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Ok((done.status.code(), text))
    };
    let second = run("Synchronized", "2.iprof")?;
    let learned = gate(&["learn", "-o", "app.gate"], &[&first, &second])?;
    assert_eq!(learned.0, Some(0), "{}", learned.1);
    let baseline = fs::read_to_string(bench.folder.path().join("app.gate"))?;
    let line = format!("bytecodes={} Synchronized.block(I)I", judge["Synchronized.block(I)I"]);
    ensure!(baseline.contains(&line), "no {line} in {baseline}");
    let checked = gate(&["check", "app.gate"], &[&second])?;
    assert_eq!(checked.0, Some(0), "{}", checked.1);
    // One instruction more than it may.
    let most = judge["Synchronized.block(I)I"];
    for (limit, code) in [(most, 0), (most - 1, 1)] {
        let budget = format!("[[budget]]\nmethod = 'Synchronized#block'\nbytecodes = '<= {limit}'\n");
        fs::write(bench.folder.path().join("budget.gate"), format!("{budget}{baseline}"))?;
        let checked = gate(&["check", "budget.gate"], &[&second])?;
        assert_eq!(checked.0, Some(code), "{limit}: {}", checked.1);
    }
    Ok(())
}

#[test]
fn what_cannot_be_counted_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (options, reason) in [
        (&["--transform", "bytecodes"][..], "method-events records, and it is not among the transforms"),
        (
            &["--transform", "method-events,bytecodes", "--record", "trace"],
            "a trace has no place for its counts",
        ),
    ] {
        let mut command = subject::call()?;
        command.arg(folder.path()).arg("-o").arg(folder.path().join("out")).args(options);
        let done = command.capture()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(
            done.status.code() == Some(2) && said.contains(reason),
            "{options:?}: {} {said}",
            done.status
        );
    }
    Ok(())
}
